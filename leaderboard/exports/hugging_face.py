"""The files of a run and of a benchmark that the Hugging Face Hub reads, written by the Hub's own library."""

from typing import Any

import yaml
from django.conf import settings
from huggingface_hub import EvalResult, EvalResultEntry, ModelCardData, eval_result_entries_to_yaml

from leaderboard.exports.references import SITE
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.probes.benchmark_words import description
from leaderboard.probes.culture.pairs import part_in_words, variant_in_words, with_part
from leaderboard.probes.probe_pages import ProbePages

HUB_DATASETS = {"bear": "lm-pub-quiz/BEAR", "bear-big": "lm-pub-quiz/BEAR"}
TASK_TYPE = "text-generation"  # of the Hub's tasks; masked models have one of their own
TASK_TYPES = {"masked": "fill-mask"}


def eval_results(run: Run, score: Score, address: str) -> str:
    """Return the file `.eval_results/<slug>.yaml` of the model's repository; `address`: of the run's page, absolute."""
    interval = "" if score.low is None else f"95 % interval {score.low:.3f} to {score.high:.3f}"
    version = f"benchmark version {run.benchmark.version[:12]}"
    notes = ", ".join(filter(None, [interval, part_in_words(score), variant_in_words(run), version]))
    entry = EvalResultEntry(
        dataset_id=dataset_id(run.benchmark),
        task_id=run.benchmark.name,
        value=score.value,
        date=run.finished.date().isoformat() if run.finished else None,
        source_url=address,
        source_name=f"{SITE}, run {run.pk}",
        notes=notes,
    )
    return _yaml(eval_result_entries_to_yaml([entry]))


def model_card(run: Run, pages: ProbePages, score: Score, address: str) -> str:
    """Return the metadata block at the head of a model card (README.md) with the figure of a run."""
    result = EvalResult(
        task_type=TASK_TYPES.get(run.model.kind, TASK_TYPE),
        dataset_type=dataset_id(run.benchmark) or run.benchmark.slug,
        dataset_name=run.benchmark.title,
        dataset_args={"version": run.benchmark.version},
        metric_type=score.metric,
        metric_name=with_part(pages.metric_label(score.metric), score),
        metric_value=score.value,
        source_name=f"{SITE}, run {run.pk}",
        source_url=address,
    )
    name = run.model.hub_id.rpartition("/")[-1]
    return f"---\n{ModelCardData(model_name=name, eval_results=[result]).to_yaml()}\n---\n"


def eval_yaml(benchmark: Benchmark) -> str:
    """Return the file `eval.yaml` with which the benchmark's data set on the Hub becomes a benchmark there."""
    return _yaml(
        {
            "name": benchmark.title,
            "description": description(benchmark),
            "evaluation_framework": "clozeboard",
            "tasks": [{"id": benchmark.name}],
        }
    )


def dataset_id(benchmark: Benchmark) -> str:
    """Return the data set on the Hub that holds the benchmark, empty where there is none.

    Benchmarks that ship with this project are in the organisation that the setting `HUB_ORGANISATION` names.
    """
    own = f"{settings.HUB_ORGANISATION}/{benchmark.slug}" if settings.HUB_ORGANISATION and not benchmark.source else ""
    return HUB_DATASETS.get(benchmark.slug, own)


def is_for_model_page(run: Run) -> bool:
    """Tell whether the figure belongs on the page of a model on the Hub."""
    return run.model.source == Model.Source.HUB and run.provenance == Run.Provenance.MEASURED


def _yaml(content: Any) -> str:
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return text
