"""Rows from elsewhere: those of an honest worker are stored as rows from here, and every other kind is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pandas as pd
import pytest

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Model
from leaderboard.worker.arrivals import RowsRefused, checked_whole
from probing.catalog import CATALOG
from probing.part_runner import probe_part
from probing.plan import Plan, plan, plan_of
from probing.results.joining import PartResult
from tests.fakes import FAKE_CARD, Pupil, ShortSighted
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
CARD = replace(FAKE_CARD, id="org/causal")
Change = Callable[[pd.DataFrame], pd.DataFrame]


class Sent(NamedTuple):
    """What rows are sent of: a model and a plan with one part."""

    model: Model
    plan: Plan


def measured_part(on: Benchmark, kind: str = "causal", **chosen: Any) -> tuple[Sent, PartResult]:
    """A plan with one part, and what a fake model gives for it."""
    content = benchmarks.read(on)
    settings = plan(content, replace(on.settings_with(chosen.pop("options", {})), **chosen)).settings
    part = plan_of(content, settings).parts[0]
    one_part = plan(content, replace(settings, relations=(part.relation,), templates=(part.template,)))
    card = replace(FAKE_CARD, id=f"org/{kind}", kind=kind)
    return Sent(make.model(card.id, kind=kind), one_part), probe_part(Pupil(card=card), one_part, one_part.parts[0])


def checked(sent: Sent, rows: bytes, record: dict[str, Any]) -> PartResult:
    with TemporaryDirectory() as folder:
        whole = checked_whole(json.loads(json.dumps(record)), sent.model, sent.plan, BytesIO(rows), Path(folder))
        return PartResult(whole.rows(sent.plan.parts[0]), dict(whole.record))


def arrived(sent: Sent, rows: pd.DataFrame, record: dict[str, Any]) -> PartResult:
    return checked(sent, rows.to_parquet(index=False), record)


BOARDS = [(slug, entry.probe) for slug, entry in CATALOG.items() if not entry.downloads]
BOARDS += [("culture", "answering"), ("pairs", "similarity")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["causal", "masked"])
@pytest.mark.parametrize(("slug", "probe"), BOARDS)
def test_rows_of_every_probe_arrive_unchanged(slug: str, probe: str, kind: str) -> None:
    on = make.shipped(slug, probe)
    sent, measured = measured_part(on, kind)
    done = arrived(sent, measured.rows, measured.record)
    pd.testing.assert_frame_equal(done.rows, measured.rows)
    assert done.record == json.loads(json.dumps(measured.record))


def test_early_decisions_and_closed_vocabularies_arrive_too(small: Benchmark) -> None:
    sent, measured = measured_part(small, decide=True)
    measured.rows["exact"] = [[False, *exact[1:]] for exact in measured.rows["exact"]]
    assert len(arrived(sent, measured.rows, measured.record).rows) == 4


@pytest.mark.parametrize(("name", "added"), [("frequency", {"frequency": "0" * 64}), ("exposure_count", {})])
def test_tags_that_a_sender_has_added_are_left_out(small: Benchmark, name: str, added: dict[str, str]) -> None:
    sent, measured = measured_part(small)
    rows = measured.rows.assign(**{name: range(len(measured.rows))})
    done = arrived(sent, rows, measured.record | {"added_tags": added})
    pd.testing.assert_frame_equal(done.rows, measured.rows)


def short_sighted(on: Benchmark) -> tuple[Sent, PartResult]:
    """A part of which some items are too long for the model that measured it."""
    sent, _ = measured_part(on)
    return sent, probe_part(ShortSighted(card=CARD), sent.plan, sent.plan.parts[0])


def test_rows_without_the_items_that_are_too_long_arrive(small: Benchmark) -> None:
    sent, measured = short_sighted(small)
    (entry,) = measured.record["items_skipped"]
    done = arrived(sent, measured.rows, measured.record)
    pd.testing.assert_frame_equal(done.rows, measured.rows)
    assert 0 < len(done.rows) == sent.plan.parts[0].items - entry["items"] and done.record["items_skipped"] == [entry]


def test_a_record_that_leaves_out_other_items_than_its_rows_is_refused(small: Benchmark) -> None:
    sent, measured = short_sighted(small)
    (entry,) = measured.record["items_skipped"]
    for left_out, reason in (
        (entry | {"items": 0, "indices": []}, "number of items"),
        (entry | {"indices": [99, *entry["indices"][1:]]}, "items that are not theirs"),
        (entry | {"indices": [*entry["indices"], entry["indices"][0]]}, "malformed"),
        (entry | {"why": "x" * 300}, "malformed"),
        ("none", "malformed"),
    ):
        with pytest.raises(RowsRefused, match=reason):
            arrived(sent, measured.rows, {**measured.record, "items_skipped": [left_out]})


def spoiled(column: str, value: Callable[[Any], Any], row: int = 0) -> Change:
    """Return a change of one cell."""

    def change(rows: pd.DataFrame) -> pd.DataFrame:
        cells = rows[column].tolist()
        cells[row] = value(cells[row])
        return rows.assign(**{column: cells})

    return change


CHANGES: dict[str, Change] = {
    "3 rows for 4 items": lambda rows: rows.iloc[1:],
    "'index' differs": lambda rows: pd.concat([rows.iloc[1:], rows.iloc[:1]], ignore_index=True),
    "'relation' differs": spoiled("relation", lambda _: "P36"),
    "'template' differs": spoiled("template", lambda _: 1),
    "'subject' differs": spoiled("subject", lambda _: "Atlantis"),
    "'answers' differs": spoiled("answers", lambda _: [2]),
    "'domain' differs": spoiled("domain", lambda _: ["Art"]),
    "the columns are not": lambda rows: rows.drop(columns="margin"),
    "the columns are not relation": lambda rows: rows.assign(extra=1),
    "'scores' holds large_string": lambda rows: rows.assign(scores="high"),
    "'prediction' holds double": lambda rows: rows.assign(prediction=0.5),
    "'correct' has empty cells": lambda rows: rows.astype({"correct": "boolean"}).assign(
        correct=pd.array([None, True, True, True], dtype="boolean")
    ),
    "'scores' has another length": spoiled("scores", lambda scores: scores[:-1]),
    "'exact' has another length": spoiled("exact", lambda exact: [*exact, True]),
    "'scores' holds values that are not finite": spoiled("scores", lambda scores: [*scores[:-1], float("nan")]),
    "'margin' holds values that are not finite": spoiled("margin", lambda _: float("inf")),
    "the prediction of item 0 does not follow": spoiled("prediction", lambda number: (number + 1) % 3),
    "the prediction of item 1 does not follow": spoiled("correct", lambda correct: not correct, row=1),
    "the prediction of item 2 does not follow": spoiled("rank", lambda rank: rank % 3 + 1, row=2),
    "the prediction of item 3 does not follow": spoiled("prediction_label", lambda _: "Mars", row=3),
    "the prediction of item 0 does not follow from": spoiled("prediction", lambda _: 7),
}


def test_rows_that_no_measurement_gives_are_refused(small: Benchmark, subtests: pytest.Subtests) -> None:
    sent, measured = measured_part(small)
    for reason, change in CHANGES.items():
        with subtests.test(reason), pytest.raises(RowsRefused, match=reason):
            arrived(sent, change(measured.rows), measured.record)


def test_what_is_not_parquet_is_refused(small: Benchmark) -> None:
    sent, measured = measured_part(small)
    whole = measured.rows.to_parquet(index=False)
    for content in (b"", b"PAR1", b"x" * 1000, whole[:-20], whole[: len(whole) // 2] + whole[-2000:]):
        with pytest.raises(RowsRefused):
            checked(sent, content, measured.record)


RECORDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "'packages' of their record is missing": lambda record: {**record, "packages": None},
    "'packages' of their record is .*malformed": lambda record: {**record, "packages": {"python": "3"}},
    "'end' of their record": lambda record: {**record, "end": "tomorrow"},
    "'start' of their record": lambda record: {**record, "start": "2026-11-01T12:00:00"},
    "'positions' of their record": lambda record: {**record, "positions": -1},
    "another kind of model": lambda record: {**record, "model": {**record["model"], "kind": "masked"}},
    "another quantisation": lambda record: {**record, "model": {**record["model"], "quantisation": "GPTQ, 4 bits"}},
    "another number of items": lambda record: {**record, "items_done": 3},
}


def test_the_record_of_something_else_is_refused(small: Benchmark, subtests: pytest.Subtests) -> None:
    sent, measured = measured_part(small)
    for reason, change in RECORDS.items():
        with subtests.test(reason), pytest.raises(RowsRefused, match=reason):
            arrived(sent, measured.rows, change(measured.record))


def test_of_a_record_only_what_is_known_is_kept(small: Benchmark) -> None:
    sent, measured = measured_part(small)
    assert "password" not in arrived(sent, measured.rows, measured.record | {"password": "x"}).record


def test_rows_of_a_sample_arrive_and_those_of_the_first_items_do_not(small: Benchmark) -> None:
    sent, measured = measured_part(small, sample=1)
    (index,) = measured.rows["index"]
    assert index > 0
    assert arrived(sent, measured.rows, measured.record).rows["index"].tolist() == [index]
    _, first = measured_part(small, "masked", limit=1)
    with pytest.raises(RowsRefused, match="'index' differs"):
        arrived(sent, first.rows, measured.record)


def test_rows_behind_examples_arrive_and_must_name_those_that_were_drawn(small: Benchmark) -> None:
    sent, measured = measured_part(small, options={"few_shot": 1})
    pd.testing.assert_frame_equal(arrived(sent, measured.rows, measured.record).rows, measured.rows)
    others = measured.rows.assign(demonstrations=[[99]] * len(measured.rows))
    with pytest.raises(RowsRefused, match="'demonstrations' differs"):
        arrived(sent, others, measured.record)


def test_shares_with_generic_subjects_arrive_and_must_be_there_for_every_option(small: Benchmark) -> None:
    sent, measured = measured_part(small, options={"generic_subjects": "it, P36: the town"})
    pd.testing.assert_frame_equal(arrived(sent, measured.rows, measured.record).rows, measured.rows)
    short = measured.rows.assign(generic=[[1.0]] * len(measured.rows))
    with pytest.raises(RowsRefused, match="another length than the options"):
        arrived(sent, short, measured.record)
