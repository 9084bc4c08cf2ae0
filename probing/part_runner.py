"""Probe one part of a benchmark with a model, as every process does that measures."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from probing.errors import Incomplete, TooLong, without_panics
from probing.language_model import LanguageModel, Usage
from probing.plan import Part, Plan
from probing.probes.multiple_choice import MultipleChoice
from probing.results.completeness import no_rows, too_long_items
from probing.results.joining import PartResult
from probing.results.run_json import Start, run_cost, run_record
from probing.results.token_scores import write_tokens
from probing.results.unknown_names import UNKNOWN_NAMES, unknown_names
from probing.time_left import WorkEstimate


def probe_part(
    model: LanguageModel,
    plan: Plan,
    part: Part,
    *,
    start: Start | None = None,
    work: WorkEstimate | None = None,
    on_share: Callable[[float], None] = lambda share: None,
    tokens: Path | None = None,
) -> PartResult:
    """Probe one part; `tokens` is the file to write for the scores of tokens.

    `on_share` is called after each batch with the share of the part's `work` that is done, if that is given.
    """
    start = start or Start(datetime.now(UTC), 0.0)
    settings, probe = plan.settings, plan.probe
    settings.refuse_kind(model.card.kind)
    probe.refuse_kind(model.card.kind)
    model = model.starting(settings.start)
    relation, usage = plan.relation(part), model.usage
    before, begin = replace(usage), time.perf_counter()
    with without_panics(model.card.id), model.scoring_state(), _observed(usage, work, on_share):
        if tokens and isinstance(probe, MultipleChoice):
            answers = write_tokens(tokens, probe.rows_with_tokens(model, relation, part.template, settings))
        else:
            answers = list(probe.rows(model, relation, part.template, settings))
        _refuse_incomplete(part, len(answers))
        names = unknown_names(model, relation, part.template)
    cost = run_cost(before, usage, start, time.perf_counter() - begin)
    rows = [answer for answer in answers if not isinstance(answer, TooLong)]
    record = run_record(model, plan) | cost | {"items_done": len(rows), UNKNOWN_NAMES: names}
    record["items_skipped"] += too_long_items(relation, part.template, answers)
    return PartResult(probe.frame(rows) if rows else no_rows(), record)


def _refuse_incomplete(part: Part, answers: int) -> None:
    if answers != part.items:
        raise Incomplete(
            f"The model answered {answers} of {part.items} items of {part.relation}, template {part.template}.",
            "Run it again, and report it if it happens again.",
        )


@contextmanager
def _observed(usage: Usage, work: WorkEstimate | None, on_share: Callable[[float], None]) -> Iterator[None]:
    """Tell after each batch of the block, and at its end, which share of a part is done."""
    if work is None:
        yield
        return
    before = dict(usage.by_verb)

    def report() -> None:
        on_share(work.share({verb: now - before.get(verb, 0.0) for verb, now in usage.by_verb.items()}))

    usage.on_work = report
    try:
        yield
    finally:
        usage.on_work = None
    on_share(1.0)
