"""Joining parts in a folder, one relation at a time: the same files as joining all rows in memory."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from probing.analysis.details import FIGURES
from probing.baselines import UniformModel, with_baselines
from probing.benchmark import Benchmark, Item, Relation
from probing.errors import Incomplete
from probing.part_runner import probe_part
from probing.plan import Part, plan, plan_of
from probing.probes import probe_of
from probing.probes.probe import Probe, tag_columns
from probing.results import joining
from probing.results import rows as rows_module
from probing.results.checkpoint import Partial
from probing.results.completeness import all_skipped, check_complete
from probing.results.joining import PartsInMemory, joined_in_folder, merged
from probing.results.rescoring import digests, with_tags
from probing.results.result import Result
from probing.results.rows import option_ranges
from probing.runner import run
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.few_relations import few_relations
from tests.frames_in_memory import FramesInMemory
from tests.traced_memory import traced_memory

# A made-up relation: the scores of an item's options take more bytes than its whole condensed row may.
ITEMS, OPTIONS, MOST = 150, 100, 500
FILES = ("items.parquet", "scores.csv", "run.json")
CHOSEN: dict[str, tuple[str, dict[str, Any]]] = {
    "several wordings": ("starter", {"limit": 3, "templates": (0, 1)}),
    "generic": ("starter", {"limit": 3, "relations": ["author_language"], "generic_subjects": "it"}),
    "decided": ("starter", {"limit": 3, "templates": (0, 1), "decide": True}),
    "ranking": ("culture", {"limit": 2}),
    "specificity": ("pairs", {"limit": 3}),
    "similarity": ("pairs", {"limit": 3, "probe": "similarity"}),
}


def measured(benchmark: Benchmark, settings: Settings, folder: Path) -> Partial:
    stored = Partial.open(folder / "out", {}, resume=False)
    for part in plan_of(benchmark, settings).parts:
        result = probe_part(FakeModel(), plan_of(benchmark, settings), part)
        stored.store(part, result.rows, result.record)
    return stored


def in_memory(stored: Partial, benchmark: Benchmark, settings: Settings) -> Result:
    """Join all rows at once, as the reference that joining in a folder is compared with."""
    plan = plan_of(benchmark, settings)
    records = stored.records(plan.parts)
    record = merged(records) | {"items_skipped": all_skipped(records)} | digests(plan)
    rows = with_tags(rows_module.join(map(stored.rows, plan.parts)), benchmark, plan.probe)
    check_complete(rows, plan, record)
    scores = with_baselines(plan.probe.scores(rows), rows, plan)
    return Result(rows, scores, record, option_ranges(plan))


def with_era(benchmark: Benchmark, relations: int) -> Benchmark:
    """Return the benchmark with a tag of several values that its first relations do not have."""
    first, others = benchmark.relations[:relations], benchmark.relations[relations:]
    tagged = tuple(replace(relation, tags={**relation.tags, "era": ("old", "new")}) for relation in others)
    return replace(benchmark, relations=(*first, *tagged))


@pytest.mark.parametrize(("slug", "chosen"), CHOSEN.values(), ids=CHOSEN)
def test_the_files_are_those_of_rows_joined_in_memory(slug: str, chosen: dict[str, Any], tmp_path: Path) -> None:
    benchmark = few_relations(slug)
    settings = plan(benchmark, chosen).settings
    stored = measured(benchmark, settings, tmp_path)
    in_memory(stored, benchmark, settings).save(tmp_path / "memory")
    joined_in_folder(stored, plan_of(benchmark, settings), tmp_path / "folder")
    for name in FILES:
        assert (tmp_path / "folder" / name).read_bytes() == (tmp_path / "memory" / name).read_bytes()


@pytest.mark.slow
def test_versions_of_a_predicate_with_own_options_are_not_in_memory_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = few_relations("culture")
    settings = plan(benchmark, {"limit": 1}).settings
    stored, joins = measured(benchmark, settings, tmp_path), list[int]()

    def counted(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
        tables = list(frames)
        joins.append(len(tables))
        return rows_module.join(tables)

    monkeypatch.setattr(joining, "join", counted)
    joined_in_folder(stored, plan_of(benchmark, settings), tmp_path / "folder")
    versions = len(plan_of(benchmark, settings).parts)
    assert joins == [1] * versions + [versions]


class CountedParts(PartsInMemory):
    """Parts that are copied whenever their rows are read, and counted while the copies are in memory."""

    frames = FramesInMemory()

    def rows(self, part: Part) -> pd.DataFrame:
        return self.frames.add(super().rows(part).copy())


def test_the_rows_of_one_relation_are_in_memory_at_a_time(tmp_path: Path) -> None:
    benchmark, settings = few_relations("starter"), Settings(limit=2, templates=(0,))
    covered = plan_of(benchmark, settings).parts
    stored = CountedParts({part: probe_part(FakeModel(), plan_of(benchmark, settings), part) for part in covered})
    joined_in_folder(stored, plan_of(benchmark, settings), tmp_path / "folder")
    assert len(stored.frames) == 2 * len(covered)
    assert stored.frames.most == 1


def test_a_tag_that_only_some_relations_have_is_a_column_of_all(tmp_path: Path) -> None:
    benchmark = with_era(few_relations("starter"), 2)
    settings = plan(benchmark, {"limit": 2}).settings
    stored = measured(benchmark, settings, tmp_path)
    rows = joined_in_folder(stored, plan_of(benchmark, settings), tmp_path / "folder").items
    pd.testing.assert_frame_equal(rows, Result.load(tmp_path / "folder").items)
    assert rows["era"].isna().tolist() == [True] * 4 + [False] * (len(rows) - 4)
    assert rows["era"].iloc[-1].tolist() == ["old", "new"]


def test_rows_with_many_options_make_small_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark, settings = few_relations("starter"), Settings(limit=5)
    stored = measured(benchmark, settings, tmp_path)
    whole = joined_in_folder(stored, plan_of(benchmark, settings), tmp_path / "whole").items
    monkeypatch.setattr(rows_module, "GROUP_BYTES", 4096)
    pieces = joined_in_folder(stored, plan_of(benchmark, settings), tmp_path / "pieces").items
    pd.testing.assert_frame_equal(pieces, whole)
    groups = [pq.ParquetFile(tmp_path / name / "items.parquet").metadata.num_row_groups for name in ("whole", "pieces")]
    assert groups[0] == 1 < groups[1] < len(whole)


def test_a_part_with_too_few_rows_leaves_no_folder(tmp_path: Path) -> None:
    benchmark, settings = few_relations("starter"), Settings(limit=3)
    stored = measured(benchmark, settings, tmp_path)
    part = plan_of(benchmark, settings).parts[-1]
    stored.store(part, stored.rows(part).iloc[1:], stored.record(part))
    with pytest.raises(Incomplete, match="1 of 3 rows are missing"):
        joined_in_folder(stored, plan_of(benchmark, settings), tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize(("slug", "chosen"), CHOSEN.values(), ids=CHOSEN)
def test_condensed_rows_have_no_option_values_and_equal_tags(slug: str, chosen: dict[str, Any], tmp_path: Path) -> None:
    benchmark = few_relations(slug)
    settings = plan(benchmark, chosen).settings
    rows = in_memory(measured(benchmark, settings, tmp_path), benchmark, settings).items
    probe = probe_of(settings)
    short = probe.condensed(rows)
    assert not {"scores", "exact", "statement"} & set(short.columns)
    assert FIGURES & set(short.columns)
    assert tag_columns(probe, short.columns) == tag_columns(probe, rows.columns)


@pytest.mark.slow
@pytest.mark.parametrize("probe", ["multiple_choice", "ranking"])
def test_condensed_rows_take_few_bytes_however_many_options_they_have(
    probe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = (1, 2, 3)  # relations: the first run imports modules and fills caches, which the others then have
    _, few, many = (held_for_scores(relations, probe, tmp_path, monkeypatch) for relations in sizes)
    assert (many - few) / ITEMS < MOST


def held_for_scores(relations: int, probe: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many bytes are held when the scores of a run on a made-up benchmark are computed."""
    benchmark = Benchmark("made-up", "1", "0", tuple(made_up(number) for number in range(relations)), probe=probe)
    settings = plan(benchmark, {}).settings
    stored = Partial.open(folder / str(relations), {}, resume=False)
    for part in plan_of(benchmark, settings).parts:
        result = probe_part(UniformModel(), plan_of(benchmark, settings), part)
        stored.store(part, result.rows, result.record)
    sizes = []

    scores = type(probe_of(settings)).scores

    def measured_scores(of: Probe, rows: pd.DataFrame) -> pd.DataFrame:
        sizes.append(held())
        return scores(of, rows)

    with traced_memory() as held, monkeypatch.context() as patch:
        patch.setattr(type(probe_of(settings)), "scores", measured_scores)
        joined_in_folder(stored, plan_of(benchmark, settings), folder / f"{relations} joined")
    return sizes[0]


def made_up(number: int) -> Relation:
    items = tuple(Item(index, f"Subject {index}", (index % OPTIONS,)) for index in range(ITEMS))
    options = tuple(f"Answer {option}" for option in range(OPTIONS))
    tags = {"culture_pair": "pair", "language": "en", "predicate": f"P{number}", "culture": "Arab"}
    return Relation(f"P{number}", ("[X] is near [Y].",), options, items, tags=tags)


def test_a_result_reads_its_rows_when_they_are_used_and_keeps_them_without_a_folder(tmp_path: Path) -> None:
    result = run(FakeModel(), few_relations("starter"), limit=2, out=tmp_path / "out", progress=False)
    assert result.rows == tmp_path / "out" / "items.parquet"
    assert "items" not in vars(result)
    assert len(result.items) == result.record["items_done"]
    result = run(FakeModel(), few_relations("starter"), limit=2, progress=False)
    assert len(result.items) == result.record["items_done"]


def test_values_of_options_are_not_read_where_they_are_not_needed(tmp_path: Path) -> None:
    result = run(FakeModel(), few_relations("starter"), limit=2, out=tmp_path / "out", progress=False)
    short = result.items_without_options
    assert "items" not in vars(result)
    assert [name for name in result.items if name not in short] == ["scores", "exact", "tokens"]
    pd.testing.assert_frame_equal(short, result.items[short.columns])
    pd.testing.assert_frame_equal(short, replace(result, rows=result.items).items_without_options)


def test_rows_are_saved_as_they_are_or_as_they_were_changed(tmp_path: Path) -> None:
    run(FakeModel(), few_relations("starter"), limit=2, out=tmp_path / "out", progress=False)
    result = Result.load(tmp_path / "out")
    result.save(tmp_path / "copy")
    assert "items" not in vars(result)
    for name in FILES:
        assert (tmp_path / "copy" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    result.items["subject"] = "Atlantis"
    result.save(tmp_path / "changed")
    assert set(Result.load(tmp_path / "changed").items["subject"]) == {"Atlantis"}
