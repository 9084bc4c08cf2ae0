"""Files of curations, for each kind from the file to a folder that the site imports."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings
from transformers import BertConfig, BertForMaskedLM

from leaderboard.figures import benchmarks
from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.curation.plan_file import KINDS, checked_plan
from probing.errors import BadInput
from probing.files.folders import alone
from probing.formats import FORMATS
from probing.formats.canary import MANIFEST
from probing.runner import run
from tests.probing.command_line.helpers import printed_by, refusal
from tests.probing.curation.conftest import Serve, Source
from tests.probing.curation.countries_world import whole_world
from tests.probing.curation.world import World
from tests.tiny_models import save, word_piece

ROOT = Path(__file__).parents[3]
PLANS: dict[str, dict[str, Any]] = {
    "culture": {"pairs": ["asia-west"], "predicates": ["P36"], "at_most": 5},
    "geography": {"fact_types": ["country_capital"], "top": 10},
    "specificity": {"relations": ["P19"], "seed": 3, "at_most": 9},
    "graph": {"properties": ["P36", "P37"], "at_most": 20},
    "multiple-choice": {"properties": ["P37"], "answers": 7, "templates": {"P37": "In [X] one speaks [Y]."}},
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


def write(folder: Path, kind: str, servers: dict[str, Any] | None = None, /, **keys: Any) -> str:
    """Write the file of a plan into the folder and return its path."""
    path = folder / f"{kind}.yaml"
    endpoint = {"endpoint": servers} if servers else {}
    path.write_text(yaml.safe_dump({"kind": kind, **keys, **endpoint}, allow_unicode=True), encoding="utf-8")
    return str(path)


def curate(source: Source, kind: str, out: Path, /, **keys: Any) -> int:
    """Curate by the usual plan of a kind and more keys, in a file beside the source's answers."""
    servers = {"url": source.endpoint_url, "wikipedia": source.wikipedia_url, "interval": 0}
    path = write(source.cache_file.parent, kind, servers, **(PLANS.get(kind, {}) | keys))
    return main(["curate", path, "--out", str(out), "--cache", str(source.cache_file)])


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
@pytest.mark.parametrize("kind", PLANS)
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
    assert f"manage.py import_benchmark {KINDS[kind].format} {tmp_path / 'made'}" in captured.out
    assert json.loads((tmp_path / "made" / MANIFEST).read_text())["kind"] == kind
    check_site_and_result(KINDS[kind].format, tmp_path / "made", client, model)


@pytest.mark.slow
@pytest.mark.django_db
def test_a_curated_set_goes_to_the_site_and_a_result_in_a_further_language(
    source: Source, tmp_path: Path, settings: Settings, client: Client, capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    settings.DATA = tmp_path / "data"
    assert curate(source, "culture", tmp_path / "made") == 0
    assert curate(source, "translation", tmp_path / "spanish", source="made", languages="es") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert f"manage.py import_benchmark dlama {tmp_path / 'spanish'}" in captured.out
    content = check_site_and_result("dlama", tmp_path / "spanish", client, model)
    assert {relation.tags["language"] for relation in content.relations} == {"en", "es", "ko"}
    assert len({len(relation.items) for relation in content.relations}) == 1


@pytest.mark.parametrize("kind", PLANS)
def test_a_dry_run_prints_the_queries_and_sends_none(
    source: Source, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, kind, {"url": source.endpoint_url}, **PLANS[kind])
    printed = printed_by(capsys, "curate", path, "--dry-run")
    assert printed.startswith("# ")
    assert printed.count("SELECT DISTINCT") == printed.count("LIMIT") >= 2
    assert source.sparql.requests == []


GRAPH = {"kind": "graph", "properties": ["P36"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "kind is None. Write kind: and one of culture, geography"),
        ({"kind": "grpah"}, "kind is 'grpah'. Did you mean 'graph'?"),
        ({"kind": ["graph"]}, "kind is ['graph']"),
        (
            {"kind": "graph", "propertys": ["P36"], "at-most": 3, "colour": 1},
            "has no propertys (did you mean properties?), at-most (did you mean at_most?), colour "
            "and lacks properties. Its keys are: kind, endpoint, properties, at_most, least_sitelinks, templates.",
        ),
        (GRAPH | {"endpoint": {"adress": "x"}}, "endpoint has no adress"),
        (GRAPH | {"endpoint": "https://example.org"}, "Write endpoint: {url:"),
        (GRAPH | {"endpoint": {"interval": -1}}, "are seconds"),
        (GRAPH | {"endpoint": {"interval": float("nan")}}, "are seconds"),
        (GRAPH | {"endpoint": {"timeout": 0.5}}, "are seconds"),
        (GRAPH | {"endpoint": {"interval": "often"}}, "interval cannot be 'often'. Give it a value of type number."),
        (GRAPH | {"at_most": "5"}, "at_most cannot be '5'. Give it a value of type whole number."),
        (GRAPH | {"at_most": True}, "at_most cannot be True"),
        (GRAPH | {"properties": [36]}, "properties cannot be 36"),
        (GRAPH | {"properties": ["capital"]}, "not a property of Wikidata"),
        (GRAPH | {"templates": "[Y] governs [X]."}, "Write a table, such as templates: {P36: TEXT}"),
        (GRAPH | {"templates": {"P36": " "}}, "P36 of templates is ' '"),
        ({"kind": "culture", "pairs": "moon"}, "Choose from: arab-west"),
        ({"kind": "culture", "pairs": [{"name": "own", "cultures": ["arab", "west"]}]}, "is no pair of cultures"),
        (
            {"kind": "culture", "pairs": {"name": "own", "cultures": "arab", "languages": ["en"]}},
            "needs two cultures or more",
        ),
        (
            {"kind": "culture", "pairs": {"name": "own", "cultures": ["arab", "west"], "languages": [False]}},
            'write "no" in quotes',
        ),
        ({"kind": "culture", "sort": "fame"}, "sort cannot be 'fame'. Choose from: size, edits."),
        ({"kind": "culture", "own": ["a.toml"]}, "own is ['a.toml']. Give it a path, relative to the file."),
        ({"kind": "translation", "languages": ["fr"]}, "lacks source"),
        ({"kind": "geography", "top": 0}, "Give 1 to 5000"),
        ({"kind": "specificity", "relations": ["P36"]}, "No relation P36"),
    ],
)
def test_what_a_file_should_not_say_is_refused(content: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        checked_plan(content, tmp_path, "plan.yaml")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "Give --out DIR"),
        ({"servers": {"url": "wikidata"}}, "not a web address"),
        ({"kind": "culture", "servers": {"wikipedia": "http://localhost"}}, "no {site}"),
    ],
)
def test_a_refusal_is_one_line_and_nothing_is_written(
    keys: dict[str, Any],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLOZEBOARD_CONTACT", "ann@example.org")
    kind = keys.get("kind", "graph")
    path = write(tmp_path, kind, keys.get("servers"), **PLANS[kind])
    assert message in refusal(capsys, "curate", path, *(["--out", "x"] if keys else []))
    assert not (tmp_path / "x").exists()


def test_paths_in_a_file_are_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "tokenizer").mkdir()
    content = {"kind": "specificity", "relations": "P19", "tokenizers": ["tokenizer", "gpt2"]}
    _, plan, _ = checked_plan(content, tmp_path, "plan.yaml")
    assert plan.tokenizers == (str(tmp_path / "tokenizer"), "gpt2")
    content = {"kind": "translation", "source": "made", "languages": ["fr"], "templates": "own"}
    _, plan, _ = checked_plan(content, tmp_path, "plan.yaml")
    assert (plan.source, plan.templates) == (tmp_path / "made", tmp_path / "own")


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
    ("kind", "key", "value"),
    [
        ("culture", "predicates", "P36"),
        ("culture", "pairs", "asia-west"),
        ("geography", "fact_types", "country_capital"),
        ("specificity", "relations", "P19"),
        ("graph", "properties", "P36"),
        ("multiple-choice", "properties", "P37"),
    ],
)
def test_a_value_that_is_given_twice_counts_once(kind: str, key: str, value: str) -> None:
    once, twice = (
        checked_plan({"kind": kind, **PLANS[kind], key: values}, Path(), "plan.yaml")
        for values in (value, [value, value])
    )
    assert once == twice


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
    path = write(tmp_path, "graph", {"url": source.endpoint_url, "interval": 0}, properties="P36")
    assert main(["curate", path, "--out", str(tmp_path / "made")]) == 0
    assert (tmp_path / "data" / "curation" / "answers.sqlite").is_file()


def test_wikidata_is_not_asked_without_a_word_about_the_contact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("probing.curation.graph_triples.curate", lambda endpoint, *_: print(endpoint.cache.agent))
    files = ["--cache", str(tmp_path / "c.sqlite"), "--out", str(tmp_path / "x")]
    options = ["curate", write(tmp_path, "graph", properties="P36"), *files]
    assert main(options) == 0
    assert "block clients without a contact: give --contact" in capsys.readouterr().err
    monkeypatch.setenv("CLOZEBOARD_CONTACT", "ann@example.org")
    assert main(options) == 0
    captured = capsys.readouterr()
    assert captured.err == "" and "ann@example.org" in captured.out


def test_a_country_without_facts_is_told(source: Source, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.toml").write_text('name = "Own"\nregion = "OWN"\n[countries]\nQ17 = ["ja"]\nQ99999 = []\n')
    pair = {"name": "own", "cultures": ["own.toml", "west"], "languages": "en"}
    assert curate(source, "culture", tmp_path / "x", pairs=pair) == 0
    assert "No facts were found for Q99999 in OWN" in capsys.readouterr().out


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
    assert curate(serve(world), "culture", tmp_path / "made", own="own.toml", predicates=["P140"]) == 0
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
    pair = {"name": "nordic-arab", "cultures": ["nordic.toml", "arab"], "languages": ["ar", "en"]}
    plan = write(tmp_path, "culture", pairs=[pair], predicates=["P36"])
    printed = printed_by(capsys, "curate", plan, "--dry-run")
    assert "VALUES ?subject { wd:Q20 }" in printed
    assert "<https://no.wikipedia.org/>, <https://en.wikipedia.org/>" in printed


def test_the_plans_of_the_guide_can_be_read(tmp_path: Path) -> None:
    """The tables of the guide are the files that its plans name."""
    text = (ROOT / "docs" / "curation.md").read_text(encoding="utf-8")
    plans, (nordic, religion, _, deaths) = (
        re.findall(rf"^```{form}\n(.*?)^```", text, re.MULTILINE | re.DOTALL) for form in ("yaml", "toml")
    )
    for name, table in (("nordic", nordic), ("french", religion), ("deaths", deaths)):
        (tmp_path / f"{name}.toml").write_text(table, encoding="utf-8")
    pair = {"name": "two", "cultures": ["arab", "west"], "languages": ["en", "es"]}
    more = [{"kind": "specificity", "own": "deaths.toml"}, {"kind": "culture", "own": "french.toml", "pairs": pair}]
    read = [checked_plan(plan, tmp_path, "plan.yaml") for plan in [*map(yaml.safe_load, plans), *more]]
    owns = [list(plan.own) for _, plan, _ in read if getattr(plan, "own", None)]
    assert (len(read), owns) == (5, [["P140"], ["P20"], ["P140"]])


def test_the_guide_explains_every_key() -> None:
    text = (ROOT / "docs" / "curation.md").read_text(encoding="utf-8")
    keys = {(entry.name, name) for name, kind in KINDS.items() for entry in fields(kind.plan)}
    rows = re.findall(r"^\| (`[^|]*) \| ([^|]*) \|", text, re.MULTILINE)
    explained = {
        (key, kind) for names, kinds in rows for key in re.findall(r"`(\w+)`", names) for kind in kinds.split(", ")
    }
    assert keys <= explained
