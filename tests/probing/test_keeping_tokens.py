"""Runs that keep the scores of single tokens: the same numbers, whichever model, and however often interrupted."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.results.token_scores import read_tokens
from probing.runner import run
from tests.fakes import FakeModel
from tests.tiny_models import build_bert, build_gpt2

OPTION = ["relation", "template", "index", "option"]


def tokens_of(folder: Path) -> pd.DataFrame:
    return pd.concat(read_tokens(folder / "tokens.parquet"), ignore_index=True)


def sums_of(tokens: pd.DataFrame) -> list[float]:
    """Return the sum over each option's tokens, in stored order."""
    return tokens.groupby(OPTION, sort=False)["log_prob"].sum().tolist()


def stored_sums(items: pd.DataFrame) -> list[float]:
    return [score for scores in items["scores"] for score in scores]


@pytest.mark.slow
@pytest.mark.parametrize("build", [build_gpt2, build_bert])
@pytest.mark.parametrize("template", ["[X] is located in [Y].", "[Y] is where [X] is.", "Of [X], the [Y]"])
def test_tokens_add_up_to_the_scores_and_spell_the_statements(
    build: Callable[[Path], Path], template: str, bear_folder, tmp_path: Path
) -> None:
    bear_folder.metadata["P30"]["templates"] = [template]
    bear_folder.lines["P30"].append({"sub_label": "the river Čapek", "answer_idx": 1})
    model, given = str(build(tmp_path / "tiny")), {"relations": "P30", "device": "cpu", "progress": False}
    plain = run(model, bear_folder.write(), **given)
    kept = run(model, bear_folder.path, out=tmp_path / "out", keep_tokens=True, **given)
    pd.testing.assert_frame_equal(kept.items, plain.items)
    assert kept.record["settings_digest"] == plain.record["settings_digest"]
    tokens = tokens_of(tmp_path / "out")
    np.testing.assert_allclose(sums_of(tokens), stored_sums(plain.items), rtol=1e-6)
    options = ["Africa", "Asia", "Europe"]
    for (_, _, index, option), own in tokens.groupby(OPTION, sort=False):
        row = plain.items[plain.items["index"] == index].iloc[0]
        assert own["position"].tolist() == list(range(len(own)))
        parts = {role: "".join(part["token"]) for role, part in own.groupby("role")}
        assert options[option] in parts["answer"]
        assert row["subject"].replace(" ", "") in parts["subject"].replace(" ", "") or row["subject"][0].islower()


def test_an_interrupted_run_keeps_the_tokens_of_its_parts(benchmark: Benchmark, tmp_path: Path) -> None:
    given = {"templates": (), "progress": False, "keep_tokens": True}
    run(FakeModel(), benchmark, out=tmp_path / "whole", **given)
    with pytest.raises(KeyboardInterrupt):
        run(FakeModel(fails_after=30), benchmark, out=tmp_path / "out", **given)
    model = FakeModel()
    run(model, benchmark, out=tmp_path / "out", **given)
    assert model.usage.statements == 3 * 16 - 2 * 12, "nothing is repeated"
    assert (tmp_path / "out/tokens.parquet").read_bytes() == (tmp_path / "whole/tokens.parquet").read_bytes()
    assert not (tmp_path / "out.partial").exists()


def test_parts_that_were_finished_without_tokens_are_measured_again(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FakeModel(fails_after=12), benchmark, out=tmp_path / "out", progress=False)
    result = run(FakeModel(), benchmark, out=tmp_path / "out", progress=False, keep_tokens=True)
    np.testing.assert_allclose(sums_of(tokens_of(tmp_path / "out")), stored_sums(result.items), rtol=1e-6)


def test_a_run_without_tokens_goes_on_from_parts_that_have_them(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FakeModel(fails_after=12), benchmark, out=tmp_path / "out", progress=False, keep_tokens=True)
    model = FakeModel()
    run(model, benchmark, out=tmp_path / "out", progress=False)
    assert model.usage.statements == 4
    assert not (tmp_path / "out/tokens.parquet").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "kept in a result folder"),
        ({"probe": "similarity"}, "similarity has no options with tokens"),
        ({"decide": True}, "With --decide not all tokens are scored"),
    ],
)
def test_tokens_that_cannot_be_kept_are_refused_before_the_run(
    benchmark: Benchmark, tmp_path: Path, more: dict, words: str
) -> None:
    out = {"out": tmp_path / "out"} if more else {}
    with pytest.raises(BadInput, match=words):
        run(FakeModel(), benchmark, progress=False, keep_tokens=True, **out, **more)
    assert not (tmp_path / "out.partial").exists()
