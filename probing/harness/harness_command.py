"""The command of lm-evaluation-harness that measures the same as a multiple-choice result, and what differs."""

import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from probing.files.model_files import HUB_GGUF
from probing.results.run_json import tokenizer_facts
from probing.settings import LM_EVAL
from probing.start_token import AUTO, NONE

TASKS = {"bear": "bear", "bear_big": "bear_big"}  # by the slug of the benchmark
TEMPLATES = (0, 1, 2)  # of every relation of BEAR


def harness_command(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the equivalent of a stored run (`run.json`), or None where the harness has no such task.

    Keys: `command`, empty where the harness cannot measure the same, and `differences`, sentences about what remains.
    """
    if record.get("probe") != "multiple_choice" or record["benchmark"]["slug"] not in TASKS:
        return None
    model, settings, task = record["model"], record["settings"], TASKS[record["benchmark"]["slug"]]
    if model["kind"] != "causal":
        return _no_command("The task of lm-evaluation-harness takes causal models only.")
    if settings.get("start", AUTO) == NONE:
        return _no_command("lm-evaluation-harness cannot leave out the start token.")
    if {"few_shot", "chat"} & settings.get("options", {}).keys():
        return _no_command("The task of lm-evaluation-harness asks the statement alone, without examples.")
    words = ["lm_eval", "--model", "hf", "--model_args", ",".join(_model_arguments(model, settings)), "--tasks", task]
    return {"command": shlex.join(words), "differences": _differences(settings)}


def _no_command(why: str) -> dict[str, Any]:
    return {"command": "", "differences": [why]}


def harness_words(record: Mapping[str, Any]) -> list[str]:
    """Return the lines that stand beside a multiple-choice result: the protocol, the command, and what differs."""
    equivalent = harness_command(record)
    if equivalent is None:
        return []
    lines = [protocol_words(record["settings"]), equivalent["command"], *equivalent["differences"]]
    return [line for line in lines if line]


def protocol_words(settings: Mapping[str, Any]) -> str:
    """Return the protocol of a run in words, empty for the usual one."""
    if settings.get("protocol") != LM_EVAL:
        return ""
    return (
        "Protocol of lm-evaluation-harness: all templates with one row each, mean over rows, sums of log-probabilities "
        "in float32."
    )


def _model_arguments(model: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    model_id, is_at_hub = str(model["id"]), model.get("source") == "hub"
    arguments = [f"pretrained={model_id}"]
    if model.get("source") == "gguf":
        name = next(iter(model.get("files") or ()), "model.gguf")
        path = PurePath(model_id if model_id.endswith(".gguf") else f"path/to/{name}")
        if is_at_hub := model_id.startswith(HUB_GGUF):
            path = PurePath(model_id.split(":")[1], name)
        arguments = [f"pretrained={path.parent}", f"gguf_file={path.name}"]
    if model.get("commit") and is_at_hub:
        arguments.append(f"revision={model['commit']}")
    dtype = settings.get("dtype", "float32")
    arguments.append(f"dtype={dtype}")
    if dtype != "float32":
        arguments.append("softmax_dtype=float32")
    facts = tokenizer_facts({"model": model})
    if settings.get("start", AUTO) != AUTO and facts and facts.start and facts.start.id is not None:
        arguments.append(f"prefix_token_id={facts.start.id}")
    return arguments


def _differences(settings: Mapping[str, Any]) -> list[str]:
    """Return how the run differs from what the command measures."""
    differences = []
    templates = tuple(settings.get("templates", ()))
    if templates and templates != TEMPLATES:
        named = " and ".join(map(str, templates))
        differences.append(f"The task asks all three templates; this run asked only {named}.")
    if settings.get("relations") or settings.get("limit") is not None or settings.get("sample") is not None:
        differences.append("The task asks every item of every relation; this run asked some of them.")
    if settings.get("reduction", "sum") != "sum":
        differences.append("The task sums log-probabilities; this run took their mean.")
    return differences
