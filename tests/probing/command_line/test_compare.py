"""The command compare: what another model lost and gained, by results and by files of other programs."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from probing.__main__ import main
from probing.analysis.paired_tests import compare
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.probes.perplexity import Perplexity
from probing.results.result import Result
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, FakeModel
from tests.probing.command_line.helpers import complaint, printed_by, refusal, use
from tests.tiny_models import build_bert

CAPITALS = {"Norway": "Oslo", "Kenya": "Nairobi", "Ecuador": "Quito", "Chad": "Africa"}
WAYS = {
    "open": ["--set", "k=1"],
    "closed": ["--set", "k=1", "--set", "closed=true"],
    "statements": ["--probe", "multiple_choice"],
}


@pytest.fixture
def samples(tmp_path: Path) -> Callable[..., str]:
    """Write samples as the harness does for questions with two options, the first of which is right."""

    def write(
        name: str,
        tasks: dict[str, list[float]],
        metric: str = "acc",
        filters: tuple[str, ...] = ("none",),
        scores: dict[int, list[float]] | None = None,
        question: str = "Question",
    ) -> str:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        options = scores or {1: [-1.0, -2.0], 0: [-2.0, -1.0]}
        requests = [f"{question} {{}}", " yes"], [f"{question} {{}}", " no"]
        for task, rights in tasks.items():
            lines = [
                {
                    "doc_id": number,
                    "target": "0",
                    "arguments": {
                        f"gen_args_{place}": {"arg_0": text.format(number), "arg_1": option}
                        for place, (text, option) in enumerate(requests)
                    },
                    "filtered_resps": [[str(score), "False"] for score in options.get(int(right), options[0])],
                    "filter": filter_name,
                    "metrics": [metric],
                    "doc_hash": f"{question} {number}",
                    metric: right,
                }
                for filter_name in filters
                for number, right in enumerate(rights)
            ]
            file = folder / f"samples_{task}_2026-11-28T20-43-00.607086.jsonl"
            file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        return str(folder)

    return write


def graph() -> Benchmark:
    return open_benchmark("graph")


def test_compare_prints_paired_differences(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["compare", *results]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("B has the same score (")
    assert printed.splitlines()[0].endswith("): cannot be told apart, as both are right and wrong on the same items.")
    assert "\nB lost 0 facts that A has, and gained 0.\n0.0 % of the answers changed (0 of 6).\n" in printed
    assert re.search(r"KL divergence from A to B over the options: 0\.\d{4} nats, the mean over 6 answers\.\n", printed)


def test_compare_says_which_difference_can_be_told_apart_and_on_how_many_rows(
    folder: str, results: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truths = ["Chad is located in Africa.", "Japan is located in Asia.", "Norway is located in Europe."]
    use(monkeypatch, FakeModel(knows=truths))
    knowing = str(tmp_path / "knowing")
    assert main(["run", "fake", "--benchmark", folder, "--relation", "P30", "--out", knowing]) == 0
    capsys.readouterr()
    assert main(["compare", results[0], knowing]) == 0
    printed = capsys.readouterr().out
    sentence = r"B knows \S+ points more \(\S+ to \S+\): cannot be told apart; differences of \S+ points would be\."
    assert re.fullmatch(sentence, printed.splitlines()[0])
    assert "\nResults of 6 and 4 rows are compared on the 4 that all of them have.\n" in printed


def test_compare_says_in_what_the_runs_differ(
    folder: str, results: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel(replace(FAKE_CARD, id="fake/other", commit="2" * 40), device="cuda:0"))
    other = str(tmp_path / "other")
    arguments = ["--benchmark", folder, "--reduction", "mean", "--set", "generic_subjects=it", "--out", other]
    assert main(["run", "fake", *arguments]) == 0
    capsys.readouterr()
    assert main(["compare", *results]) == 0
    assert "What differs between the A and the B run: nothing that is recorded.\n" in capsys.readouterr().out
    assert main(["compare", results[0], other]) == 0
    _, words = capsys.readouterr().out.split("What differs between the A and the B run: ")
    assert words.split(".\n")[0].split("; ") == [
        "model: fake/hash and fake/other",
        f"commit: {'0' * 40} and {'2' * 40}",
        "reduction: sum and mean",
        "generic subjects: not set and it",
        "device: cpu and cuda:0",
    ]


def test_compare_refuses_one_result_in_two_spellings(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["compare", results[0], f"{results[0]}/"]) == 2
    assert "A and B are both" in complaint(capsys)


def test_perplexity_results_are_compared_by_superiority_and_ranks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = []
    for number, known in enumerate(([], [i.subject for r in graph().relations for i in r.items][:200])):
        use(monkeypatch, FakeModel(knows=known))
        folders.append(str(tmp_path / str(number)))
        assert main(["run", "fake", "--benchmark", "graph", "--out", folders[-1]]) == 0
    capsys.readouterr()
    assert main(["compare", *folders]) == 0
    printed = capsys.readouterr().out
    assert "finds the true sentence more plausible" in printed.splitlines()[0]
    (overall,) = (line.split() for line in printed.splitlines() if line.split()[:2] == ["overall", "all"])
    for shown, folder in zip(overall[3:5], folders, strict=True):
        scores = Result.load(folder).scores.set_index(["metric", "dimension"])
        assert float(shown) == pytest.approx(scores.loc[("superiority", "overall"), "value"], abs=1e-3)


def test_a_perplexity_result_is_not_compared_with_one_of_another_probe(results: list[str]) -> None:
    rows = Result.load(results[0]).items
    with pytest.raises(BadInput, match="Not all of these results have perplexities"):
        Perplexity.compare({"first": rows, "second": rows})


def test_compare_refuses_results_on_different_benchmarks(
    results: list[str], bear_folder: BearFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    bear_folder.lines["P30"].pop()
    use(monkeypatch, FakeModel())
    main(["run", "fake", "--benchmark", str(bear_folder.write()), "--out", str(tmp_path / "c")])
    assert main(["compare", results[0], str(tmp_path / "c")]) == 2
    message = complaint(capsys)
    versions = [Result.load(folder).record["benchmark"]["version"] for folder in (results[0], tmp_path / "c")]
    assert "differ in their benchmark" in message
    assert all(version in message for version in versions)


def test_two_results_are_compared_on_the_pairs_that_count(ask, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [ask(prompting) for prompting in ("vanilla", "few-shot")]
    capsys.readouterr()
    assert main(["compare", *folders]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    (overall,) = (row[1:] for row in rows if row[:2] == ["overall", "all"])
    measured = [Result.load(folder).scores.set_index(["metric", "dimension"]) for folder in folders]
    assert int(overall[1]) == measured[0].loc[("specificity", "overall"), "n"]
    for shown, scores in zip(overall[2:4], measured, strict=True):
        assert float(shown) == pytest.approx(scores.loc[("specificity", "overall"), "value"], abs=1e-3)


@pytest.fixture(scope="module")
def answered_in_three_ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The same questions in LM-PUB-QUIZ's three ways."""
    folder = tmp_path_factory.mktemp("lama")
    (folder / "relations.jsonl").write_text('{"relation": "P36", "template": "The capital of [X] is [Y] ."}')
    lines = [json.dumps({"sub_label": subject, "obj_label": name}) for subject, name in CAPITALS.items()]
    (folder / "P36.jsonl").write_text("\n".join(lines))
    model, out = build_bert(folder / "model"), folder / "out"
    for name, options in WAYS.items():
        assert main(["run", str(model), "--benchmark", str(folder), *options, "--out", str(out / name)]) == 0
    return {name: str(out / name) for name in WAYS}


def test_all_three_ways_answer_the_same_items(answered_in_three_ways: dict[str, str]) -> None:
    rows = {name: Result.load(Path(folder)).items for name, folder in answered_in_three_ways.items()}
    assert all(list(items["answer_label"]) == list(CAPITALS.values()) for items in rows.values())
    assert set(rows["closed"]["prediction_label"]) <= set(CAPITALS.values())
    assert set(rows["statements"]["prediction_label"]) <= set(CAPITALS.values())


@pytest.mark.parametrize("other", ["closed", "statements"])
def test_filling_the_mask_is_compared_with_a_closed_answer_space(
    other: str, answered_in_three_ways: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["compare", answered_in_three_ways["open"], answered_in_three_ways[other]]) == 0
    printed = capsys.readouterr().out
    assert ["(cloze, k=1" in line or "(multiple_choice)" in line for line in re.findall("^[AB]: .*", printed, re.M)]
    (figures,) = [line.split() for line in printed.splitlines() if line.split()[:2] == ["overall", "all"]]
    first, second = (Result.load(Path(answered_in_three_ways[name])).items["correct"] for name in ("open", other))
    assert [float(each) for each in figures[2:5]] == [4, first.mean(), second.mean()]


def sides(folder: Path, first: str, second: str, ending: str = "csv") -> list[str]:
    """Write both texts to files, and return their paths."""
    paths = [folder / f"{name}.{ending}" for name in "ab"]
    for path, text in zip(paths, (first, second), strict=True):
        path.write_text(text, encoding="utf-8")
    return [str(path) for path in paths]


def table(correct: Iterable[int], **columns: Iterable[Any]) -> str:
    """Return a CSV table with numbered rows."""
    lines = zip(correct, *columns.values(), strict=True)
    heads = ",".join(["id", "correct", *columns])
    return "\n".join([heads, *(",".join(map(str, [f"q{row}", *line])) for row, line in enumerate(lines))])


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(printed_by(capsys, "compare", *arguments, "--json", "-"))
    return printed


def test_p_of_tables_is_that_of_the_exact_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second result gains 30 of 100 items and loses 15."""
    paths = sides(tmp_path, table([0] * 30 + [1] * 15 + [1] * 55), table([1] * 30 + [0] * 15 + [1] * 55))
    (overall,) = as_json(capsys, *paths)["differences"]
    assert (overall["gained"], overall["lost"]) == (30, 15)
    assert overall["p"] == overall["p_holm"] == pytest.approx(binomtest(15, 45).pvalue, rel=1e-9)
    assert printed_by(capsys, "compare", *paths).startswith("B knows 15 points more (0.9 to 27), p = 0.036.\n")


def test_items_of_one_cluster_count_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each question stands four times in the file, which makes nothing more certain."""
    first, second = [1] * 14 + [0] * 26, [1] * 10 + [0] * 10 + [1] * 20
    names = [f"c{number // 4}" for number in range(160)]
    often = [[right for right in side for _ in range(4)] for side in (first, second)]
    clustered = as_json(capsys, *sides(tmp_path, *(table(side, cluster=names) for side in often)))["differences"][0]
    alone = as_json(capsys, *sides(tmp_path, *(table(side) for side in (first, second))))["differences"][0]
    for name in ("difference", "low", "high", "p", "gained", "lost"):
        assert clustered[name] == pytest.approx(alone[name]), name
    assert (clustered["n"], alone["n"]) == (160, 40)


def test_scores_of_tables_have_their_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = sides(tmp_path, table([1, 0, 1], score=[1, 2, 3]), table([1, 0, 1], score=[2, 4, 3]))
    changes = [1.0, 2.0, 0.0]
    reach = 1.96 * float(np.std(changes, ddof=1)) / 3**0.5
    expected = f"Mean scores 2 and 3, a change of 1 ({1 - reach:.4g} to {1 + reach:.4g})."
    assert expected in as_json(capsys, *paths)["changes"]


def test_facts_lost_and_gained_are_written_as_a_table(
    folder: str, results: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use(monkeypatch, FakeModel(knows=["Chad is located in Africa.", "Japan is located in Asia."]))
    knowing, items = str(tmp_path / "knowing"), tmp_path / "items.csv"
    assert main(["run", "fake", "--benchmark", folder, "--out", knowing]) == 0
    assert main(["compare", results[0], knowing, "--items", str(items), "--json", str(tmp_path / "all.json")]) == 0
    rows = pd.read_csv(items)
    assert list(rows) == ["id", "subject", "answer", "A", "B", "change"]
    whole = json.loads((tmp_path / "all.json").read_text())
    overall = whole["differences"][0]
    assert (rows["change"] == "gained").sum() == overall["gained"] > 0
    assert (rows["change"] == "lost").sum() == overall["lost"]
    assert whole["facts"] == rows.to_dict("records")
    first, second = (Result.load(path).items.set_index(["relation", "index"]) for path in (results[0], knowing))
    for row in rows.itertuples():
        key = row.id.split("/")[0], int(row.id.split("/")[1])
        assert (first.loc[key, "prediction_label"], second.loc[key, "prediction_label"]) == (row.A, row.B)
        assert second.loc[key, "correct"] == (row.change == "gained") != first.loc[key, "correct"]


def test_a_run_with_bounds_has_no_divergence_and_says_so(
    folder: str, results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decided = tmp_path / "decided"
    shutil.copytree(results[0], decided)
    rows = pd.read_parquet(decided / "items.parquet")
    rows["exact"] = [[False] * len(exact) for exact in rows["exact"]]
    rows.to_parquet(decided / "items.parquet")
    printed = printed_by(capsys, "compare", results[1], str(decided))
    assert "upper bounds in place of some scores" in printed
    assert "nats" not in printed


def test_of_many_groups_the_most_certain_ones_are_printed(
    samples: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The second model loses one question in task 1, two in task 2, and so on, and gains none."""
    first = samples("a", {f"t{task}": [1] * 20 for task in range(14)})
    second = samples("b", {f"t{task}": [0] * task + [1] * (20 - task) for task in range(14)})
    printed = printed_by(capsys, "compare", first, second).splitlines()
    tasks = [line.split()[1] for line in printed if line.split()[:1] == ["task"]]
    assert tasks == [f"t{task}" for task in range(13, 4, -1)]
    assert "5 more groups, in which less is certain: --all" in printed
    whole = printed_by(capsys, "compare", first, second, "--all")
    assert sum(line.split()[:1] == ["task"] for line in whole.splitlines()) == 14


def test_samples_of_the_harness_have_their_answers_divergence_and_texts(
    samples: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = samples("a", {"t": [1, 1, 0, 0]}, scores={1: [-1.0, -2.0], 0: [-2.0, -1.0]})
    second = samples("b", {"t": [1, 0, 1, 0]}, scores={1: [-1.0, -3.0], 0: [-3.0, -1.0]})
    whole = as_json(capsys, first, second)
    assert (whole["answers"], whole["changed"], whole["options"]) == (4, 2, 4)
    p, q, turned = (np.exp(each) / np.exp(each).sum() for each in np.array([[-1, -2], [-1, -3], [-3, -1]], float))
    kept, changed = (float((p * np.log(p / other)).sum()) for other in (q, turned))
    assert whole["divergence"] == pytest.approx((kept + changed) / 2)
    texts = {"subject": "Question 1", "answer": "yes", "A": "yes", "B": "no", "change": "lost"}
    assert whole["facts"][0] == {"id": "1", **texts}


def test_a_metric_and_a_filter_are_asked_for_where_several_are_there(
    samples: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [samples(name, {"t": [1, 0]}, metric="acc_norm", filters=("strict", "flexible")) for name in "ab"]
    assert "has neither acc nor exact_match; its metrics are: acc_norm." in refusal(capsys, "compare", *folders)
    assert "has several filters: strict, flexible." in refusal(capsys, "compare", *folders, "--metric", "acc_norm")
    chosen = ["--metric", "acc_norm", "--filter", "strict"]
    assert as_json(capsys, *folders, *chosen)["differences"][0]["n"] == 2


RIGHT = table([1, 0, 1])
MISTAKES = {
    "no common ids": ("id,correct\nx,1\n", "have no id in common"),
    "other lengths": (table([1, 0]), "There are 3 and 2 items: id q2 is only in {a}, line 4."),
    "a repeated id": ("id,correct\nq0,1\nq1,1\nq0,0\n", "{b}, line 4: the id q0 is in line 2 already."),
    "a missing column": ("id,right\nq0,1\n", "{b}, line 1 has no column correct."),
    "another value": ("id,correct\nq0,1\nq1,0.5\nq2,1\n", "{b}, line 3: correct is '0.5', and neither 0 nor 1."),
    "a missing value": ("id,correct\nq0,1\nq1,\nq2,1\n", "{b}, line 3 has no correct."),
    "no rows": ("id,correct\n", "{b} has no rows."),
    "clusters on one side": (table([1, 0, 1], cluster="xyz"), "{b} has a column cluster, unlike {a}."),
    "a score that is none": (table([1, 0, 1], score=["1", "", "2"]), "{b}, line 3: score is '', and no number."),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_with_file_and_line(
    mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, message = MISTAKES[mistake]
    a, b = sides(tmp_path, RIGHT, text)
    assert message.format(a=a, b=b) in refusal(capsys, "compare", a, b)


def test_other_clusters_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = sides(tmp_path, table([1, 0], cluster="xx"), table([1, 0], cluster="xy"))
    assert f"id q1 is in another cluster in {b}, line 3, than in {a}." in refusal(capsys, "compare", a, b)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1, "correct": true}\n{"id": 2', "line 2 is not JSON"),
        ('{"id": 1, "correct": true}\n[2]', "line 2 is no JSON object."),
        ('{"id": 1, "correct": true}\n{"id": 1, "correct": 0}', "line 2: the id 1 is in line 1 already."),
        ('{"id": 1, "correct": 2}', "line 1: correct is 2, and neither 0 nor 1."),
    ],
)
def test_a_mistake_in_json_lines_names_its_line(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = sides(tmp_path, '{"id": 1, "correct": false}\n', text, "jsonl")
    assert message in refusal(capsys, "compare", a, b)


def test_json_lines_are_compared_with_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv, _ = sides(tmp_path, table([1, 0, 1]), "")
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(f'{{"id": "q{row}", "correct": {right}}}\n' for row, right in enumerate((0, 0, 1))))
    (overall,) = as_json(capsys, csv, str(lines))["differences"]
    assert (overall["n"], overall["lost"], overall["gained"]) == (3, 1, 0)


def test_mistakes_in_samples_name_their_lines(
    samples: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = samples("a", {"t": [1, 0]})
    for name, rights, message in (("b", [1, 0.5], "line 2: acc is 0.5, and neither 0 nor 1."), ("c", [1], "only in")):
        assert message in refusal(capsys, "compare", first, samples(name, {"t": rights}))
    other = samples("d", {"t": [1, 0]}, question="Another question")
    assert "id 0 is another question in" in refusal(capsys, "compare", first, other)
    assert "id 0 of u is only in" in refusal(
        capsys, "compare", samples("e", {"t": [1], "u": [1]}), samples("f", {"t": [1], "v": [1]})
    )
    (file,) = Path(samples("g", {"t": [1, 0]})).glob("*")
    file.write_text(file.read_text().replace('"filter": "none"', '"no": 1', 2).replace('"acc": 0', '"acb": 0'))
    assert "line 2 has no acc." in refusal(capsys, "compare", first, str(file.parent))


def test_a_folder_of_several_models_or_times_is_refused(
    samples: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = samples("models/a", {"t": [1]})
    samples("models/b", {"t": [1]})
    assert "has samples of several models: a, b." in refusal(capsys, "compare", first, str(tmp_path / "models"))
    (file,) = Path(samples("twice", {"t": [1]})).glob("*")
    shutil.copy(file, file.with_name("samples_t_2027-01-01T00-00-00.0.jsonl"))
    assert "have samples of one task." in refusal(capsys, "compare", first, str(file.parent))
    (empty := tmp_path / "empty").mkdir()
    assert "has neither a result nor samples" in refusal(capsys, "compare", first, str(empty))
    assert "There is no file or folder" in refusal(capsys, "compare", first, str(tmp_path / "nothing"))


def test_a_result_is_compared_with_a_result_only(
    results: list[str], samples: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = samples("taken", {"t": [1]})
    assert "is no result, and is compared with one." in refusal(capsys, "compare", results[0], taken)
    csv, _ = sides(tmp_path, "id,correct\n0,1\n", "")
    assert f"are samples of the harness, unlike {csv}." in refusal(capsys, "compare", csv, taken)


def test_comparing_needs_no_torch(tmp_path: Path) -> None:
    paths = sides(tmp_path, table([1, 0, 1]), table([1, 1, 1]))
    code = f"import sys; from probing.__main__ import main; main(['compare', *{paths!r}]); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "probing.results.answer_files" in modules
    assert {"torch", "transformers", "scipy.stats", "plotly"}.isdisjoint(modules)


@pytest.mark.slow
@pytest.mark.parametrize("wordings", [1, 3])
def test_of_equal_models_one_in_twenty_is_found_different(wordings: int) -> None:
    """Both answer 200 questions in each of 1,000 trials, equally often rightly, and the wordings of one alike."""
    random, questions = np.random.default_rng(0), np.repeat(np.arange(200_000), wordings)
    keys = pd.DataFrame({"relation": "", "template": np.tile(np.arange(wordings), 200_000), "index": questions})
    keys["trial"] = (questions // 200).astype(str)
    shares = random.random((2, 200_000))[:, questions] if wordings > 1 else np.full((2, 200_000), 0.5)
    first, second = (keys.assign(correct=random.random(len(questions)) < share) for share in shares)
    trials = compare({"first": first, "second": second}, ["trial"]).query("dimension == 'trial'")
    assert 40 <= (trials["p"] < 0.05).sum() <= 60


def test_a_misspelt_folder_gets_the_right_one(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(Path(results[0]).with_name("resuls"))
    right = Path(results[1]).rename(Path(results[1]).with_name("results"))
    answer = f"error: There is no file or folder {missing}. Did you mean {str(right)!r}?\n"
    assert refusal(capsys, "compare", results[0], missing) == answer
