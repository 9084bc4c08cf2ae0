"""What lm-evaluation-harness has logged: the samples of a task of whole statements, and the facts about their run."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from probing.errors import BadInput

NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
LOG = "Run the harness with --log_samples and --output_path, and give the file samples_<task>_<date>.jsonl."
# Largest file that is read: the samples of all of BEAR have about 300 MB.
MOST_BYTES = 4 * 2**30


@dataclass(frozen=True)
class Samples:
    """Whole statements with their log-probabilities, and those among them that are true.

    `task`: the name of the harness's task. `digest`: the SHA-256 of the file.
    """

    task: str
    digest: str
    scores: Mapping[str, float]
    true: frozenset[str]


@dataclass(frozen=True)
class HarnessFacts:
    """What the harness's file of results says about a run.

    `model`: the harness's name of the kind of model, such as `hf`. `arguments`: those of the model.
    """

    version: str
    model: str
    arguments: Mapping[str, Any]
    config: Mapping[str, Any]
    packages: Mapping[str, str]
    start: datetime
    seconds: float

    @property
    def dtype(self) -> str:
        """The number format of the weights."""
        return str(self.config.get("model_dtype") or self.arguments.get("dtype") or "").removeprefix("torch.")


def read_samples(path: Path) -> Samples:
    """Read the samples of a task with whole statements, such as BEAR's; raise `BadInput` for any others."""
    name = NAME.fullmatch(path.name)
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise BadInput(f"{path} is no file of samples.", LOG)
    scores: dict[str, float] = {}
    true: set[str] = set()
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            digest.update(line)
            try:
                options, right = _statements(json.loads(line))
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise BadInput(f"Line {number} of {path.name} is no sample of a choice of statements.", LOG) from error
            for statement, log_prob in options.items():
                scores.setdefault(statement, log_prob)
            true.add(right)
    if not scores:
        raise BadInput(f"{path} holds no samples.", LOG)
    return Samples(name["task"] if name else path.stem, digest.hexdigest(), scores, frozenset(true))


def _statements(sample: Mapping[str, Any]) -> tuple[dict[str, float], str]:
    """Return the statements of a sample with their log-probabilities, and the true one."""
    arguments = sample["arguments"]
    pairs = list(arguments.values()) if isinstance(arguments, dict) else arguments
    contexts, statements = zip(*(_pair(pair) for pair in pairs), strict=True)
    if any(contexts):
        raise BadInput(
            f"Sample {sample['doc_id']} has a text before its options: {next(filter(None, contexts))!r:.120}.",
            "Only whole statements can be read, without examples, instructions and chat templates.",
        )
    log_probs = [float(answer[0]) for answer in sample["filtered_resps"]]
    return dict(zip(statements, log_probs, strict=True)), statements[int(sample["target"])]


def _pair(pair: Any) -> tuple[str, str]:
    """Return context and continuation, which a file has under the names `arg_0` and `arg_1`."""
    context, continuation = pair.values() if isinstance(pair, dict) else pair
    return str(context), str(continuation)


def results_beside(samples: Path) -> Path:
    """Return the file of results that the harness wrote together with samples; raise `BadInput` if it is not there."""
    name = NAME.fullmatch(samples.name)
    result_files = sorted(samples.parent.glob(f"*_{name['date']}.json")) if name else []
    if len(result_files) != 1:
        raise BadInput(
            f"The results that belong to {samples.name} are not beside it.",
            "Name the file, such as results_<date>.json: --results FILE.",
        )
    return result_files[0]


def read_facts(path: Path) -> HarnessFacts:
    """Read the file of results; raise `BadInput` if it is none of the harness."""
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        config = results["config"]
        start = datetime.fromtimestamp(float(results["date"]), UTC)
        seconds = max(float(results.get("total_evaluation_time_seconds") or 0), 0.0)
        packages = _packages(results)
        arguments = _arguments(config.get("model_args"))
        return HarnessFacts(
            str(results["lm_eval_version"]), str(config["model"]), arguments, config, packages, start, seconds
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise BadInput(f"{path} is no file of results of lm-evaluation-harness.", LOG) from error


def _arguments(model_args: Any) -> dict[str, Any]:
    """Return the arguments of the model, which the harness states as text or by name."""
    if isinstance(model_args, Mapping):
        return dict(model_args)
    pairs = (part.split("=", 1) for part in str(model_args or "").split(",") if "=" in part)
    return {name.strip(): value.strip() for name, value in pairs}


def _packages(results: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions that the file states; it does not state those of all packages that a run's record has."""
    environment = str(results.get("pretty_env_info", ""))
    named = {"python": r"Python version: (\S+)", "torch": r"PyTorch version: (\S+)"}
    matches = {name: re.search(pattern, environment) for name, pattern in named.items()}
    versions = {name: match[1] if match else "unknown" for name, match in matches.items()}
    return {
        **versions,
        "transformers": str(results.get("transformers_version") or "unknown"),
        "tokenizers": "unknown",
        "safetensors": "unknown",
        "lm_eval": str(results["lm_eval_version"]),
    }
