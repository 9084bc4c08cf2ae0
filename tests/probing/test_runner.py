"""The runner: complete results, resumption, and what run.json says."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import probing
from probing.benchmark import Benchmark
from probing.errors import BadInput, BrokenTokenizer, Incomplete, ModelNotFound, NonFiniteScores
from probing.kinds import Kind
from probing.language_model import ModelCard
from probing.part_runner import probe_part
from probing.plan import Part, Plan, plan_of
from probing.results.joining import merged
from probing.results.result import Result
from probing.results.run_json import Start
from probing.runner import run
from probing.settings import Settings
from probing.time_left import Length, WorkEstimate, estimate_work
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, FakeModel
from tests.tiny_models import build_bert


def test_it_returns_scores_and_items(benchmark: Benchmark, model: FakeModel) -> None:
    result = run(model, benchmark, progress=False)
    assert len(result.items) == 6
    accuracy = result.scores[(result.scores.metric == "accuracy") & (result.scores.dimension == "overall")]
    assert accuracy["value"].item() == result.items["correct"].mean()


def test_the_package_offers_it_by_name() -> None:
    assert probing.run is run
    with pytest.raises(AttributeError, match="has no attribute 'walk'"):
        _ = probing.walk


def test_a_model_that_knows_the_answers_is_right(benchmark: Benchmark) -> None:
    model = FakeModel(knows=["Chad is located in Africa.", "Egypt is located in Africa."])
    items = run(model, benchmark, relations="P30", limit=2, progress=False).items
    assert items["correct"].to_list() == [True, True]


def test_it_writes_a_result_folder_and_clears_up(bear_folder: BearFolder, model: FakeModel, tmp_path: Path) -> None:
    result = run(model, bear_folder.write(), out=tmp_path / "out", templates=(), progress=False)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"items.parquet", "scores.csv", "run.json"}
    assert not (tmp_path / "out.partial").exists()
    assert Result.load(tmp_path / "out").record == json.loads(json.dumps(result.record))


def test_the_folder_may_be_the_one_we_are_in(
    benchmark: Benchmark, model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    run(model, benchmark, out=".", progress=False)
    assert (tmp_path / "here" / "run.json").is_file()


def test_the_record_says_how_the_numbers_came_about(benchmark: Benchmark, model: FakeModel) -> None:
    record = run(model, benchmark, templates=(0, 1), seed=3, progress=False).record
    assert record["model"]["id"] == "fake/hash"
    assert record["model"]["commit"] == "0" * 40
    assert record["model"]["files"] == {"weights": "1" * 64}
    identity = {"slug": "small", "version": benchmark.version, "digest": benchmark.digest}
    assert record["benchmark"] == identity | {"first_letters": "upper case"}
    assert (record["probe"], record["seed"], record["language"]) == ("multiple_choice", 3, "")
    assert record["settings"]["templates"] == [0, 1]
    assert {"python", "torch", "transformers"} <= record["packages"].keys()
    assert (record["device"], record["dtype"], record["batch"]["tokens"]) == ("cpu", "float32", 1024)
    assert record["start"] <= record["end"]
    assert record["timing"].keys() == {"load_seconds", "score_seconds"}
    assert (record["statements"], record["items_done"], record["items_skipped"]) == (2 * (4 * 3 + 2 * 2), 12, [])
    assert record["positions"] > 0
    assert record["peak_memory"]["process"] > 10_000_000


def test_an_interrupted_run_goes_on_and_repeats_nothing(benchmark: Benchmark, tmp_path: Path) -> None:
    whole = run(FakeModel(), benchmark, templates=(), progress=False)
    with pytest.raises(KeyboardInterrupt):
        run(FakeModel(fails_after=30), benchmark, out=tmp_path / "out", templates=(), progress=False)
    assert not (tmp_path / "out").exists()
    assert len(list((tmp_path / "out.partial").glob("*.parquet"))) == 2

    model = FakeModel()
    result = run(model, benchmark, out=tmp_path / "out", templates=(), progress=False)
    assert model.usage.statements == whole.record["statements"] - 2 * 12
    assert result.record["statements"] == whole.record["statements"]
    result.save(tmp_path / "resumed")
    whole.save(tmp_path / "whole")
    assert (tmp_path / "resumed/items.parquet").read_bytes() == (tmp_path / "whole/items.parquet").read_bytes()


def test_a_resumed_run_keeps_the_notes_of_its_first_process(benchmark: Benchmark, tmp_path: Path) -> None:
    first = FakeModel(fails_after=12)
    first.usage.notes += ["scored with the reference implementation", "halved"]
    with pytest.raises(KeyboardInterrupt):
        run(first, benchmark, out=tmp_path / "out", progress=False)
    second = FakeModel()
    second.usage.notes += ["halved", "halved again"]
    record = run(second, benchmark, out=tmp_path / "out", progress=False).record
    assert record["batch"]["notes"] == ["scored with the reference implementation", "halved", "halved again"]


def test_the_records_of_parts_from_several_processes_are_joined() -> None:
    def part(start: str, end: str, memory: dict[str, int], load: float, *notes: str) -> dict:
        return {
            "device": f"cuda:{start}",
            "start": start,
            "end": end,
            "batch": {"tokens": int(end), "notes": list(notes)},
            "timing": {"load_seconds": load, "score_seconds": 0.5},
            "peak_memory": memory,
            **dict.fromkeys(("statements", "positions", "padding", "items_done"), 2),
        }

    parts = [part("1", "4", {"process": 9}, 0.25, "b"), part("0", "2", {"process": 5, "device": 7}, 2, "a")]
    record = merged([*parts, part("0", "3", {"process": 6, "device": 8}, 2, "a", "c")])
    assert (record["start"], record["end"], record["batch"]) == ("0", "4", {"tokens": 4, "notes": ["a", "c", "b"]})
    assert record["device"] == "cuda:0, cuda:1"
    assert record["timing"] == {"load_seconds": 2.25, "score_seconds": 1.5}, "each process loads once"
    assert record["peak_memory"] == {"process": 9, "device": 8}
    assert [record[name] for name in ("statements", "positions", "padding", "items_done")] == [6] * 4


def test_parts_of_other_settings_or_another_model_are_never_mixed_in(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FakeModel(fails_after=12), benchmark, out=tmp_path / "out", progress=False)
    with pytest.raises(BadInput, match="parts of a different run"):
        run(FakeModel(), benchmark, out=tmp_path / "out", progress=False, reduction="mean")
    other = FakeModel(replace(FAKE_CARD, files={"weights": "2" * 64}))
    with pytest.raises(BadInput, match="parts of a different run"):
        run(other, benchmark, out=tmp_path / "out", progress=False)


def test_a_model_that_says_nothing_of_its_weights_starts_anew(benchmark: Benchmark, tmp_path: Path) -> None:
    card = ModelCard(id="mine", kind="causal", architecture="", parameters=0)
    with pytest.raises(KeyboardInterrupt):
        run(FakeModel(card, fails_after=12), benchmark, out=tmp_path / "out", progress=False)
    model = FakeModel(card)
    run(model, benchmark, out=tmp_path / "out", progress=False)
    assert model.usage.statements == 16


def test_the_same_finished_run_is_returned_and_not_measured_again(
    benchmark: Benchmark, model: FakeModel, tmp_path: Path
) -> None:
    first = run(model, benchmark, out=tmp_path / "out", progress=False)
    again = FakeModel(fails_after=0)
    result = run(again, benchmark, out=tmp_path / "out", progress=False)
    assert again.usage.statements == 0
    assert result.record == json.loads(json.dumps(first.record))
    pd.testing.assert_frame_equal(result.scores, first.scores)


def test_the_files_of_a_model_tell_that_its_run_is_finished_before_it_is_loaded(
    benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*_: Any, **__: Any) -> None:
        raise ModelNotFound("It is loaded.", "")

    folder, out = build_bert(tmp_path / "model"), tmp_path / "out"
    first = run(str(folder), benchmark, out=out, progress=False)
    monkeypatch.setattr(probing, "load", load)
    assert run(str(folder), benchmark, out=out, progress=False).record == json.loads(json.dumps(first.record))
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n", encoding="utf-8")
    with pytest.raises(ModelNotFound, match="It is loaded"):
        run(str(folder), benchmark, out=out, progress=False)


OTHER_RUNS: dict[str, tuple[FakeModel, dict[str, Any], str]] = {
    "settings": (
        FakeModel(),
        {"sample": 1, "reduction": "mean"},
        r"out exists already and holds another run \(sample: not set and 1; reduction: sum and mean\)\. Choose another",
    ),
    "tokens": (FakeModel(), {"keep_tokens": True}, r"out exists already, without the scores of single tokens\."),
    "model": (FakeModel(replace(FAKE_CARD, commit="1" * 40)), {}, r"\(commit: 0{40} and 1{40}\)"),
    "dtype": (FakeModel(dtype="bfloat16"), {}, r"\(dtype: float32 and bfloat16\)"),
}


@pytest.mark.parametrize("case", OTHER_RUNS)
def test_another_finished_run_is_not_overwritten_and_the_difference_is_named(
    benchmark: Benchmark, model: FakeModel, tmp_path: Path, case: str
) -> None:
    run(model, benchmark, out=tmp_path / "out", progress=False)
    other, arguments, sentence = OTHER_RUNS[case]
    with pytest.raises(BadInput, match=sentence):
        run(other, benchmark, out=tmp_path / "out", progress=False, **arguments)


def test_a_network_of_unknown_weights_is_no_finished_run_of_any_folder(benchmark: Benchmark, tmp_path: Path) -> None:
    nameless = replace(FAKE_CARD, commit="", files={})
    run(FakeModel(nameless), benchmark, out=tmp_path / "out", progress=False)
    with pytest.raises(BadInput, match="does not say whether its weights are still the same"):
        run(FakeModel(nameless), benchmark, out=tmp_path / "out", progress=False)


def test_what_is_no_result_is_not_overwritten(benchmark: Benchmark, model: FakeModel, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(BadInput, match="exists already"):
        run(model, benchmark, out=tmp_path, progress=False)


def test_a_model_that_answers_too_little_gives_no_result(benchmark: Benchmark) -> None:
    class Lazy(FakeModel):
        def score(self, asked, scoring):  # type: ignore[no-untyped-def]
            yield from list(super().score(asked, scoring))[:1]

    with pytest.raises(Incomplete, match="answered 1 of 4 items of P30, template 0"):
        run(Lazy(), benchmark, progress=False)


def test_scores_that_are_no_numbers_give_no_result(benchmark: Benchmark, tmp_path: Path) -> None:
    class Broken(FakeModel):
        def _tokens(self, statement):  # type: ignore[no-untyped-def]
            return super()._tokens(statement) * float("nan")

    with pytest.raises(NonFiniteScores, match="P30, item 0, template 0"):
        run(Broken(), benchmark, out=tmp_path / "out", progress=False)
    assert not (tmp_path / "out").exists()


def test_progress_of_a_part_is_told_as_a_share(benchmark: Benchmark, model: FakeModel) -> None:
    heard: list[float] = []
    part = Part("P30", 0, 4)
    run(model, benchmark, progress=False)  # what was done before does not count
    work = estimate_work(plan_of(benchmark, Settings()), part, "causal")
    probe_part(model, plan_of(benchmark, Settings()), part, work=work, on_share=heard.append)
    assert heard == pytest.approx([0.25, 0.5, 0.75, 1, 1])


def test_the_work_of_each_part_is_estimated_once(
    benchmark: Benchmark, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimated: list[Part] = []

    def count(plan: Plan, part: Part, kind: Kind, length: Length) -> WorkEstimate:
        estimated.append(part)
        return estimate_work(plan, part, kind)

    monkeypatch.setattr("probing.time_left.estimate_work", count)
    run(model, benchmark, templates=(), progress=False)
    assert tuple(estimated) == plan_of(benchmark, Settings(templates=())).parts


def test_a_part_has_its_record_and_keeps_to_the_limit_or_to_the_sample_of_the_whole_run(
    benchmark: Benchmark, model: FakeModel
) -> None:
    part, start = Part("P36", 0, 2), Start(datetime(2026, 11, 1, tzinfo=UTC), 2.5)
    record = probe_part(model, plan_of(benchmark, Settings()), part, start=start).record
    assert (record["start"], record["timing"]["load_seconds"]) == ("2026-11-01T00:00:00+00:00", 2.5)
    assert (record["statements"], record["items_done"]) == (4, 2)
    rows, record = probe_part(model, plan_of(benchmark, Settings(limit=2)), Part("P30", 0, 2))
    assert (len(rows), record["items_done"]) == (2, 2)
    rows, record = probe_part(model, plan_of(benchmark, Settings(sample=1)), Part("P36", 0, 1))
    assert rows["index"].tolist() == middle(benchmark)[1:]
    assert record["items_done"] == 1


def test_a_single_relation_and_a_single_template_are_enough(benchmark: Benchmark, model: FakeModel) -> None:
    settings = run(model, benchmark, relations="P36", templates=1, progress=False).record["settings"]
    assert (settings["relations"], settings["templates"]) == (["P36"], [1])


def test_a_model_that_is_not_there_is_bad_input(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        run(tmp_path / "nowhere", benchmark, progress=False)


def test_a_panic_of_the_tokenizers_library_is_an_error_of_the_tokenizer(bear_folder: BearFolder) -> None:
    class PanicException(BaseException):
        """Stands for the class that Rust libraries raise, which cannot be imported."""

    class Panicking(FakeModel):
        def score(self, requests: object, scoring: object) -> Any:
            raise PanicException("Onig: Regex search error: retry-limit-in-match over")

    with pytest.raises(BrokenTokenizer, match="fails on a text: Onig: Regex search error"):
        run(Panicking(), bear_folder.write(), progress=False)


def middle(benchmark: Benchmark) -> list[int]:
    """The items that a sample of one takes of each relation: no first ones."""
    return [item.index for relation in benchmark.select(sample=1).relations for item in relation.items]


def test_a_sample_is_probed_and_told_as_one_and_first_items_as_none(model: FakeModel, benchmark: Benchmark) -> None:
    result = run(model, benchmark, sample=1, templates=(0, 1), progress=False)
    assert result.items["index"].tolist() == [index for index in middle(benchmark) for _ in range(2)]
    assert 0 not in middle(benchmark)
    assert result.record["settings"]["sample"] == 1
    assert result.record["benchmark_notes"] == [
        "A sample of at most 1 items of each relation was asked, spread evenly over its file."
    ]
    (note,) = run(model, benchmark, limit=1, progress=False).record["benchmark_notes"]
    assert "This is no fair sample" in note
