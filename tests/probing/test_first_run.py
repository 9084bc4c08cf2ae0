"""A first run prints nothing of other libraries: no warnings, and no advice that is meant for programmers."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from tests.probing.scoring import seq2seq
from tests.probing.scoring.hybrid_networks import HYBRID
from tests.probing.scoring.networks import HEAD_APART, REFERENCE_CAUSAL, Build
from tests.tiny_models import build_gpt2, byte_level_bpe, save, word_piece

WRITES = {"probe": "answering", "chat": False}
CAUSAL = [{}, {"decide": True}, {"probe": "cloze"}, WRITES]
MASKED = [{}, {"probe": "cloze"}]
# The settings with which each model is run in one process, in which each library warns of a thing once.
RUNS = {
    "gpt2": CAUSAL,
    "gpt2+adapter": [{}],
    "mamba": [{}, WRITES],
    "bamba": [{}],
    "olmo": [{}],
    "deberta": MASKED,
    "t5": [{}, {"probe": "cloze"}, WRITES],
}
SCRIPT = f"""
import probing
for name, runs in {RUNS}.items():
    model = probing.load(name)
    for settings in runs:
        probing.run(model, "starter", relations=["country_continent"], sample=1, progress=False, **settings)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model of each kind."""
    gpt2 = build_gpt2(tmp_path / "gpt2")
    network = AutoModelForCausalLM.from_pretrained(gpt2)
    adapted = get_peft_model(network, LoraConfig(fan_in_fan_out=True, task_type="CAUSAL_LM"))
    adapted.save_pretrained(tmp_path / "adapter")
    seq2seq.build(tmp_path / "t5", "t5")
    networks: dict[str, Build] = {
        "mamba": REFERENCE_CAUSAL["mamba, recurrent"],
        "bamba": HYBRID["bamba"],
        "olmo": HYBRID["olmo hybrid"],
        "deberta": HEAD_APART["deberta"],
    }
    for name, build in networks.items():
        tokenizer = word_piece() if name == "deberta" else byte_level_bpe()
        save(tmp_path / name, partial(build, len(tokenizer)), tokenizer, seed=0)
    return tmp_path


@pytest.mark.slow
def test_a_first_run_prints_no_warning_of_another_library(folder: Path) -> None:
    silenced = ("PYTHONWARNINGS", "TRANSFORMERS_VERBOSITY", "TRANSFORMERS_NO_ADVISORY_WARNINGS")
    environment = {name: value for name, value in os.environ.items() if name not in silenced}
    paths = [str(Path.cwd()), *filter(None, [environment.get("PYTHONPATH")])]
    environment |= {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
