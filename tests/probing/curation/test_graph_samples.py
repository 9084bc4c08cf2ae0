"""Samples of knowledge graphs that are put into words in several ways."""

import json
import shutil
from pathlib import Path

import pytest

import probing
from probing.errors import BadBenchmark, BadInput
from probing.formats.knowledge_graph import read
from tests.fakes import ShoutingCorrector

GRAPH = Path(__file__).parents[3] / "fixtures" / "graph"
FEW = {"samples": 10, "repetitions": 1}


def phrasings(folder: Path, number: int) -> Path:
    relations = json.loads((GRAPH / "relation_mapping.json").read_text())
    texts = ["{HEAD} and {TAIL} belong together", "Of {TAIL} one says {HEAD}"][:number]
    (folder / "own.json").write_text(json.dumps(dict.fromkeys(relations, texts)))
    return folder / "own.json"


def test_a_function_of_ones_own_puts_triples_into_words(tmp_path: Path) -> None:
    def in_capitals(head: str, relation: str, tail: str) -> list[str]:
        return [f"{head} {relation} {tail}".upper(), f"{tail} {relation} {head}".upper()]

    folder = probing.sample_graph(GRAPH, tmp_path / "capitals", wording=in_capitals, **FEW)
    benchmark = read(folder)
    items = [item for relation in benchmark.relations for item in relation.items]
    assert all(text.isupper() for item in items for text in item.options)
    assert {len(item.options) for item in items} == {2} == {len(relation.templates) for relation in benchmark.relations}
    assert "Put into words by the function in_capitals." in benchmark.notes


def test_a_file_of_ones_own_has_several_phrasings_of_each_relation(tmp_path: Path) -> None:
    folder = probing.sample_graph(GRAPH, tmp_path / "own", phrasings=phrasings(tmp_path, 2), **FEW)
    first, second = read(folder).relations[0].items[0].options
    assert " belong together" in first and second.startswith("Of ")
    assert json.loads((folder / "clozeboard.json").read_text()) == {"settings": {"templates": [0, 1]}}
    assert "Phrasings of the file own.json." in read(folder).notes


def test_a_graph_with_lists_of_phrasings_is_a_benchmark_without_a_sample(tmp_path: Path) -> None:
    for file in GRAPH.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "relation_mapping.json").write_text(phrasings(tmp_path, 2).read_text())
    benchmark = read(tmp_path)
    assert all(len(item.options) == 2 for relation in benchmark.relations for item in relation.items)


def test_one_phrasing_keeps_the_version_that_the_graph_had(tmp_path: Path) -> None:
    """A list of one phrasing says the same as the phrasing itself, and only the file differs."""
    assert read(GRAPH).relations == read(probing.sample_graph(GRAPH, tmp_path / "same")).relations


def test_the_settings_of_a_graph_in_an_unpacked_archive_are_those_that_lie_beside_it(tmp_path: Path) -> None:
    inner = shutil.copytree(GRAPH, tmp_path / "archive" / "data" / "graph")
    (inner / "sampling.json").write_text(json.dumps({**FEW, "seed": 7}))
    folder = probing.sample_graph(tmp_path / "archive", tmp_path / "sample")
    assert json.loads((folder / "sampling.json").read_text()).items() >= {**FEW, "seed": 7}.items()


def test_phrasings_of_different_numbers_or_without_a_slot_are_refused(tmp_path: Path) -> None:
    file = phrasings(tmp_path, 2)
    mapping = json.loads(file.read_text())
    mapping[next(iter(mapping))] = "{HEAD} alone is {TAIL}"
    file.write_text(json.dumps(mapping))
    with pytest.raises(BadBenchmark, match="relations have 1 and 2 phrasings"):
        probing.sample_graph(GRAPH, tmp_path / "uneven", phrasings=file)
    file = phrasings(tmp_path, 2)
    file.write_text(file.read_text().replace("Of {TAIL} one", "Of him one"))
    with pytest.raises(BadBenchmark, match=r"must have \{HEAD\} and \{TAIL\} once"):
        probing.sample_graph(GRAPH, tmp_path / "faulty", phrasings=file)


@pytest.mark.parametrize("result", ["", [], ["fine", None]])
def test_a_function_must_return_texts(tmp_path: Path, result: object) -> None:
    with pytest.raises(BadInput, match="Let it return a sentence, or a list of sentences"):
        probing.sample_graph(GRAPH, tmp_path / "faulty", wording=lambda *triple: result, **FEW)  # type: ignore[arg-type]


def test_a_function_must_return_equally_many_for_every_triple_and_is_not_taken_with_a_file(tmp_path: Path) -> None:
    def more_for_long_names(head: str, relation: str, tail: str) -> list[str]:
        return [f"{head} {relation} {tail}"] * (1 + (len(head) > 6))

    with pytest.raises(BadInput, match="Triples have 1 or 2 phrasings"):
        probing.sample_graph(GRAPH, tmp_path / "uneven", wording=more_for_long_names, **FEW)
    with pytest.raises(BadInput, match="Give one of them"):
        probing.sample_graph(GRAPH, tmp_path / "both", phrasings="own.json", wording=lambda *triple: "words")


def test_a_known_graph_is_named_as_in_every_other_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATA", str(tmp_path))
    by_name = probing.sample_graph("graph", tmp_path / "name", samples=3, repetitions=1)
    by_folder = probing.sample_graph(GRAPH, tmp_path / "folder", samples=3, repetitions=1)
    assert [path.read_bytes() for path in sorted(by_name.iterdir())] == [
        path.read_bytes() for path in sorted(by_folder.iterdir())
    ]
    with pytest.raises(BadInput, match="wn18rr is not on this machine"):
        probing.sample_graph("wn18rr", tmp_path / "missing")


def test_a_sample_says_how_it_was_drawn(tmp_path: Path) -> None:
    choices = {"resampled": 1, "within_category": True, "samples": 10, "repetitions": 2, "seed": 5}
    benchmark = read(probing.sample_graph("graph", tmp_path / "hard", **choices))
    assert "2 repetitions, each of 10 true" in benchmark.notes[-1]
    assert "1 of 3 parts within their categories were drawn again at random, with seed 5" in benchmark.notes[-1]


def test_a_sample_never_takes_the_place_of_another_folder(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    with pytest.raises(BadInput, match="exists already"):
        probing.sample_graph("graph", tmp_path)


def test_corrected_sentences_are_stored_with_the_corrector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "Corrector", ShoutingCorrector, raising=False)
    benchmark = read(probing.sample_graph("graph", tmp_path / "loud", samples=5, correct="loud"))
    assert ShoutingCorrector.remark in benchmark.notes
    assert all(item.subject.isupper() for relation in benchmark.relations for item in relation.items)


def test_a_ladder_is_a_benchmark_whose_false_statements_have_levels(tmp_path: Path) -> None:
    benchmark = read(probing.sample_graph("graph", tmp_path / "ladder", samples=4, repetitions=1, ladder=True))
    levels = {item.tags["level"] for relation in benchmark.relations for item in relation.items}
    assert len(levels) == 1 + 6
    assert any("of each level" in note for note in benchmark.notes)
