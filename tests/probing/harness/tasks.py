"""Tasks of lm-evaluation-harness made of local files, in the forms of its own, and models' answers to them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from probing.benchmark import Benchmark
from probing.statements.prompting import item_prompt

QUESTIONS = [
    ("Where is Chad located?", ["Africa", "South America", "Asia", "in Europe"], 0),
    ("What is the capital of Norway?", ["Nairobi", "Oslo", "Warsaw"], 1),
    ("Which planet has the moon Titan?", ["Saturn", "Saturn and Gold", "Lima"], 0),
    ("Where is Peru located?", ["Africa", "South America", "Asia", "in Europe"], 1),
]


def task(folder: Path, name: str, rows: Iterable[Mapping[str, Any]], **config: Any) -> dict[str, Any]:
    """Return the configuration of a multiple-choice task with these rows, which are written to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / f"{name}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}, "cache_dir": str(folder / "cache")},
        "test_split": "test",
        "output_type": "multiple_choice",
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        **config,
    }


def question_task(folder: Path, name: str = "questions", **config: Any) -> dict[str, Any]:
    """Return a task that asks questions, with the options behind them."""
    rows = ({"question": text, "choices": choices, "answer": answer} for text, choices, answer in QUESTIONS)
    fields = {"doc_to_text": "Q: {{question}}\nA:", "doc_to_choice": "choices", "doc_to_target": "answer"}
    return task(folder, name, rows, **fields, **config)


def bear_task(folder: Path, benchmark: Benchmark, templates: Iterable[int] = (0,)) -> dict[str, Any]:
    """Return a task in the form of the harness's task `bear`: whole statements without a context."""
    rows = [
        {"text_options": [prompt.fill(option).text for option in relation.options_of(item)], "correct": item.answers[0]}
        for relation in benchmark.relations
        for template in templates
        for item in relation.items
        for prompt in [item_prompt(relation, item, template)]
    ]
    fields = {"doc_to_text": "", "doc_to_choice": "text_options", "doc_to_target": "correct", "target_delimiter": ""}
    return task(folder, "bear", rows, **fields)


def responses(model: Any, tasks: list[dict[str, Any]], **options: Any) -> list[tuple[float, bool]]:
    """Return the answers to all requests of the tasks, which the harness builds itself."""
    manager = TaskManager(include_defaults=False)
    results = simple_evaluate(model, tasks=tasks, task_manager=manager, bootstrap_iters=0, **options)
    samples = results["samples"]
    return [answer for name in sorted(samples) for sample in samples[name] for answer in sample["filtered_resps"]]
