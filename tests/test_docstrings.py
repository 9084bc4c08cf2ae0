"""The examples in the docstrings of public names and in guides run, on tiny models."""

import doctest
import inspect
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from huggingface_hub import constants
from transformers import AutoModelForCausalLM, AutoTokenizer

import probing
from probing.__main__ import parser
from tests.hub.local_hub import serve
from tests.probing.monitor.helpers import trainer_of
from tests.tiny_models import build_gpt2, classifier, metaspace_unigram, save, text_to_text, word_piece

ROOT = Path(__file__).parents[1]
GUIDES = ("README.md", "docs/start.md", "docs/models.md")
# What stands in guides, and less that serves here.
SMALLER = {
    '"bear"': '"starter"',
    "seconds=20": "seconds=1",
    "sample=5": "relations=['country_capital'], progress=False",
}
PUBLIC = {name: getattr(probing, name) for name in probing.__all__ if name != "monitor"}
PUBLIC |= {name: getattr(probing.monitor, name) for name in probing.monitor.__all__}
EXAMPLES = {
    test.name: test
    for name, value in PUBLIC.items()
    for test in doctest.DocTestFinder().find(value, name, globs={})
    if test.examples
}
ANSWERS = {"relations": ["country_capital", "river_continent"], "sample": 4, "progress": False, "device": "cpu"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which the examples run: what they name lies in it, and models of the hub are tiny ones."""
    folder = tmp_path_factory.mktemp("examples")
    large, small = build_gpt2(folder / "large"), build_gpt2(folder / "small", seed=3)
    for step in (0, 500):
        build_gpt2(folder / "training" / f"checkpoint-{step}", seed=step)
    copytree(ROOT / "fixtures" / "graph", folder / "mygraph")
    tokenizer = metaspace_unigram()
    save(folder / "grammar-model", lambda: text_to_text(len(tokenizer)), tokenizer, seed=0)
    save(folder / "judge-model", lambda: classifier({0: "unacceptable", 1: "acceptable"}), word_piece(), seed=0)
    probing.run(large, "starter", **ANSWERS, out=folder / "results")
    probing.run(small, "starter", **ANSWERS, out=folder / "other-results")
    with serve() as hub, pytest.MonkeyPatch.context() as patch:
        hub.add("openai-community/gpt2", large)
        hub.add("distilbert/distilgpt2", small)
        patch.setenv("HF_ENDPOINT", hub.url)
        patch.setattr(constants, "HF_HUB_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        yield folder


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_runs(name: str, folder: Path, tmp_path: Path) -> None:
    network, tokenizer = (kind.from_pretrained(folder / "large") for kind in (AutoModelForCausalLM, AutoTokenizer))
    names: dict[str, Any] = {"network": network, "tokenizer": tokenizer}
    if "trainer." in EXAMPLES[name].docstring:
        names["trainer"] = trainer_of(folder / "large", tmp_path)
    EXAMPLES[name].globs.update(names)
    outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(EXAMPLES[name])
    assert outcome.failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES)
def test_the_examples_of_a_guide_run(guide: str, folder: Path) -> None:
    text = (ROOT / guide).read_text(encoding="utf-8")
    network, tokenizer = (kind.from_pretrained(folder / "large") for kind in (AutoModelForCausalLM, AutoTokenizer))
    names: dict[str, Any] = {"network": network, "tokenizer": tokenizer}
    examples = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert examples
    for example in examples:
        for old, new in SMALLER.items():
            example = example.replace(old, new)
        exec(example, names)


def is_taken(command: str) -> bool:
    """Whether the command line takes this command with its arguments, or else ends with a usage."""
    try:
        return callable(parser().parse_args(shlex.split(command)).command)
    except SystemExit:
        return False


def test_the_commands_of_guides_are_taken() -> None:
    refused = []
    for guide in GUIDES:
        text = (ROOT / guide).read_text(encoding="utf-8")
        commands = re.findall(r"^clozeboard (.*?)(?:  +#.*)?$", text, re.MULTILINE)
        assert commands, guide
        refused += [(guide, command) for command in commands if not is_taken(command)]
    assert refused == []


def test_the_first_page_names_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    text = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", text, re.MULTILINE)
    assert set(re.findall(r"\w+", " ".join(rows))) == extras.keys() - {"dev"}


def test_every_public_name_is_explained() -> None:
    assert [name for name, value in PUBLIC.items() if len(inspect.getdoc(value) or "") <= 80] == []


def test_every_public_name_has_an_example() -> None:
    shown = {name.partition(".")[0] for name in EXAMPLES}
    assert PUBLIC.keys() - shown == {"Measurement"}  # which the example of Monitor shows
