"""Tests of `python -m probing curate`, for each kind from its options to a folder that the site imports."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings
from transformers import BertConfig, BertForMaskedLM

from leaderboard.figures import benchmarks
from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.curation.command import add_plan_options, plan_from
from probing.curation.facts import MANIFEST, option
from probing.errors import BadInput
from probing.files.folders import alone
from probing.formats import FORMATS
from probing.runner import run
from tests.probing.command_line.helpers import printed_by
from tests.probing.curation.conftest import Serve, Source, contents
from tests.probing.curation.countries_world import whole_world
from tests.probing.curation.world import World
from tests.tiny_models import save, word_piece

KINDS = {
    "culture": ("dlama", ["--pair", "asia-west", "--predicate", "P36", "--at-most", "5"]),
    "geography": ("geography", ["--fact-type", "country_capital", "--top", "10"]),
    "specificity": ("stest", ["--relation", "P19", "--seed", "3", "--at-most", "9"]),
    "graph": ("knowledge_graph", ["--property", "P36", "P37", "--at-most", "20"]),
    "multiple-choice": ("bear", ["--property", "P37", "--answers", "7", "--template", "P37=In [X] one speaks [Y]."]),
}


@pytest.fixture(scope="module")
def world() -> World:
    """Return a world in which countries are places, and names of capitals and countries are one token."""
    world = whole_world()
    capitals = {claim.value: claim.subject for claim in world.claims if claim.property == "P36" and not claim.end}
    for number, (capital, country) in enumerate(capitals.items()):
        world.claim(country, "P31", "Q6256")
        world.labels[capital]["en"], world.labels[country]["en"] = f"K{number}", f"L{number}"
    return world


@pytest.fixture(scope="module")
def model(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tiny model whose vocabulary has the words of the world."""
    tokenizer = word_piece([labels["en"] for labels in world.labels.values() if labels] + ["The is of [X].?"])
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1
    )
    return save(tmp_path_factory.mktemp("model"), lambda: BertForMaskedLM(config), tokenizer, seed=0)


@pytest.fixture
def source(serve: Serve, world: World) -> Source:
    return serve(world)


def curate(source: Source, kind: str, out: Path, *more: str) -> int:
    wikipedia = ["--wikipedia", source.wikipedia_url] if kind == "culture" else []
    return main(["curate", kind, *KINDS[kind][1], *servers(source), "--out", str(out), *wikipedia, *more])


def servers(source: Source) -> list[str]:
    return ["--endpoint", source.endpoint_url, "--interval", "0", "--cache", str(source.cache_file)]


def check_site_and_result(format: str, folder: Path, client: Client, model: Path) -> Benchmark:
    """Check that the site imports the folder and shows it, and that a model has figures on it."""
    call_command("import_benchmark", format, folder)
    content = benchmarks.read(benchmarks.current(folder.name))
    assert content.size > 0
    page = client.get(f"/benchmarks/{folder.name}/")
    assert page.status_code == 200
    assert f"/benchmarks/{folder.name}/relations/{content.relations[0].id}/" in page.content.decode()
    result = run(str(model), content, progress=False)
    assert result.record["items_done"] > 0
    assert result.scores[result.scores["metric"] != "chance"]["value"].notna().any()
    return content


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_goes_from_the_endpoint_to_the_site_and_a_result(
    source: Source,
    tmp_path: Path,
    settings: Settings,
    client: Client,
    capsys: pytest.CaptureFixture[str],
    model: Path,
    kind: str,
) -> None:
    settings.DATA = tmp_path / "data"
    assert curate(source, kind, tmp_path / "made") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert f"manage.py import_benchmark {KINDS[kind][0]} {tmp_path / 'made'}" in captured.out
    assert json.loads((tmp_path / "made" / MANIFEST).read_text())["command"] == f"python -m probing curate {kind}"
    check_site_and_result(KINDS[kind][0], tmp_path / "made", client, model)


@pytest.mark.slow
@pytest.mark.django_db
def test_a_curated_set_goes_to_the_site_and_a_result_in_a_further_language(
    source: Source, tmp_path: Path, settings: Settings, client: Client, capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    settings.DATA = tmp_path / "data"
    assert curate(source, "culture", tmp_path / "made") == 0
    options = ["--source", str(tmp_path / "made"), "--language", "es", "--out", str(tmp_path / "spanish")]
    assert main(["curate", "translate", *options, *servers(source)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert f"manage.py import_benchmark dlama {tmp_path / 'spanish'}" in captured.out
    content = check_site_and_result("dlama", tmp_path / "spanish", client, model)
    assert {relation.tags["language"] for relation in content.relations} == {"en", "es", "ko"}
    assert len({len(relation.items) for relation in content.relations}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_queries_can_be_printed_and_not_sent(source: Source, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed = printed_by(capsys, "curate", kind, *KINDS[kind][1], "--endpoint", source.endpoint_url, "--print-query")
    assert printed.startswith("# ")
    assert printed.count("SELECT DISTINCT") == printed.count("LIMIT") >= 2
    assert source.sparql.requests == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["graph", "--property", "P36"], "Give --out DIR"),
        (["graph", "--property", "capital", "--out", "x"], "not a property of Wikidata"),
        (["graph", "--property", "P36", "--out", "x", "--template", "P36"], "P36=TEXT"),
        (["graph", "--property", "P36", "--out", "x", "--interval", "-1"], "are seconds"),
        (["graph", "--property", "P36", "--out", "x", "--interval", "nan"], "are seconds"),
        (["graph", "--property", "P36", "--out", "x", "--timeout", "inf"], "are seconds"),
        (["graph", "--property", "P36", "--out", "x", "--timeout", "0.5"], "are seconds"),
        (["graph", "--property", "P36", "--out", "x", "--endpoint", "wikidata"], "not a web address"),
        (["culture", "--pair", "moon", "--out", "x"], "Choose from: arab-west"),
        (["culture", "--culture", "arab", "west", "--out", "x"], "needs a language"),
        (["culture", "--culture", "arab", "--languages", "en", "--print-query"], "two cultures"),
        (["culture", "--pair", "arab-west", "--out", "x", "--wikipedia", "http://localhost"], "no {site}"),
        (["geography", "--top", "0", "--out", "x"], "Give 1 to 5000"),
        (["specificity", "--relation", "P36", "--out", "x"], "No relation P36"),
    ],
)
def test_bad_options_are_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLOZEBOARD_CONTACT", "ann@example.org")
    assert main(["curate", *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert not (tmp_path / "x").exists()


def test_nothing_that_is_there_is_overwritten_nor_what_another_process_writes(
    source: Source, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with alone(tmp_path / "made"):
        assert curate(source, "graph", tmp_path / "made") == 2
    assert "Another process is writing" in capsys.readouterr().err
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "mine").touch()
    assert curate(source, "graph", tmp_path / "made") == 2
    assert "exists already" in capsys.readouterr().err
    assert source.sparql.requests == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        ("culture", "--predicate", "P36"),
        ("culture", "--pair", "asia-west"),
        ("geography", "--fact-type", "country_capital"),
        ("specificity", "--relation", "P19"),
        ("graph", "--property", "P36"),
        ("multiple-choice", "--property", "P37"),
    ],
)
def test_a_value_that_is_given_twice_counts_once(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, option: str, value: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for folder, values in (("once", [value]), ("twice", [value, value])):
        assert curate(source, kind, tmp_path / folder, option, *values) == 0
    assert contents(tmp_path / "once") == contents(tmp_path / "twice")


def test_the_current_folder_can_be_filled_if_it_is_empty(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "made").mkdir()
    monkeypatch.chdir(tmp_path / "made")
    assert curate(source, "graph", Path(".")) == 0, capsys.readouterr().err
    assert (tmp_path / "made" / MANIFEST).is_file()


def test_answers_are_stored_in_the_data_folder_by_default(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATA", str(tmp_path / "data"))
    options = ["--endpoint", source.endpoint_url, "--interval", "0", "--out", str(tmp_path / "made")]
    assert main(["curate", "graph", "--property", "P36", *options]) == 0
    assert (tmp_path / "data" / "curation" / "answers.sqlite").is_file()


def test_wikidata_is_not_asked_without_a_word_about_the_contact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("probing.curation.graph_triples.curate", lambda endpoint, *_: print(endpoint.cache.agent))
    files = ["--cache", str(tmp_path / "c.sqlite"), "--out", str(tmp_path / "x")]
    options = ["curate", "graph", "--property", "P36", *files]
    assert main(options) == 0
    assert "block clients without a contact: give --contact" in capsys.readouterr().err
    monkeypatch.setenv("CLOZEBOARD_CONTACT", "ann@example.org")
    assert main(options) == 0
    captured = capsys.readouterr()
    assert captured.err == "" and "ann@example.org" in captured.out


def test_a_country_without_facts_is_told(source: Source, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.toml").write_text('name = "Own"\nregion = "OWN"\n[countries]\nQ17 = ["ja"]\nQ99999 = []\n')
    options = ["--culture", str(tmp_path / "own.toml"), "west", "--languages", "en"]
    own = ["--predicate", "P36", *options]
    places = ["--wikipedia", source.wikipedia_url, "--out", str(tmp_path / "x")]
    printed = printed_by(capsys, "curate", "culture", *own, *servers(source), *places)
    assert "No facts were found for Q99999 in OWN" in printed


RELIGION = """
[P140]
name = "religion"
subject = "person"
object = "religion"
object_is = { Q9174 = "religion" }

[P140.templates]
en = "[X] is an adherent of [Y]."
ko = "[X]의 종교는 [Y]입니다."

[P140.questions]
en = "Which religion does [X] profess?"
"""


def test_a_new_predicate_comes_from_a_file_and_reaches_a_result(serve: Serve, tmp_path: Path, model: Path) -> None:
    world = whole_world()
    people = [claim.subject for claim in world.claims if claim.property == "P106"]
    world.item("P140", "religion")
    for number, name in ((1, "faith"), (2, "creed")):
        world.item(f"Q{700 + number}", name)
        world.claim(f"Q{700 + number}", "P31", "Q9174")
    world.item("Q703", "club")  # no religion, so that it is no object
    for number, person in enumerate(sorted(set(people))):
        world.claim(person, "P140", f"Q{701 + number % 3}")
    (tmp_path / "own.toml").write_text(RELIGION, encoding="utf-8")
    own = ["--pair", "asia-west", "--predicate-file", str(tmp_path / "own.toml"), "--predicate", "P140"]
    assert curate(serve(world), "culture", tmp_path / "made", *own) == 0
    benchmark = FORMATS["dlama"](tmp_path / "made")
    assert {relation.label for relation in benchmark.relations} == {"P140"}
    english = next(relation for relation in benchmark.relations if relation.id == "P140.asia-west.en")
    assert english.templates == ("[X] is an adherent of [Y].",)
    assert english.questions == ("Which religion does [X] profess?",)
    assert english.answer_space == ("creed", "faith")
    settings = json.loads((tmp_path / "made" / MANIFEST).read_text())["settings"]
    assert settings["own_predicates"]["P140"]["templates"]["en"] == "[X] is an adherent of [Y]."
    assert run(str(model), benchmark, progress=False).record["items_done"] == benchmark.size / 2 > 0  # augmented


def test_a_new_culture_comes_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nordic.toml"
    path.write_text('name = "Nordic"\nregion = "NORDIC"\n[countries]\nQ20 = ["no"]\n')
    options = ["--culture", str(path), "arab", "--name", "nordic-arab", "--languages", "ar", "en", "--predicate", "P36"]
    printed = printed_by(capsys, "curate", "culture", *options, "--print-query")
    assert "VALUES ?subject { wd:Q20 }" in printed
    assert "<https://no.wikipedia.org/>, <https://en.wikipedia.org/>" in printed


@dataclass(frozen=True)
class ExamplePlan:
    source: str
    colours: tuple[str, ...] = field(metadata=option("colours", flag="--colour", metavar="NAME"))
    at_most: int = field(default=5, metadata=option("the most items"))
    order: Literal["up", "down"] = field(default="up", metadata=option("the order"))
    folder: Path | None = field(default=None, metadata=option("a folder", metavar="DIR"))
    texts: Mapping[str, Sequence[str]] = field(
        default_factory=dict, metadata=option("texts", flag="--text", metavar="ID=TEXT")
    )


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="example")
    add_plan_options(parser, ExamplePlan)
    return parser


def plan(parser: argparse.ArgumentParser, *arguments: str) -> ExamplePlan:
    return plan_from(parser.parse_args(arguments), ExamplePlan, source="test")


def test_options_have_the_defaults_and_the_types_of_the_fields(parser: argparse.ArgumentParser) -> None:
    assert plan(parser, "--colour", "red") == ExamplePlan("test", ("red",))
    arguments = ["--colour", "red", "blue", "--at-most", "7", "--order", "down", "--folder", "here"]
    texts = ["--text", "P36=one", "--text", "P36=two = 2", "--text", "P1= three "]
    assert plan(parser, *arguments, *texts) == ExamplePlan(
        "test", ("red", "blue"), 7, "down", Path("here"), {"P36": ["one", "two = 2"], "P1": ["three"]}
    )


def test_a_field_without_a_default_is_required(
    parser: argparse.ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser.parse_args([])
    assert "required: --colour" in capsys.readouterr().err


def test_the_help_names_the_defaults_of_numbers_and_texts(parser: argparse.ArgumentParser) -> None:
    text = parser.format_help()
    assert "--at-most N" in text
    assert "the most items; default: 5" in text
    assert "the order; default: up" in text
    assert "default: ()" not in text
    assert "None" not in text
    assert "source" not in text


@pytest.mark.parametrize("text", ["P36", "P36= "])
def test_an_id_without_a_text_is_refused(parser: argparse.ArgumentParser, text: str) -> None:
    with pytest.raises(BadInput, match="P36=TEXT"):
        plan(parser, "--colour", "red", "--text", text)
