"""Answers of models to tasks through the harness itself."""

from typing import Any

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager


def responses(model: Any, tasks: list[dict[str, Any]], **options: Any) -> list[tuple[float, bool]]:
    """Return the answers to all requests of the tasks, which the harness builds itself."""
    manager = TaskManager(include_defaults=False)
    results = simple_evaluate(model, tasks=tasks, task_manager=manager, bootstrap_iters=0, **options)
    samples = results["samples"]
    return [answer for name in sorted(samples) for sample in samples[name] for answer in sample["filtered_resps"]]
