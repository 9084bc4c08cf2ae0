"""Tests of sets of culture facts that are carried over to further languages by labels and templates."""

import json
from functools import partial
from pathlib import Path

import pytest

from probing.curation.predicates import read_predicates
from probing.curation.translation import TranslationPlan, curate
from probing.curation.wikidata import chunks
from probing.errors import BadBenchmark, BadInput, SourceUnavailable
from probing.formats import FORMATS
from probing.formats.canary import MANIFEST
from tests.probing.command_line.helpers import printed_by
from tests.probing.curation.conftest import Serve, Source, contents
from tests.probing.curation.north_and_south import LIMA, NORWAY, OSLO, curated, lines, small_world
from tests.probing.curation.servers import Fault
from tests.probing.curation.world import World

FRENCH = """
[P36]
name = "capital"
subject = "country"
object = "city"

[P36.templates]
fr = "La capitale de [X] est [Y]."

[P36.questions]
fr = "Quelle est la capitale de [X] ?"
"""


@pytest.fixture
def world() -> World:
    """Return a world in which everything but Lima and Norway has a French label."""
    world = small_world()
    for item, labels in world.labels.items():
        if item not in (LIMA, NORWAY):
            labels["fr"] = f"{labels['en']} (fr)"
    world.claim(OSLO, "P31", "Q515")
    world.claim("Q34", "P36", OSLO)
    return world


@pytest.fixture
def source(serve: Serve, world: World) -> Source:
    return serve(world)


@pytest.fixture
def made(source: Source, tmp_path: Path) -> Path:
    return curated(source, tmp_path / "made", "P36")


@pytest.fixture
def french(tmp_path: Path) -> Path:
    path = tmp_path / "french.toml"
    path.write_text(FRENCH, encoding="utf-8")
    return path


def translated(source: Source, made: Path, folder: Path, french: Path, *languages: str) -> Path:
    plan = TranslationPlan(made, languages or ("fr",), own=read_predicates(french))
    curate(source.endpoint(), plan, folder)
    return folder


def test_every_language_has_the_facts_that_have_labels_in_the_new_one(
    source: Source, made: Path, french: Path, tmp_path: Path
) -> None:
    folder = translated(source, made, tmp_path / "out", french)
    assert lines(folder, "P36", language="fr") == [
        {
            "sub_uri": "Q34",
            "obj_uri": ["Q1754", OSLO],
            "sub_label": "Sweden (fr)",
            "obj_label": ["Capital of Sweden (fr)", "Capital of Norway (fr)"],
            "country": ["Q34"],
            "size": 100,
            "uuid": "P36_general_NORTH_1",
            "culture": "North",
        }
    ]
    for language in ("en", "es"):
        assert lines(folder, "P36", language=language) == lines(made, "P36", language=language)[1:]
    assert not list(folder.glob("*/*/*/*SOUTH.jsonl"))


def test_triples_without_a_label_are_counted(source: Source, made: Path, french: Path, tmp_path: Path) -> None:
    manifest = json.loads((translated(source, made, tmp_path / "out", french) / MANIFEST).read_text())
    assert manifest["kind"] == "translation"
    assert manifest["triples"]["north-south/dlama"] == {
        "P36_general_NORTH": {
            **{"found": 3, "added": 0, "kept": 2, "facts": 1, "dropped": {"the subject has no label in fr": 1}}
        },
        "P36_general_SOUTH": {
            **{"found": 1, "added": 0, "kept": 0, "facts": 0, "dropped": {"the object has no label in fr": 1}}
        },
    }
    assert manifest["settings"]["languages"] == ["fr"]


def test_an_object_without_a_label_is_left_out_of_all_languages(
    source: Source, made: Path, world: World, serve: Serve, french: Path, tmp_path: Path
) -> None:
    del world.labels[OSLO]["fr"]
    folder = translated(serve(world), made, tmp_path / "out", french)
    for language in ("en", "es", "fr"):
        assert [line["obj_uri"] for line in lines(folder, "P36", language=language)] == [["Q1754"]]
        assert [len(line["obj_label"]) for line in lines(folder, "P36", language=language)] == [1]


def test_the_reader_reads_all_languages_with_their_templates_and_questions(
    source: Source, made: Path, french: Path, tmp_path: Path
) -> None:
    benchmark = FORMATS["dlama"](translated(source, made, tmp_path / "out", french))
    assert {relation.tags["language"] for relation in benchmark.relations} == {"en", "es", "fr"}
    relation = benchmark["P36.north-south.fr"]
    assert relation.templates == ("La capitale de [X] est [Y].",)
    assert relation.questions == ("Quelle est la capitale de [X] ?",)
    assert benchmark["P36.north-south.en"].templates == FORMATS["dlama"](made)["P36.north-south.en"].templates


def test_templates_of_the_source_go_before_those_of_entries_and_after_those_of_the_user(
    source: Source, made: Path, french: Path, tmp_path: Path
) -> None:
    for folder, text in ((made / "templates", "source"), (tmp_path / "own", "user")):
        (folder / "fr").mkdir(parents=True)
        line = {"relation": "P36", "template": f"[X] {text} [Y]", "source": text}
        (folder / "fr" / "templates.jsonl").write_text(json.dumps(line))
    benchmark = FORMATS["dlama"](translated(source, made, tmp_path / "out", french))
    assert benchmark["P36.north-south.fr"].templates == ("[X] source [Y]",)
    assert any("source: 1 in fr" in note for note in benchmark.notes)
    curate(source.endpoint(), TranslationPlan(made, ("fr",), tmp_path / "own"), tmp_path / "other")
    assert FORMATS["dlama"](tmp_path / "other")["P36.north-south.fr"].templates == ("[X] user [Y]",)


def test_a_source_that_cannot_be_read_is_refused(source: Source, made: Path, french: Path, tmp_path: Path) -> None:
    (made / "templates" / "questions.json").write_text('{"questions": []}')
    with pytest.raises(BadBenchmark, match="'questions' is not a JSON object"):
        translated(source, made, tmp_path / "out", french)


def test_questions_of_the_source_are_kept(source: Source, made: Path, french: Path, tmp_path: Path) -> None:
    questions = {"system_message": {"en": "Be brief."}, "questions": {"P36": {"en": "Capital of {}?"}}}
    (made / "templates" / "questions.json").write_text(json.dumps(questions))
    benchmark = FORMATS["dlama"](translated(source, made, tmp_path / "out", french))
    assert benchmark["P36.north-south.en"].questions == ("Capital of [X]?",)
    assert benchmark["P36.north-south.en"].system == "Be brief."
    assert benchmark["P36.north-south.fr"].questions == ("Quelle est la capitale de [X] ?",)


def test_a_set_of_an_older_release_is_translated_in_its_layout(source: Source, french: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    (old / "arab_west" / "cultlama" / "ko").mkdir(parents=True)
    line = {"sub_uri": "Q34", "obj_uri": OSLO, "sub_label": "S", "obj_label": "O", "uuid": "P36_x_ASIA_0"}
    (old / "arab_west" / "cultlama" / "ko" / "P36.jsonl").write_text(json.dumps(line))
    (old / "templates" / "ko").mkdir(parents=True)
    (old / "templates" / "ko" / "templates.jsonl").write_text('{"relation": "P36", "template": "[X] [Y]"}')
    folder = translated(source, old, tmp_path / "out", french)
    new = json.loads((folder / "arab_west" / "cultlama" / "fr" / "P36.jsonl").read_text())
    assert (new["sub_label"], new["obj_label"]) == ("Sweden (fr)", ["Capital of Norway (fr)"])
    assert len(FORMATS["dlama"](folder).relations) == 2


def test_an_interruption_loses_nothing(
    source: Source, made: Path, french: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setattr("probing.curation.wikidata.chunks", partial(chunks, size=2))
    whole = contents(translated(source, made, tmp_path / "whole", french))
    source.forget()
    source.sparql.faults.extend([Fault()] + [Fault(503)] * 4)
    with pytest.raises(SourceUnavailable):
        translated(source, made, tmp_path / "again", french)
    assert not (tmp_path / "again").exists()
    requests = len(source.sparql.requests)
    assert contents(translated(source, made, tmp_path / "again", french)) == whole
    source.sparql.requests.clear()
    assert contents(translated(source, made, tmp_path / "third", french)) == whole
    assert source.sparql.requests == [] and requests == 5


def test_a_language_of_the_set_is_refused(source: Source, made: Path, french: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"The set has facts in 'es' already"):
        translated(source, made, tmp_path / "out", french, "es")


def test_a_language_without_templates_is_refused_before_any_query(source: Source, made: Path, tmp_path: Path) -> None:
    source.sparql.requests.clear()
    with pytest.raises(BadInput, match=r"no template for P36 in 'fr'.*as templates.*own names"):
        curate(source.endpoint(), TranslationPlan(made, ("fr",)), tmp_path / "out")
    assert source.sparql.requests == []


def test_a_set_without_a_label_in_the_language_is_refused(
    source: Source, made: Path, french: Path, tmp_path: Path
) -> None:
    french.write_text(FRENCH.replace("fr =", "xx ="), encoding="utf-8")
    with pytest.raises(BadInput, match="No fact has labels in xx"):
        translated(source, made, tmp_path / "out", french, "xx")
    assert not (tmp_path / "out").exists()


def test_an_id_that_is_no_item_never_reaches_a_query(source: Source, made: Path, french: Path, tmp_path: Path) -> None:
    path = made / "north-south" / "dlama" / "en" / "P36_general_NORTH.jsonl"
    path.write_text(path.read_text().replace('"Q34"', '"Q34 } DROP ALL"'), encoding="utf-8")
    with pytest.raises(BadBenchmark, match=r"P36_general_NORTH\.jsonl, line 2: .* is not an item of Wikidata"):
        translated(source, made, tmp_path / "out", french)


def test_the_command_says_how_many_triples_have_labels(
    source: Source, made: Path, french: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    servers = f"{{url: {source.endpoint_url}, interval: 0}}"
    plan.write_text(f"kind: translation\nsource: {made}\nlanguages: fr\nown: {french}\nendpoint: {servers}\n")
    files = ["--cache", str(source.cache_file), "--out", str(tmp_path / "out")]
    assert "4 of 8 triples have labels in fr." in printed_by(capsys, "curate", str(plan), *files)
    assert 'LANG(?label) IN ("fr", "mul")' in printed_by(capsys, "curate", str(plan), "--dry-run")
