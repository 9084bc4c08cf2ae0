"""Studies: each pair as a run measures it, each model loaded once, and what is finished is kept."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import probing
from probing import runner
from probing.errors import BadInput
from probing.settings import Settings
from probing.studies.study_results import PAIR_COLUMNS, Pair
from tests.fakes import FakeModel
from tests.tiny_models import build_bert, build_gpt2

MODELS = ["org/plain", "org/clever"]


def test_each_pair_has_the_result_of_a_run_and_each_model_is_loaded_once(
    loaded: list[str], folders: list[str], tmp_path: Path
) -> None:
    study = probing.study(MODELS, folders, out=tmp_path / "out", progress=False)
    assert loaded == MODELS
    assert list(study.folders) == [Pair(model, name) for model in MODELS for name in ("small", "other")]
    single = probing.run(FakeModel(knows=["Chad is located in Africa."]), folders[1], progress=False)
    pair = study.result("org/clever", "other")
    pd.testing.assert_frame_equal(pair.scores, single.scores)
    assert study.folders[Pair("org/clever", "other")] == tmp_path / "out" / "org--clever" / "other"


def test_scores_of_all_pairs_are_one_tidy_table_on_disk(loaded: list[str], folders: list[str], tmp_path: Path) -> None:
    study = probing.study(["org/clever"], folders, out=tmp_path / "out", progress=False)
    assert list(study.scores.columns[:5]) == PAIR_COLUMNS
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out/study.parquet"), study.scores, check_dtype=False)
    assert len(pd.read_csv(tmp_path / "out/study.csv")) == len(study.scores)
    table = study.table.set_index(["model", "benchmark"])
    assert len(table) == 2 and set(table["metric"]) == {"accuracy"}
    right = study.result("org/clever", "small").items["correct"].mean()
    assert table.loc[("org/clever", "small"), "value"] == pytest.approx(right)
    assert "<td>org/clever</td>" in study._repr_html_()


def test_entries_that_differ_in_a_seed_alone_have_their_mean_and_spread(
    loaded: list[str], folders: list[str], tmp_path: Path
) -> None:
    entries = [{"benchmark": folders[0], "name": f"small-seed{seed}", "sample": 1, "seed": seed} for seed in (1, 2)]
    study = probing.study(["org/clever"], entries, out=tmp_path / "out", progress=False)
    (row,) = study.replicates.to_dict("records")
    assert (row["model"], row["benchmark"], row["metric"], row["runs"]) == ("org/clever", "small", "accuracy", 2)
    assert row["mean"] == pytest.approx(study.table["value"].mean())


def test_networks_are_loaded_from_folders_and_named_by_them(folders: list[str], tmp_path: Path) -> None:
    models = [str(build(tmp_path / "models" / name)) for name, build in (("a", build_gpt2), ("b", build_bert))]
    quiet: dict[str, Any] = {"progress": False, "device": "cpu", "batch_tokens": 512, "relations": "P36"}
    study = probing.study(models, folders[:1], out=tmp_path / "out", **quiet)
    assert not study.failures
    pd.testing.assert_frame_equal(study.result("a", "small").items, probing.run(models[0], folders[0], **quiet).items)
    assert study.result("b", "small").record["model"]["kind"] == "masked"


def test_how_tokens_are_hidden_may_stand_with_a_benchmark_that_models_of_all_kinds_are_asked(
    folders: list[str], tmp_path: Path
) -> None:
    models = [str(build(tmp_path / "models" / name)) for name, build in (("a", build_gpt2), ("b", build_bert))]
    quiet: dict[str, Any] = {"progress": False, "device": "cpu", "batch_tokens": 512, "relations": "P36"}
    entry = {"benchmark": folders[0], "pll": "original"}
    for _ in ("measured", "found again"):
        study = probing.study(models, [entry], out=tmp_path / "out", **quiet)
        assert not study.failures
    causal, masked = (study.result(name, "small").record for name in ("a", "b"))
    assert (causal["settings"]["pll"], masked["settings"]["pll"]) == (Settings.pll, "original")
    plain = probing.run(models[0], folders[0], **quiet).record
    assert (causal["settings"], causal["settings_digest"]) == (plain["settings"], plain["settings_digest"])
    (failure,) = probing.study(models, folders[:1], out=tmp_path / "all", pll="original", **quiet).failures.values()
    assert "pll does nothing" in failure


def test_a_study_goes_on_where_it_was_interrupted(
    loaded: list[str],
    folders: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    probe_part = runner.probe_part
    parts: list[tuple[str, str, str]] = []

    def interrupted(model: Any, plan: Any, part: Any, **options: Any) -> Any:
        if len(parts) == 5:
            raise KeyboardInterrupt
        parts.append((model.card.id, plan.benchmark.slug, part.relation))
        return probe_part(model, plan, part, **options)

    monkeypatch.setattr(runner, "probe_part", interrupted)
    with pytest.raises(KeyboardInterrupt):
        probing.study(MODELS, folders, out=tmp_path / "out")
    assert parts[-1] == ("org/clever", "small", "P30")
    parts.insert(0, ("before", "", ""))
    capsys.readouterr()
    probing.study(MODELS, folders, out=tmp_path / "out")
    assert parts[6:] == [("org/clever", "small", "P36"), ("org/clever", "other", "P30"), ("org/clever", "other", "P36")]
    assert loaded == ["org/plain", "org/clever", "org/clever"], "a finished model is not loaded again"
    first, *others = capsys.readouterr().err.splitlines()
    assert first == "2 of 4 pairs are measured already."
    assert [line.split(": ")[0] for line in others] == ["org/clever on small", "org/clever on other"]
    assert [line.split()[-3:] for line in others] == [["(3", "of", "4)"], ["(4", "of", "4)"]]


def test_a_model_that_fails_is_tried_once_and_does_not_keep_the_others_back(
    loaded: list[str], folders: list[str], tmp_path: Path
) -> None:
    study = probing.study(["no/such", "org/plain"], folders, out=tmp_path / "out", progress=False)
    assert loaded == ["no/such", "org/plain"]
    assert [pair.model for pair in study.folders] == ["org/plain", "org/plain"]
    reason = "There is no public model no/such. Check the name."
    assert study.failures == {Pair("no/such", "small"): reason, Pair("no/such", "other"): reason}
    assert set(study.scores["model"]) == {"org/plain"}


def test_settings_of_a_model_come_before_those_of_a_benchmark_and_these_before_those_of_all(
    loaded: list[str], folders: list[str], tmp_path: Path
) -> None:
    models = ["org/plain", {"model": "org/plain", "name": "half", "dtype": "bfloat16", "limit": 1}]
    benchmarks = [folders[0], {"benchmark": folders[1], "limit": 2}]
    study = probing.study(models, benchmarks, out=tmp_path / "out", progress=False, limit=3)
    records = {pair: study.result(*pair).record for pair in study.folders}
    settings = {pair: (record["settings"]["limit"], record["dtype"]) for pair, record in records.items()}
    assert settings == {
        Pair("org/plain", "small"): (3, "float32"),
        Pair("org/plain", "other"): (2, "float32"),
        Pair("half", "small"): (1, "bfloat16"),
        Pair("half", "other"): (1, "bfloat16"),
    }
    assert (tmp_path / "out" / "half" / "small" / "run.json").is_file()


def test_an_option_of_a_probe_is_for_the_benchmarks_that_are_asked_with_it(
    loaded: list[str], folders: list[str], tmp_path: Path
) -> None:
    arguments: dict[str, Any] = {"out": tmp_path / "out", "progress": False, "sample": 1}
    study = probing.study(["org/plain"], [folders[0], "pairs"], prompting="cascade", **arguments)
    options = {pair.benchmark: study.result(*pair).record["settings"]["options"] for pair in study.folders}
    assert options["small"] == {} and options["pairs"]["prompting"] == "cascade"
    with pytest.raises(BadInput, match="No probe of this study has the option 'prompting'"):
        probing.study(["org/plain"], folders[:1], prompting="cascade", **arguments)


def test_a_result_of_another_run_in_the_folder_is_refused_before_anything_is_measured(
    loaded: list[str], folders: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    probing.study(["org/plain"], folders[1:], out=out, progress=False)
    for arguments, reason in [
        ({"limit": 1}, r"holds another run \(limit: not set and 1\)"),
        ({"dtype": "float16"}, "another model, commit or number format"),
        ({"commit": "abc"}, "another model, commit or number format"),
        ({"keep_tokens": True}, "without the scores of single tokens"),
    ]:
        with pytest.raises(BadInput, match=reason):
            probing.study(["org/plain"], folders, out=out, progress=False, **arguments)
    assert loaded == ["org/plain"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"models": []}, "names no model"),
        ({"models": 3}, "models cannot be 3"),
        ({"models": [None]}, "None is no model"),
        ({"models": [{"name": "x"}]}, "{'name': 'x'} names no model. Give it the key 'model'."),
        ({"models": [{"model": 3}]}, "3 is no model. Give its name as text"),
        ({"models": [{"model": "a", "name": "../x"}]}, "cannot be the name of a model"),
        ({"models": ["a", {"model": "a", "dtype": "float16"}]}, "Two models of the study have the same name"),
        ({"models": ["org/a", "org--a"]}, "Two models of the study have the same name"),
        ({"benchmarks": []}, "names no benchmark"),
        ({"benchmarks": ["nothing-there"]}, "nothing-there"),
        ({"benchmarks": ["pairs", "pairs"]}, "Two benchmarks of the study have the same name"),
        ({"benchmarks": [{"benchmark": "pairs", "device": "cpu"}]}, "A benchmark has no setting 'device'"),
        ({"benchmarks": [{"benchmark": "pairs", "relatoins": ["x"]}]}, "Did you mean 'relations'?"),
        ({"out": None}, "needs a folder"),
        ({"keep_tokens": "yes"}, "keep_tokens cannot be 'yes'"),
        ({"smaple": 3}, "Did you mean 'sample'?"),
        ({"batch_tokens": 0}, "Batches cannot hold 0 tokens"),
        ({"sample": "3"}, "sample cannot be '3'"),
    ],
)
def test_bad_arguments_are_told_before_anything_is_loaded(
    arguments: dict[str, Any], reason: str, loaded: list[str], tmp_path: Path
) -> None:
    usual: dict[str, Any] = {"models": ["org/plain"], "benchmarks": ["pairs"], "out": tmp_path / "out"}
    with pytest.raises(BadInput, match=reason.replace("?", r"\?")):
        probing.study(**usual | arguments)
    assert not loaded and not (tmp_path / "out").exists()


def test_a_pair_that_was_not_measured_is_told(loaded: list[str], folders: list[str], tmp_path: Path) -> None:
    study = probing.study(["org/plain"], folders[:1], out=tmp_path / "out", progress=False)
    with pytest.raises(BadInput, match=r"no result of org/plain on pairs\. It has: org/plain on small"):
        study.result("org/plain", "pairs")
