"""The labels of options and the descriptions of columns, which a file of rows has beside them."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from docs.site.generated import columns_page
from probing.analysis.accuracy import SCORE_COLUMNS
from probing.benchmark import Benchmark, Item, Relation
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.formats import bear
from probing.plan import plan_of
from probing.probes import PROBES
from probing.results import rows
from probing.results.rescoring import rescored
from probing.results.result import Result
from probing.results.rows import ITEM_COLUMNS, TAG, TOKEN_COLUMNS, option_ranges, ranges_as_json, ranges_from_json
from probing.results.run_json import RECORD_KEYS
from probing.results.token_scores import SCHEMA
from probing.runner import run
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.fakes import FakeModel


def test_a_stored_result_names_the_options_of_its_scores(
    benchmark: Benchmark, model: FakeModel, tmp_path: Path
) -> None:
    run(model, benchmark, out=tmp_path / "out", progress=False)
    result = Result.load(tmp_path / "out")
    assert result.option_labels("P30") == ("Africa", "Asia", "Europe")
    for row in result.items.to_dict("records"):
        labels = result.option_labels(row["relation"], row["index"])
        assert len(labels) == len(row["scores"])
        assert labels[row["prediction"]] == row["prediction_label"] and labels[row["answer"]] == row["answer_label"]


def test_items_with_options_of_their_own_are_told_apart(model: FakeModel, tmp_path: Path) -> None:
    result = run(model, open_benchmark("pairs"), sample=3, progress=False)
    row = result.items.iloc[0]
    assert set(result.option_labels(row["relation"], row["index"])) == {row["answer_label"], row["coarse_label"]}
    with pytest.raises(BadInput, match=r"have different options\. Name one"):
        result.option_labels(row["relation"])


def test_versions_of_a_relation_have_ranges_of_items() -> None:
    first = Relation(
        "P1.en", ("[X] is [Y].",), ("a", "b"), (Item(0, "x", (0,)), Item(1, "y", (1,))), tags={"predicate": "P1"}
    )
    second = Relation("P1.ar", ("[X] is [Y].",), ("c", "d"), (Item(2, "z", (0,)),), tags={"predicate": "P1"})
    ranges = option_ranges(plan_of(Benchmark("b", "1", "1", (first, second)), Settings()))
    assert ranges_from_json(ranges_as_json(ranges)) == ranges == {"P1": [(0, 1, ("a", "b")), (2, 2, ("c", "d"))]}


def test_what_is_not_there_is_told(benchmark: Benchmark, model: FakeModel) -> None:
    result = run(model, benchmark, progress=False)
    with pytest.raises(BadInput, match=r"no options of relation 'P6'\. Choose from: P30, P36"):
        result.option_labels("P6")
    with pytest.raises(BadInput, match="P30 has no item 9"):
        result.option_labels("P30", 9)
    with pytest.raises(BadInput, match="no labels of options"):
        Result(result.items, result.scores, result.record).option_labels("P30")


def test_rescoring_with_other_tags_keeps_the_options(
    bear_folder: BearFolder, benchmark: Benchmark, model: FakeModel
) -> None:
    result = run(model, benchmark, progress=False)
    bear_folder.domains = {"P30": {"domains": ["Earth"]}, "P36": {"domains": ["Earth"]}}
    again = rescored(result, bear.read(bear_folder.write()))
    assert again is not result and again.options == result.options


def test_each_column_of_a_probe_of_scores_and_of_tokens_is_described_and_no_other() -> None:
    missing = {name: probe.columns - ITEM_COLUMNS.keys() for name, probe in PROBES.items()}
    assert {name: columns for name, columns in missing.items() if columns} == {}
    assert ITEM_COLUMNS.keys() == frozenset().union(*(probe.columns for probe in PROBES.values()))
    assert list(rows.SCORE_COLUMNS) == SCORE_COLUMNS
    assert list(TOKEN_COLUMNS) == SCHEMA.names


def test_each_key_of_the_record_is_described(benchmark: Benchmark, model: FakeModel) -> None:
    record = run(model, benchmark, progress=False).record
    assert RECORD_KEYS.keys() == record.keys()
    assert all(f"`{name}`" in RECORD_KEYS["model"] for name in record["model"])


def test_the_page_explains_each_column_and_key() -> None:
    page = columns_page()
    tables = (ITEM_COLUMNS, rows.SCORE_COLUMNS, TOKEN_COLUMNS, RECORD_KEYS)
    lines = [f"| `{name}` | {meaning} |" for meanings in tables for name, meaning in meanings.items()]
    assert [line for line in lines if line not in page] == []


def test_the_parquet_file_explains_its_columns(benchmark: Benchmark, model: FakeModel, tmp_path: Path) -> None:
    run(model, benchmark, out=tmp_path / "out", progress=False)
    schema = pq.read_schema(tmp_path / "out" / "items.parquet")
    meanings = {name: schema.field(name).metadata[b"description"].decode() for name in schema.names}
    assert meanings["statement"].startswith("the sentence with what the model answers")
    assert meanings["cardinality"] == TAG
    assert meanings == {name: ITEM_COLUMNS.get(name, TAG) for name in schema.names}
