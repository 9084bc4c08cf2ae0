"""The facts of a benchmark, with the aliases of its own files and of others."""

import json
from pathlib import Path

import pytest

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.exposure.named_facts import Aliases, facts_of
from probing.formats import bear
from tests.conftest import BearFolder


@pytest.fixture
def with_aliases(bear_folder: BearFolder) -> Benchmark:
    """P36 asks for the capitals of countries, one of which P30 asks for as a subject."""
    for line in bear_folder.lines["P30"]:
        line["sub_aliases"] = [f"Republic of {line['sub_label']}"]
    return bear.read(bear_folder.write())


def test_facts_are_the_items_with_their_labels(benchmark: Benchmark) -> None:
    facts = facts_of(benchmark)
    assert len(facts) == benchmark.size
    relation = benchmark.relations[0]
    item, fact = relation.items[0], facts[0]
    answer = relation.answer_space[item.answers[0]]
    assert (fact.relation, fact.index, fact.subject, fact.answer) == (relation.label, item.index, item.subject, answer)
    assert (fact.subject_names, fact.answer_names) == ((item.subject,), (answer,))


def test_subjects_have_their_aliases_wherever_they_are_asked_for(with_aliases: Benchmark) -> None:
    aliases = Aliases.of_benchmark(with_aliases)
    facts = {(fact.relation, fact.subject): fact for fact in facts_of(with_aliases, aliases)}
    assert facts["P30", "Chad"].subject_names == ("Chad", "Republic of Chad")
    for fact in facts.values():
        is_asked_for = ("P30", fact.subject) in facts
        assert (f"Republic of {fact.subject}" in fact.subject_names) == is_asked_for


def test_a_file_adds_aliases_by_id_or_label(benchmark: Benchmark, tmp_path: Path) -> None:
    relation = benchmark.relations[0]
    item = relation.items[0]
    answer = relation.answer_ids[item.answers[0]] if relation.answer_ids else relation.answer_space[item.answers[0]]
    path = tmp_path / "aliases.json"
    path.write_text(json.dumps({item.subject_id: {"aliases": ["Tchad"]}, answer: ["Old World"], "Q1": ["other"]}))
    fact = facts_of(benchmark, Aliases.of_benchmark(benchmark, path))[0]
    assert fact.subject_names == (item.subject, "Tchad")
    assert fact.answer_names == (relation.answer_space[item.answers[0]], "Old World")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "cannot be read as aliases"),
        ("[1, 2]", "cannot be read as aliases"),
        ('{"Chad": 3}', "has no list of names for 'Chad'"),
        ('{"Chad": {"names": []}}', "cannot be read as aliases"),
        ('{"Chad": [3]}', "has no list of names for 'Chad'"),
        ('{"Q1": ["a"]}', "names nothing of the benchmark"),
    ],
)
def test_a_bad_file_of_aliases_is_refused(content: str, message: str, benchmark: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "aliases.json").write_text(content)
    with pytest.raises(BadInput, match=message):
        Aliases.of_benchmark(benchmark, tmp_path / "aliases.json")


def test_a_benchmark_without_aliases_or_without_facts_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match="have no aliases"):
        Aliases.of_benchmark(benchmark)
    with pytest.raises(BadInput, match="has no facts with a subject and an answer"):
        facts_of(open_benchmark("graph"))


@pytest.mark.parametrize("slug", ["starter", "culture", "pairs", "geography"])
def test_the_facts_of_all_benchmarks_that_ship_can_be_counted(slug: str) -> None:
    benchmark = open_benchmark(slug)
    facts = facts_of(benchmark)
    assert len({(fact.relation, fact.index) for fact in facts}) == len(facts) > 100
