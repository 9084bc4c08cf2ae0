"""Formats of LAMA's family fill templates verbatim; the rule is part of the version, and old versions keep theirs."""

from pathlib import Path

import pytest

from probing.benchmark import Benchmark, Relation
from probing.catalog import open_benchmark
from probing.formats import bear, dlama, lama, stest
from probing.formats.reading import digest
from probing.probes.cloze import beginning
from probing.runner import run
from probing.statements.prompting import PROMPTINGS
from probing.template import prompt, upper_first
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.formats import test_lama, test_stest
from tests.probing.formats.dlama_folder import DlamaFolder, fact
from tests.real_data import real_data

LOWER = "rue Jean-Ferrandi"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    folder = test_stest.Folder(tmp_path / "pairs")
    folder.lists["P19"][0] |= {"sub_label": LOWER, "sub_uri": "Q1"}
    return folder.write()


@pytest.fixture
def culture(tmp_path: Path) -> Path:
    folder = DlamaFolder(tmp_path / "culture")
    folder.templates["en"][0]["template"] = "[X] lies in [Y]."
    folder.facts = {"arab-west/dlama/en/P37_general_ARAB_REGION.jsonl": [fact(1, LOWER, {"Q2": "there", "Q3": "far"})]}
    return folder.write()


def statements(benchmark: Benchmark, probe: str) -> list[str]:
    rows = run(FakeModel(), benchmark, probe=probe, progress=False).items
    return [text for text in rows["statement"] if "Ferrandi" in text]


@pytest.mark.parametrize("probe", ["specificity", "multiple_choice", "similarity"])
def test_prompts_of_pairs_keep_their_first_letter(pairs: Path, probe: str) -> None:
    (text,) = statements(stest.read(pairs), probe)
    assert text.startswith(f"{LOWER} was born in ")


@pytest.mark.parametrize("prompting", PROMPTINGS)
def test_every_prompting_keeps_the_first_letter(pairs: Path, prompting: str) -> None:
    relation = stest.read(pairs)["P19"]
    first = next(iter(PROMPTINGS[prompting](relation, 0, 1, 0)))  # type: ignore[index]
    assert first.prompt.verbatim
    assert first.bare.verbatim


def test_prompts_of_culture_pairs_keep_their_first_letter(culture: Path) -> None:
    (text,) = statements(dlama.read(culture), "ranking")
    assert text.startswith(f"{LOWER} lies in ")


def test_prompts_of_lama_keep_their_first_letter(tmp_path: Path) -> None:
    folder = test_lama.write(tmp_path, [{"relation": "P36", "template": "[Y] is the capital of [X] ."}])
    (relation,) = lama.read(folder).relations
    assert (
        prompt(relation.templates[0], "Norway", relation.verbatim).fill("oslo").text
        == "oslo is the capital of Norway ."
    )


def test_the_beginning_that_a_generator_continues_keeps_its_first_letter() -> None:
    assert beginning(prompt("[X] lies in [Y].", LOWER, verbatim=True)) == f"{LOWER} lies in"
    assert beginning(prompt("[X] lies in [Y].", LOWER)) == "Rue Jean-Ferrandi lies in"


def test_a_run_says_by_which_rule_its_prompts_were_made(pairs: Path, bear_folder: BearFolder) -> None:
    rules = {
        benchmark.slug: run(FakeModel(), benchmark, progress=False).record["benchmark"]["first_letters"]
        for benchmark in (stest.read(pairs), bear.read(bear_folder.write()))
    }
    assert rules == {"pairs": "verbatim", bear_folder.path.name.lower(): "upper case"}


def test_the_rule_makes_a_version_of_its_own(pairs: Path) -> None:
    benchmark = stest.read(pairs)
    assert benchmark.digest != digest(benchmark.files)
    assert benchmark.version == benchmark.digest[:12]


@pytest.mark.parametrize(
    ("slug", "verbatim"), [("pairs", True), ("culture", True), ("starter", False), ("geography", False)]
)
def test_benchmarks_that_ship_follow_the_rule_of_their_format(slug: str, verbatim: bool) -> None:
    assert {relation.verbatim for relation in open_benchmark(slug).relations} == {verbatim}


def touched(relation: Relation) -> int:
    """Return of how many prompts an upper-case first letter would make another prompt."""
    prompts = [(prompt(relation.templates[0], item.subject), item) for item in relation.items]
    starts = [(text.pieces[0], *(() if text.pieces[0] else relation.options_of(item))) for text, item in prompts]
    return sum(any(text != upper_first(text) for text in texts) for texts in starts)


def test_one_in_eight_prompts_of_the_real_pairs_would_be_another_with_an_upper_case_letter() -> None:
    relations = stest.read(real_data("stest")).relations
    assert {relation.id: touched(relation) for relation in relations} == {
        "P19": 0,
        "P106": 1,
        "P131": 151,
        "P279": 1966,
        "P361": 450,
    }
