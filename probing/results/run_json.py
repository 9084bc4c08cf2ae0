"""The record of a run, run.json: how it is made, what its keys hold, and what it says about the tokenizer.

Each part has a record; `joining` makes that of the run from them, and adds the digests of what was asked.
"""

import platform
import resource
import sys
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any, NamedTuple

from probing.errors import BadInput
from probing.language_model import LanguageModel, ModelCard, Usage
from probing.plan import Plan
from probing.start_token import TokenizerFacts

PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "pandas", "pyarrow")
NO_START_TOKEN = "The tokenizer adds its special tokens to every text; there is no start token to choose."


class Start(NamedTuple):
    """When a process began with a run (UTC), and for how long it loaded the model."""

    time: datetime
    load_seconds: float


def run_record(model: LanguageModel, plan: Plan) -> dict[str, Any]:
    """Return which model was probed on which benchmark, how, where, and with which software."""
    return describe_run(model.card, plan) | {
        "packages": {"python": platform.python_version()} | _versions(),
        "device": model.device,
        "processor": processor(model.device),
        "dtype": model.dtype,
        "batch": {"tokens": model.batch_tokens, "notes": list(model.usage.notes)},
        "items_skipped": [
            {"relation": relation, "items": len(plan.benchmark[relation].items), "why": why}
            for relation, why in plan.skipped.items()
        ],
        "peak_memory": peak_memory(model.device),
    }


def describe_run(card: ModelCard, plan: Plan) -> dict[str, Any]:
    """Return which model is probed on which benchmark, and how."""
    benchmark, settings = plan.benchmark, plan.settings
    return {
        "model": asdict(card),
        "benchmark": {
            **{"slug": benchmark.slug, "version": benchmark.version, "digest": benchmark.digest},
            "first_letters": benchmark.first_letters,
        },
        "benchmark_notes": list(benchmark.notes),
        "probe": settings.probe,
        "settings": settings.to_json(),
        "settings_digest": settings.digest,
        "seed": settings.seed,
        "language": settings.language,
    }


@cache
def _versions() -> dict[str, str]:
    """Return the versions of the packages that can change a number; reading them takes longer than some parts."""
    return {name: version(name) for name in PACKAGES}


def run_cost(before: Usage, now: Usage, start: Start, score_seconds: float) -> dict[str, Any]:
    """Return times (UTC), and the work between two readings of a model's usage."""
    return {
        "start": start.time.isoformat(timespec="seconds"),
        "end": datetime.now(UTC).isoformat(timespec="seconds"),
        "timing": {"load_seconds": round(start.load_seconds, 3), "score_seconds": round(score_seconds, 3)},
        "statements": round(now.statements - before.statements),
        "positions": now.positions - before.positions,
        "padding": now.padding - before.padding,
    }


def processor(device: str) -> str:
    """Return the name of the processor, by which results differ in rounding; nothing where another device computes.

    The library that multiplies is chosen by it (`scoring.products`).
    """
    if device != "cpu":
        return ""
    return str(import_module("torch").cpu.get_capabilities().get("cpu_name") or platform.machine())


def peak_memory(device: str) -> dict[str, int]:
    """Return the largest memory that this process has held, in bytes, and that on its accelerator."""
    unit = 1 if sys.platform == "darwin" else 1024
    memory = {"process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}
    if device.startswith("cuda"):
        memory["device"] = import_module("torch").cuda.max_memory_allocated(device)
    return memory


def tokenizer_facts(record: Mapping[str, Any]) -> TokenizerFacts | None:
    """Return the facts that a stored record (`run.json`) has about the tokenizer, None if it has none to be read."""
    try:
        return TokenizerFacts.from_json(record.get("model", {}).get("tokenizer"))
    except (ValueError, AttributeError):
        return None


def describe_tokens(record: Mapping[str, Any]) -> list[str]:
    """Return sentences about the start token and the tokenizer of a run, none for records of older versions."""
    facts = tokenizer_facts(record)
    if facts is None:
        return []
    sentences = [*facts.start.sentences] if facts.start else [NO_START_TOKEN]
    case = "makes all letters lower-case" if facts.lower_cases else "distinguishes upper and lower case"
    space = "adds a space before the first word" if facts.adds_space else "adds no space before the first word"
    sentences.append(f"The tokenizer ({facts.algorithm}, {facts.vocabulary:,} tokens) {case} and {space}.")
    if facts.special_tokens:
        named = ", ".join(f"{name} {text}" for name, text in facts.special_tokens.items())
        sentences.append(f"Special tokens: {named}.")
    return sentences


def start_cautions(record: Mapping[str, Any]) -> list[str]:
    """Return what belongs beside the figure of a run about its start token; nothing for a usual one."""
    facts = tokenizer_facts(record)
    start = facts.start if facts else None
    return start.cautions if start else []


def marked_start(record: Mapping[str, Any]) -> str:
    """Return a few words if the start token of a run also marks roles in the model's chat template, else nothing."""
    facts = tokenizer_facts(record)
    return facts.start.remark if facts and facts.start else ""


def refuse_served(card: Mapping[str, Any]) -> None:
    """Raise `BadInput` where the model of a record (`model`) was computed by a server, whose weights nothing pins."""
    if card.get("source") == "served":
        raise BadInput(
            f"{card.get('id')!s:.200} was served, so that nobody can tell its weights: a site ranks no such results.",
            "Measure the model from its files.",
        )


RECORD_KEYS: Mapping[str, str] = {
    "model": (
        "the model: `id`, `kind`, `architecture`, `parameters`, `commit`, `revision` (the branch or step that was "
        "named), `source` (hub, folder, gguf, object or served), `files` (SHA-256 of weights and tokenizer), "
        "`tokenizer` (facts about it), `adapter`, `quantisation`, `option_only` (whether nothing but the option is "
        "scored)"
    ),
    "benchmark": "the benchmark: `slug`, `version`, `digest` of its files, and how prompts begin (`first_letters`)",
    "benchmark_notes": "remarks on which items were asked",
    "probe": "the name of the probe",
    "settings": "all settings of the run, and under `options` those of the probe that differ from the usual ones",
    "settings_digest": "the SHA-256 of the settings that differ from the usual ones; equal settings have equal digests",
    "seed": "the seed, as in `settings`",
    "language": "the language of the prompts, as in `settings`",
    "packages": "the versions of Python and of the packages that can change a number",
    "device": "the device: cpu, the GPU, or server; several that shared the work with commas between them",
    "processor": "the name of the processor where `device` is cpu, else empty; several with commas between them",
    "dtype": "the number format of the weights; unknown for a served model",
    "batch": "`tokens`: the token positions of a batch; `notes`: remarks on what happened on the way",
    "items_skipped": "which items were left out, by relation, and why",
    "items_done": "the number of rows",
    "unknown_names": (
        "how many distinct `options` and `subjects` (`kind`) of each relation the tokenizer does not know (`unknown` "
        "of `names`), with `examples`; an empty list where it knows all of them"
    ),
    "peak_memory": "the largest memory of the process and of the GPU (`device`) until the end of the run, in bytes",
    "start": "when the run began (UTC)",
    "end": "when it ended (UTC)",
    "timing": "`load_seconds` and `score_seconds`: for loading the model, and for everything else",
    "statements": "how many statements were scored",
    "positions": "how many token positions the network computed, padding included",
    "padding": "how many of them were padding",
    "questions": "the SHA-256 of what was asked: runs with equal ones have the same subjects, options and templates",
    "tags": "the SHA-256 of the tags by which scores are broken down",
}
