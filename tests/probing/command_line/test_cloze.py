"""The command line on LAMA's files: filling a mask against closed answer spaces."""

import json
from pathlib import Path

import pytest

from probing.__main__ import main
from probing.results.result import Result
from tests.tiny_models import build_bert

CAPITALS = {"Norway": "Oslo", "Kenya": "Nairobi", "Ecuador": "Quito", "Chad": "Africa"}
WAYS = {
    "open": ["--set", "k=1"],
    "closed": ["--set", "k=1", "--set", "closed=true"],
    "statements": ["--probe", "multiple_choice"],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The same questions in LM-PUB-QUIZ's three ways."""
    folder = tmp_path_factory.mktemp("lama")
    (folder / "relations.jsonl").write_text('{"relation": "P36", "template": "The capital of [X] is [Y] ."}')
    lines = [json.dumps({"sub_label": subject, "obj_label": name}) for subject, name in CAPITALS.items()]
    (folder / "P36.jsonl").write_text("\n".join(lines))
    model, out = build_bert(folder / "model"), folder / "out"
    for name, options in WAYS.items():
        assert main(["run", str(model), "--benchmark", str(folder), *options, "--out", str(out / name)]) == 0
    return {name: str(out / name) for name in WAYS}


def test_all_three_ways_answer_the_same_items(results: dict[str, str]) -> None:
    rows = {name: Result.load(Path(folder)).items for name, folder in results.items()}
    assert all(list(items["answer_label"]) == list(CAPITALS.values()) for items in rows.values())
    assert set(rows["closed"]["prediction_label"]) <= set(CAPITALS.values())
    assert set(rows["statements"]["prediction_label"]) <= set(CAPITALS.values())


@pytest.mark.parametrize("other", ["closed", "statements"])
def test_filling_the_mask_is_compared_with_a_closed_answer_space(
    other: str, results: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["compare", results["open"], results[other]]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.count("(cloze, k=1") + head.count("(multiple_choice)") == 2
    (figures,) = [line.split() for line in lines if "P36" in line]
    first, second = (Result.load(Path(results[name])).items["correct"] for name in ("open", other))
    assert [float(each) for each in figures[1:4]] == [4, first.mean(), second.mean()]
