"""Samples that the harness itself wrote are read for a comparison."""

from pathlib import Path

import pytest
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

from probing.results.answer_files import read_answers, with_texts
from tests.probing.harness.tasks import QUESTIONS, question_task, task
from tests.tiny_models import build_gpt2

SUMS = [{"question": f"{number} + 1 =", "answer": str(number + 1)} for number in range(3)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    """The folder with the samples of two tasks, and the accuracy of each."""
    folder = tmp_path_factory.mktemp("harness")
    model = build_gpt2(folder / "model")
    filters = [{"name": name, "filter": [{"function": "take_first"}]} for name in ("first", "again")]
    sums = task(
        folder / "tasks",
        "sums",
        SUMS,
        output_type="generate_until",
        doc_to_text="{{question}}",
        doc_to_target="{{answer}}",
        generation_kwargs={"max_gen_toks": 2, "until": ["\n"]},
        metric_list=[{"metric": "exact_match"}],
        filter_list=filters,
    )
    tasks = [question_task(folder / "tasks"), sums]
    arguments = f"pretrained={model},device=cpu"
    manager = TaskManager(include_defaults=False)
    results = simple_evaluate("hf", model_args=arguments, tasks=tasks, task_manager=manager, bootstrap_iters=0)
    tracker = EvaluationTracker(output_path=str(folder / "results"))
    samples = results.pop("samples")
    tracker.save_results_aggregated(results, samples)
    for name, of_task in samples.items():
        tracker.save_results_samples(name, of_task)
    figures = results["results"]
    return folder / "results", {
        "questions": figures["questions"]["acc,none"],
        "sums": figures["sums"]["exact_match,first"],
    }


@pytest.mark.slow
def test_samples_have_the_accuracies_of_the_harness(written: tuple[Path, dict[str, float]]) -> None:
    folder, accuracies = written
    rows = read_answers(folder, filter_name="first")
    assert rows.groupby("relation")["correct"].mean().to_dict() == pytest.approx(accuracies)
    questions, sums = (rows[rows["relation"] == name] for name in ("questions", "sums"))
    right = [str(answer) for _, _, answer in QUESTIONS]
    assert (questions["prediction_label"] == right).tolist() == questions["correct"].tolist()
    assert [len(scores) for scores in questions["scores"]] == [len(options) for _, options, _ in QUESTIONS]
    assert not sums["scores"].map(len).any()


@pytest.mark.slow
def test_changed_facts_have_the_texts_of_the_harness(written: tuple[Path, dict[str, float]]) -> None:
    folder, _ = written
    rows = read_answers(folder, filter_name="first")
    (chosen,) = (rows[(rows["relation"] == "questions") & (rows["index"] == 1)].index.tolist(),)
    facts = rows.loc[chosen, ["relation"]].assign(fact="1", subject="", answer="", A="1", B="0", change="lost")
    (found,) = with_texts(facts, {"A": rows, "B": rows}).to_dict("records")
    assert found["subject"] == "Q: What is the capital of Norway?\nA:"
    assert (found["answer"], found["A"], found["B"]) == ("Oslo", "Oslo", "Nairobi")
