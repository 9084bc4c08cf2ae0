"""Samples of lm-evaluation-harness as a result: the probe asks a model that answers with the logged scores."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import PurePath
from typing import Any, NamedTuple, Self, get_args

import numpy as np
from transformers import PreTrainedTokenizerBase

from probing.benchmark import Benchmark
from probing.errors import HIDDEN, BadInput, without_secrets
from probing.harness.samples import HarnessFacts, Samples
from probing.language_model import DType, ModelCard, OptionScores, Request, Scoring, Usage
from probing.probes.choices import item_prompt
from probing.probes.multiple_choice import MultipleChoice
from probing.results.result import Result
from probing.runner import run
from probing.scoring.networks import load_tokenizer
from probing.scoring.tokens import Encoder, chosen_start, facts_of
from probing.settings import LM_EVAL
from probing.start_token import AUTO

SECRET_NAMES = ("token", "key", "secret", "password")


class Question(NamedTuple):
    """An item with a template: its statements, one for each option, and which of them are true."""

    relation: str
    template: int
    item: int
    statements: tuple[str, ...]
    true: frozenset[str]

    def __str__(self) -> str:
        return f"relation {self.relation}, template {self.template}, item {self.item}"


@dataclass
class RecordedModel:
    """A model that answers with log-probabilities of whole statements that were measured before.

    They are known as sums: each sum stands at the first token of its statement, and the other tokens have 0.
    """

    card: ModelCard
    dtype: str
    device: str
    tokenizer: PreTrainedTokenizerBase
    scores: Mapping[str, float]
    usage: Usage
    start: str = AUTO
    batch_tokens = 0

    def scoring_state(self) -> AbstractContextManager[None]:
        """Return an empty context, as there is no network."""
        return nullcontext()

    def starting(self, start: str) -> Self:
        """Return this model with the start token with which its scores were measured."""
        started = copy(self)
        started.start = start
        started.card = replace(self.card, tokenizer=facts_of(self.tokenizer, chosen_start(self.tokenizer, start)))
        return started

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        """Yield the recorded scores; all statements must be recorded."""
        encoder = Encoder(self.tokenizer, special_tokens=False, start=self.start)
        for prompt, options in requests:
            encoded = encoder.encode([prompt.fill(option) for option in options])
            log_probs = [np.zeros(len(statement.scored)) for statement in encoded]
            for tokens, statement in zip(log_probs, encoded, strict=True):
                tokens[0] = self.scores[statement.text]
            self.usage.add("score", len(options))
            yield OptionScores(
                tuple(log_probs),
                tuple(statement.answer for statement in encoded),
                np.ones(len(options), bool),
                tuple(statement.text for statement in encoded),
                tuple(statement.spans for statement in encoded),
            )


def import_samples(
    samples: Samples, facts: HarnessFacts, benchmark: Benchmark, *, model: str = "", tokenizer: str = ""
) -> Result:
    """Return the result that a run of lm-evaluation-harness on a benchmark amounts to.

    `model`: what the result calls the model; by default the name in the harness's results. `tokenizer`: the folder or
    hub id of its tokenizer, by which tokens are counted; by default the one that the harness used.
    Raises `BadInput` where samples and benchmark do not fit together, and what `probing.load` raises for the tokenizer.
    """
    questions = _answered(samples, benchmark)
    name = _model_name(facts, model)
    if facts.dtype not in get_args(DType):
        formats = ", ".join(get_args(DType))
        raise BadInput(
            f"The harness's results name the number format {facts.dtype or 'of no weights'}.", f"Known are {formats}."
        )
    commit = str(facts.config.get("model_sha") or "")
    source = tokenizer or str(facts.arguments.get("tokenizer") or "") or _pretrained(facts) or name
    loaded, kind = load_tokenizer(source, commit if source == _pretrained(facts) else "")
    if kind != "causal":
        raise BadInput(f"{name} is no causal model.", "Only results of causal models can be read.")
    notes = _notes(samples, facts)
    card = _card(facts, name, commit)
    recorded = RecordedModel(card, facts.dtype, _device(facts), loaded, samples.scores, Usage(notes=notes))
    result = run(recorded, benchmark, progress=False, **_settings(questions, facts, benchmark))
    return replace(result, record=result.record | _provenance(samples, facts))


def _answered(samples: Samples, benchmark: Benchmark) -> list[Question]:
    """Return the questions that the samples answer, which must be all of some relations with some templates."""
    questions = list(_questions(benchmark))
    statements = {statement for question in questions for statement in question.statements}
    if foreign := [statement for statement in samples.scores if statement not in statements]:
        raise BadInput(
            f"{len(foreign):,} of {len(samples.scores):,} statements of the samples are not in {benchmark.slug} "
            f"{benchmark.version}, the first is {foreign[0]!r:.200}.",
            "Name the benchmark, in the version, that the harness's task was made of.",
        )
    answered = [question for question in questions if samples.scores.keys() >= set(question.statements)]
    relations, templates = {q.relation for q in answered}, {q.template for q in answered}
    covered = [question for question in questions if question.relation in relations and question.template in templates]
    done = set(answered)
    if missing := [question for question in covered if question not in done]:
        raise BadInput(
            f"The samples answer {len(answered):,} of {len(covered):,} questions; the first without an answer is "
            f"{missing[0]}.",
            "Run the harness without --limit and --samples.",
        )
    if wrong := [question for question in answered if not question.true & samples.true]:
        raise BadInput(f"The samples have another right answer to {wrong[0]}.", "Name the version that was asked.")
    return answered


def _questions(benchmark: Benchmark) -> Iterator[Question]:
    for relation in benchmark.relations:
        for template in range(len(relation.templates)):
            for item in relation.items:
                prompt, options = item_prompt(relation, item, template), relation.options_of(item)
                statements = tuple(prompt.fill(option).text for option in options)
                true = frozenset(statements[answer] for answer in item.answers)
                yield Question(relation.id, template, item.index, statements, true)


def _settings(questions: Iterable[Question], facts: HarnessFacts, benchmark: Benchmark) -> dict[str, Any]:
    """Return the settings of a run that measures the same; with all templates it has the harness's protocol."""
    relation_ids = {question.relation for question in questions}
    templates = tuple(sorted({question.template for question in questions}))
    relations = [relation for relation in benchmark.relations if relation.id in relation_ids]
    settings: dict[str, Any] = {"probe": MultipleChoice.name, "templates": templates}
    if len(relations) < len(benchmark.relations):
        settings["relations"] = [relation.id for relation in relations]
    if facts.dtype == "float32" and {len(relation.templates) for relation in relations} == {len(templates)}:
        settings["protocol"] = LM_EVAL
    if (prefix := facts.arguments.get("prefix_token_id")) is not None:
        settings["start"] = str(prefix)
    return settings


def _model_name(facts: HarnessFacts, model: str) -> str:
    adapter = str(facts.arguments.get("peft") or "")
    name = model or "+".join(filter(None, [_pretrained(facts), adapter]))
    if not name:
        raise BadInput("The harness's results do not name the model.", "Name it: --model org/name.")
    return name


def _pretrained(facts: HarnessFacts) -> str:
    """Return the hub id, folder or GGUF file of the model without its adapter; empty where it was in memory."""
    name, gguf = str(facts.arguments.get("pretrained") or ""), str(facts.arguments.get("gguf_file") or "")
    return str(PurePath(name) / gguf) if name and gguf else name


def _card(facts: HarnessFacts, name: str, commit: str) -> ModelCard:
    revision = str(facts.config.get("model_revision") or "")
    return ModelCard(
        id=name,
        kind="causal",
        architecture="",
        parameters=max(int(facts.config.get("model_num_parameters") or 0), 0),
        commit=commit,
        source="hub" if commit else "gguf" if facts.arguments.get("gguf_file") else "folder",
        adapter=str(facts.arguments.get("peft") or ""),
        revision="" if revision == "main" else revision,
    )


def _device(facts: HarnessFacts) -> str:
    return str(facts.config.get("device") or facts.arguments.get("device") or "unknown")


def _notes(samples: Samples, facts: HarnessFacts) -> list[str]:
    """Return what readers of the result must know about where it comes from."""
    arguments = ",".join(f"{name}={value}" for name, value in _shown_arguments(facts).items())
    source = (
        f"Measured by lm-evaluation-harness {facts.version} with the model {facts.model} ({arguments}) on its task "
        f"{samples.task}; the rows were read from its samples."
    )
    if facts.dtype == "float32" or facts.arguments.get("softmax_dtype") or facts.model == "clozeboard":
        return [source]
    return [source, f"The harness rounds log-probabilities to {facts.dtype} unless softmax_dtype=float32 is named."]


def _shown_arguments(facts: HarnessFacts) -> dict[str, str]:
    """Return the arguments of the model without secrets."""
    return {
        name: HIDDEN if name.lower().endswith(SECRET_NAMES) else without_secrets(str(value))
        for name, value in facts.arguments.items()
    }


def _provenance(samples: Samples, facts: HarnessFacts) -> dict[str, Any]:
    """Return the fields of the record that say how the harness measured."""
    end = facts.start + timedelta(seconds=facts.seconds)
    return {
        "packages": dict(facts.packages),
        "start": facts.start.isoformat(timespec="seconds"),
        "end": end.isoformat(timespec="seconds"),
        "timing": {"load_seconds": 0.0, "score_seconds": round(facts.seconds, 3)},
        "peak_memory": {},
        "harness": {
            "version": facts.version,
            "model": facts.model,
            "model_args": _shown_arguments(facts),
            "task": samples.task,
            "samples": samples.digest,
        },
    }
