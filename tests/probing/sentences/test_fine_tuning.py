"""Sentences for fine-tuning: all of them, and no fact in training and in test."""

from pathlib import Path

import pandas as pd
import pytest

from probing.benchmark import Benchmark, Item, Relation
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.formats.geography import typed_sentences
from probing.sentences.fine_tuning import COLUMNS, sentence_table

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def geography() -> pd.DataFrame:
    return sentence_table(open_benchmark(FIXTURES / "geography"))


def small(*relations: Relation) -> Benchmark:
    return Benchmark("small", "1", "", relations)


def test_every_sentence_of_geography_is_there_with_its_answer(geography: pd.DataFrame) -> None:
    typed = typed_sentences(FIXTURES / "geography")
    assert sorted(geography["id"]) == sorted(sentence.id for _, sentence in typed)
    first = geography.iloc[0]
    assert list(geography.columns) == list(COLUMNS)
    assert (first["text"], first["masked"]) == ("Tokyo is a city located in Japan.", "Tokyo is a city located in ____.")
    assert first["prompt"] == "Tokyo is a city located in"
    assert not geography.loc[geography["relation"] == "country_continent", "prompt"].any()


def test_no_pair_of_names_is_in_training_and_in_test(geography: pd.DataFrame) -> None:
    splits: dict[frozenset[str], set[str]] = {}
    split_of = dict(zip(geography["id"], geography["split"], strict=True))
    for _, sentence in typed_sentences(FIXTURES / "geography"):
        for other in sentence.names[1:]:
            splits.setdefault(frozenset((sentence.names[0], other)), set()).add(split_of[sentence.id])
    assert all(len(sides) == 1 for sides in splits.values())
    assert geography.groupby(["relation", "subject"])["split"].nunique().max() == 1


def test_facts_that_two_fact_types_share_stay_together() -> None:
    typed, table = (
        typed_sentences(FIXTURES / "geography"),
        sentence_table(open_benchmark(FIXTURES / "geography"), test=0.5),
    )
    split_of = dict(zip(table["id"], table["split"], strict=True))
    cities = {frozenset(s.names): s.id for key, s in typed if key == "city_country"}
    capitals = [(frozenset(s.names), s.id) for key, s in typed if key == "country_capital"]
    shared = [(cities[names], id) for names, id in capitals if names in cities]
    assert len(shared) > 10
    assert all(split_of[city] == split_of[capital] for city, capital in shared)


def test_every_large_fact_type_has_about_its_share_of_the_test(geography: pd.DataFrame) -> None:
    shares = geography.assign(test=geography["split"] == "test").groupby("relation")["test"].agg(["mean", "size"])
    large = shares[shares["size"] >= 50]
    assert len(large) > 5
    assert large["mean"].between(0.1, 0.3).all()


def test_equal_seeds_split_equally_and_others_differ() -> None:
    benchmark = open_benchmark(FIXTURES / "pairs")
    first, again, other = (sentence_table(benchmark, seed=seed)["split"].tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_every_template_and_right_answer_makes_a_sentence() -> None:
    items = (Item(0, "Oslo", (0, 1)), Item(1, "Lima", (2,)))
    relation = Relation("r", ("[X] is in [Y].", "[Y] has [X]."), ("Norway", "Europe", "Peru"), items)
    assert sentence_table(small(relation))["text"].tolist() == [
        "Oslo is in Norway.",
        "Oslo is in Europe.",
        "Norway has Oslo.",
        "Europe has Oslo.",
        "Lima is in Peru.",
        "Peru has Lima.",
    ]


def test_facts_are_the_same_by_id_whatever_their_language() -> None:
    """Each relation has enough items that its share would put some into the test without regard to the other one."""
    ids = [f"Q{number}" for number in range(40)]
    versions = [
        Relation(
            f"r-{language}",
            ("[X]: [Y].",),
            tuple(f"{language} answer {id}" for id in ids),
            tuple(Item(n, f"{language} {id}", (n,), subject_id=id) for n, id in enumerate(ids)),
            answer_ids=tuple(f"A{id}" for id in ids),
            tags={"language": language},
        )
        for language in ("en", "es")
    ]
    table = sentence_table(small(*versions), test=0.5)
    english, spanish = (table[table["language"] == language].set_index("index")["split"] for language in ("en", "es"))
    assert english.equals(spanish)
    assert set(english) == {"train", "test"}


def test_false_statements_of_a_graph_are_left_out() -> None:
    benchmark = open_benchmark(FIXTURES / "graph")
    true = [item for relation in benchmark.relations for item in relation.items if item.is_true]
    table = sentence_table(benchmark)
    assert 0 < len(table) == len(true) < benchmark.size
    assert set(table["masked"]) == set(table["prompt"]) == {""}


def test_impossible_shares_and_empty_benchmarks_are_refused() -> None:
    with pytest.raises(BadInput, match="share of 1 "):
        sentence_table(small(), test=1)
    with pytest.raises(BadInput, match="no true sentences"):
        sentence_table(small(Relation("r", ("[X] is [Y].",), ("a",), ())))
