"""Bad arguments of `run`: each is answered by one clear sentence, before torch is imported where that is possible."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import probing
from probing.benchmark import Benchmark
from probing.errors import BadInput
from tests.fakes import FakeModel

ROOT = Path(__file__).parents[2]
# The arguments that replace good ones, and the sentence that answers them.
TRIED: list[tuple[dict[str, Any], str]] = [
    ({"limit": "3"}, "limit cannot be '3'. Give it a value of type whole number."),
    ({"limit": -3}, "A limit of -3 leaves no items. Give a limit of 1 or more."),
    ({"sample": 0}, "A sample of 0 leaves no items. Give a sample of 1 or more."),
    ({"sample": 2.5}, "sample cannot be 2.5. Give it a value of type whole number."),
    ({"templates": None}, "templates cannot be None. Give it a value of type whole number."),
    ({"templates": True}, "templates cannot be True. Give it a value of type whole number."),
    ({"templates": ["0"]}, "templates cannot be '0'. Give it a value of type whole number."),
    ({"seed": "a"}, "seed cannot be 'a'. Give it a value of type whole number."),
    ({"relations": 30}, "relations cannot be 30. Give it a value of type text."),
    ({"pll": "best"}, "pll cannot be 'best'. Choose from: within_word_l2r, original"),
    ({"decide": "yes"}, "decide cannot be 'yes'. Give it a value of type true or false."),
    ({"quantization": "2bit"}, "quantization cannot be '2bit'. Choose from: none, 4bit, 8bit."),
    ({"torch_dtype": "torch.float8"}, "dtype cannot be 'float8'."),
    ({"dtype": "float8"}, "dtype cannot be 'float8'. Choose from: float32, bfloat16, float16, auto."),
    ({"probe": "guess"}, "No probe is called 'guess'"),
    ({"unknown": 1}, "no setting 'unknown', and the probe multiple_choice has no option 'unknown'. Settings: "),
    ({"benchmark": None}, "None is no benchmark. Give a folder or one of: "),
    ({"benchmark": 3}, "3 is no benchmark. Give a folder or one of: "),
    ({"benchmark": "no-such"}, "no-such is neither a folder nor a known benchmark."),
    ({"model": None}, "None is no model. Give a hub id, a folder, a GGUF file, or a network"),
    ({"model": 7}, "7 is no model. Give a hub id, a folder, a GGUF file, or a network"),
    ({"model": ["gpt2", "bert-base-cased"]}, "['gpt2', 'bert-base-cased'] is no model."),
    ({"tokenizer": "gpt2"}, "This model has its own tokenizer. Leave tokenizer out"),
    ({"commit": 7}, "commit cannot be 7. Give it as text."),
    ({"device": 0}, "device cannot be 0. Give it as text, such as cuda:0."),
    ({"device": "cuda:0,cuda:1"}, "A model is measured on one device, not on cuda:0,cuda:1. Name one;"),
    ({"device": "cpu", "device_map": "auto"}, "device and device_map both say where the model goes."),
    ({"batch_tokens": "many"}, "Batches cannot hold 'many' tokens. Give a whole number, 1 or more."),
    ({"batch_tokens": 0}, "Batches cannot hold 0 tokens. Give a whole number, 1 or more."),
    ({"out": 5}, "5 is no folder. Give the path of the folder to write"),
]


@pytest.mark.parametrize(("arguments", "sentence"), TRIED, ids=lambda value: str(value)[:40])
def test_a_bad_argument_is_answered_by_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput) as raised:
        probing.run(**{"model": "org/never-loaded", "benchmark": "starter", "progress": False} | arguments)
    assert sentence in str(raised.value)


def test_bad_arguments_are_answered_before_torch_is_imported() -> None:
    """All of them in one fresh Python, because the imports that are left take a second."""
    tried = [arguments for arguments, _ in TRIED]
    code = f"""
import json, sys, probing
from probing.errors import BadInput
for arguments in json.loads({json.dumps(json.dumps(tried))}):
    try:
        probing.run(**{{"model": "org/never-loaded", "benchmark": "starter", "progress": False}} | arguments)
    except BadInput:
        assert "torch" not in sys.modules, arguments
    else:
        sys.exit(f"accepted: {{arguments}}")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_command_answers_bad_arguments_before_torch_is_imported(tmp_path: Path) -> None:
    start = ["run", "org/never-loaded", "--benchmark", "starter", "--out", str(tmp_path / "out")]
    bad = [["--limit", "-3"], ["--limit", "-3", "--start", "bos,eos"], ["--set", "chat=maybe"]]
    code = f"""
import sys
from probing.__main__ import main
codes = [main({start} + words) for words in {bad}]
sys.exit("torch was imported" if "torch" in sys.modules else str(codes))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    *errors, codes = done.stderr.splitlines()
    assert codes == "[2, 2, 2]", done.stderr
    assert len(errors) == 3 and all(error.startswith("error: ") for error in errors)


LOADED_ONLY = (
    "commit, device, device_map and attn_implementation are for models that are loaded by the run; "
    "this one is in memory."
)
IN_MEMORY: list[tuple[dict[str, Any], str]] = [
    ({"device": "cuda"}, LOADED_ONLY),
    ({"device_map": "auto"}, LOADED_ONLY),
    ({"attn_implementation": "eager"}, LOADED_ONLY),
    ({"quantization": "4bit"}, "fake/hash is in memory, and this run does not quantise its weights."),
    ({"commit": "abc"}, LOADED_ONLY),
    ({"dtype": "bfloat16"}, "fake/hash is in memory with weights of type float32, not bfloat16."),
    ({"pll": "original"}, "fake/hash is a causal model, which hides no tokens: pll does nothing. Leave pll out."),
    ({"tokenizer": "gpt2"}, "This model has its own tokenizer."),
]


@pytest.mark.parametrize(("arguments", "sentence"), IN_MEMORY, ids=str)
def test_arguments_that_do_nothing_for_a_model_in_memory_are_refused(
    benchmark: Benchmark, model: FakeModel, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadInput) as raised:
        probing.run(model, benchmark, progress=False, **arguments)
    assert sentence in str(raised.value)
