"""Comparisons of up to eight runs on the same items: their differences and their disagreements."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations, zip_longest
from typing import NamedTuple

import numpy as np
import pandas as pd
from django.db.models import Exists, OuterRef, Q
from numpy.typing import NDArray

from leaderboard.figures import item_rows
from leaderboard.figures.item_rows import Row
from leaderboard.figures.runs import NOT_LISTED, runs_with_items
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.figures.variants import SIMILAR, common_name, is_of_similar_size
from leaderboard.figures.verdicts import compared_with
from leaderboard.models import Benchmark, Model, Run
from leaderboard.models.benchmark import named
from leaderboard.models.run import RunQuerySet
from probing.analysis.answer_changes import CHANGE_COLUMNS, AnswerChanges
from probing.analysis.breakdowns import CROSSED, group_names
from probing.analysis.paired_tests import RESULT_NAMES, SmallestDifference, common_rows, smallest_difference
from probing.analysis.verdicts import verdict
from probing.benchmark import ROW_KEY
from probing.errors import BadInput
from probing.probes import probe_named
from probing.probes.probe import tag_columns

NEWEST_RUNS, READY_PAIRS = 40, 2  # how many runs are searched for ready pairs, and how many are shown for each reason
ITEM_COLUMNS = (*ROW_KEY, "subject", "answer_label", "language")
Pattern = tuple[bool, ...]  # for each run whether it is right


class ModelAnswer(NamedTuple):
    """A way to read a model's answer from a row: the columns that are needed, and a function of the row."""

    columns: Sequence[str]
    text: Callable[[Row], str]


@dataclass(frozen=True)
class Comparison:
    """The paired comparison of runs.

    `differences`: each further run, by its name, against the first. `right`, of shape (rows, runs): for each row that
    counts in all runs whether each run is right; it has no rows where a probe's answers are not right or wrong. `rows`,
    of the same shape: the number of the row in each run's file. `changes` and `smallest`: of two runs, which answers
    changed, and which difference these questions can show.
    """

    differences: list[Row]
    right: NDArray[np.bool_]
    rows: NDArray[np.int64]
    changes: AnswerChanges | None = None
    smallest: SmallestDifference | None = None

    def counts(self) -> dict[Pattern, int]:
        """Map each pattern that occurs to the number of its rows."""
        patterns, counts = np.unique(self.right, axis=0, return_counts=True)
        return {tuple(pattern): count for pattern, count in zip(patterns.tolist(), counts.tolist(), strict=True)}


def find_runs(names: Sequence[str], benchmark: str) -> list[Run]:
    """Return the runs that run numbers or model ids name, on the first version of a benchmark that all of them have.

    They are among the runs whose answers are stored. Raises `BadInput` if a name has no such run, or if no version is
    common to all.
    """
    if len(names) > len(RESULT_NAMES):
        raise BadInput(
            f"Only {len(RESULT_NAMES)} runs can be compared.", f"Leave out {len(names) - len(RESULT_NAMES)} of them."
        )
    candidates = [_candidates(name, benchmark) for name in names]
    for benchmark_id in dict.fromkeys(run.benchmark_id for run in candidates[0]):
        on_benchmark = [[run for run in runs if run.benchmark_id == benchmark_id] for runs in candidates]
        if runs := _one_of_each(on_benchmark):
            return runs
    raise _nothing_in_common(names, candidates)


def _one_of_each(candidates: Sequence[Sequence[Run]]) -> list[Run]:
    """Return the first run of each list that none of the others has taken; nothing where a list has none left.

    Two lists have the same runs, or none in common, or one of them is a single run of the other. Therefore the shortest
    lists choose first, and no choice has ever to be taken back, however often a name is repeated.
    """
    chosen: dict[int, Run] = {}
    for number in sorted(range(len(candidates)), key=lambda number: len(candidates[number])):
        left = [run for run in candidates[number] if run not in chosen.values()]
        if not left:
            return []
        chosen[number] = left[0]
    return [chosen[number] for number in range(len(candidates))]


def _nothing_in_common(names: Sequence[str], candidates: Sequence[Sequence[Run]]) -> BadInput:
    """Return the error that says whether one run is named twice, or the benchmarks differ, or only their versions."""
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        run = f"Run {name}" if name.isdecimal() else f"The only run of {name}"
        return BadInput(f"{run} is chosen {times} times.", "Choose another run to compare it with.")
    common = set.intersection(*({run.benchmark.name for run in runs} for runs in candidates))
    versions = sorted({str(run.benchmark) for runs in candidates for run in runs if run.benchmark.name in common})
    if len(versions) > 1:
        return BadInput(
            f"These runs are on different versions of a benchmark: {', '.join(versions)}.",
            "Choose runs on the same version, as other versions ask other items.",
        )
    return BadInput("These runs have no benchmark in common.", "Choose different runs on the same benchmark.")


def _candidates(name: str, benchmark: str) -> list[Run]:
    """Return the runs that a number or the id of a model stands for; the id of a training stands for its last steps."""
    stored = runs_with_items()
    runs = stored.filter(pk=name) if name.isdecimal() else stored.filter(model__hub_id=name).newest_steps()
    candidates = list(runs.filter(named(benchmark, "benchmark__")) if benchmark else runs)
    if not candidates:
        what = f"run {name}" if name.isdecimal() else f"run of {name!r}"
        on = f" on {benchmark!r}" if benchmark else ""
        raise BadInput(
            f"There is no finished {what}{on} whose answers are stored here.", "Choose another run or model."
        )
    return candidates


def shared_benchmarks(runs: Sequence[Run]) -> list[Benchmark]:
    """Return the other benchmarks on which each of these models has finished runs, by title. One query.

    The search begins with the models, of which there are few, so that it does not look at all runs.
    """
    finished = Run.objects.filter(model=OuterRef("pk"), benchmark=OuterRef(OuterRef("pk")), state=Run.State.FINISHED)
    measured = Model.objects.filter(Exists(finished))
    others = Benchmark.objects.exclude(named(runs[0].benchmark.name))
    shared = others.filter(*(Exists(measured.filter(hub_id=name)) for name in {run.model.hub_id for run in runs}))
    return list(shared.order_by("title"))


ReadyPair = tuple[str, Run, Run]  # why readers may want to compare two runs on one benchmark, and the runs


def ready_pairs() -> list[ReadyPair]:
    """Return pairs of the newest measured runs on one benchmark with the usual settings: some for each reason.

    They are about as many benchmarks as possible. Of a training, it is the run of the last step. One query, which reads
    few runs, as it asks nothing about the others of models without steps.
    """
    by_benchmark: dict[int, dict[tuple[str, str], Run]] = {}
    for run in _newest_measured().newest_steps()[:NEWEST_RUNS]:
        if not run.settings_group:
            weights = (run.model.hub_id, run.model.weights_in_words)
            by_benchmark.setdefault(run.benchmark_id, {}).setdefault(weights, run)
    pairs = zip_longest(*(combinations(of_one.values(), 2) for of_one in by_benchmark.values()))
    by_reason: dict[str, list[ReadyPair]] = {reason: [] for reason in REASONS}
    for first, second in filter(None, chain.from_iterable(pairs)):
        reason = _reason(first, second)
        if len(by_reason[reason]) < READY_PAIRS:
            by_reason[reason].append((reason, first, second))
    return list(chain.from_iterable(by_reason.values()))


def neighbours(run: Run) -> list[ReadyPair]:
    """Return the run beside others that say most about it: its base, other forms of its weights, models of its size.

    They are the newest measured runs on its benchmark with its settings, one for each reason. One query.
    """
    size, model = run.model.parameters, run.model
    related = Q(model__base_model=model.hub_id) | Q(model__hub_id=model.base_model or model.hub_id)
    if size:
        related |= Q(model__parameters__gte=size / SIMILAR, model__parameters__lte=size * SIMILAR)
    others = _newest_measured().filter(related, benchmark=run.benchmark_id, group=run.group)
    pairs: dict[str, ReadyPair] = {}
    for other in others.exclude(model=run.model_id)[:NEWEST_RUNS]:
        reason = _reason(run, other)
        pairs.setdefault(reason, (reason, run, other))
    return [pairs[reason] for reason in REASONS if reason in pairs]


def _newest_measured() -> RunQuerySet:
    """Return the measured runs whose answers are stored, the newest first, without what only their own pages show."""
    measured = Run.objects.filter(state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED).exclude(artefact="")
    return measured.select_related("model", "benchmark").defer(*NOT_LISTED).order_by("-pk")


def _reason(first: Run, second: Run) -> str:
    return next(reason for reason, holds in REASONS.items() if holds(first, second))


def _are_variants(first: Run, second: Run) -> bool:
    one, other = first.model, second.model
    if one.hub_id == other.base_model or other.hub_id == one.base_model:
        return True
    return common_name(first.model.hub_id) == common_name(second.model.hub_id) and _are_of_one_size(first, second)


def _are_of_one_size(first: Run, second: Run) -> bool:
    return is_of_similar_size(first.model.parameters, second.model.parameters)


# Why two runs are worth comparing; the first reason that holds counts.
REASONS: dict[str, Callable[[Run, Run], bool]] = {
    "quantised in another way": lambda first, second: (
        _are_variants(first, second) and first.model.weights_in_words != second.model.weights_in_words
    ),
    "base and tuned": _are_variants,
    "of the same size": lambda first, second: (
        bool(first.model.parameters and second.model.parameters) and _are_of_one_size(first, second)
    ),
    "measured last": lambda first, second: True,
}


def short_names(runs: Sequence[Run]) -> list[str]:
    """Return the shortest name of each run that tells the runs apart.

    It is the model's name without its organisation and with the format of quantised weights, with the run's settings
    where another run has the same, then with the organisation, and in the end with the run's number.
    """
    forms: list[Callable[[Run], str]] = [
        _own_name,
        lambda run: f"{_own_name(run)} ({run.variant})" if run.variant else _own_name(run),
        lambda run: run.name,
        lambda run: f"{run.name}, run {run.pk}",
    ]
    names = [""] * len(runs)
    for form in forms:
        texts = [form(run) for run in runs]
        times = Counter(texts)
        names = [name or (text if times[text] == 1 else "") for name, text in zip(names, texts, strict=True)]
    return names


def _own_name(run: Run) -> str:
    name = run.model.hub_id.rpartition("/")[-1]
    weights = run.model.quantisation or ("GGUF" if run.model.weights_file else "")
    return f"{name} ({weights})" if weights else name


def records(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a table as dicts by the names of its columns."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def compared(*numbers: int, part: Slice = OVERALL_SLICE) -> Comparison:
    """Return the comparison of runs by their numbers, on all items or on a pair of cultures in one language.

    Overall, p is corrected for all pairs of the ranks of the first run, where another run has its rank among these;
    which of the two is the first makes no difference. Each row has the `verdict` on its run.
    """
    comparison = compared_results(*stored_results(numbers), part=part)
    metric = Run.objects.select_related("benchmark").get(pk=numbers[0]).benchmark.main_metric
    first, *others = numbers
    of_first = compared_with(first, metric, part)
    # A rank names the runs that are behind it or level with it; one that is ahead names the first run in its turn.
    together = {other for other in others if other in of_first or first in compared_with(other, metric, part)}
    further = dict(zip(RESULT_NAMES, numbers, strict=False))
    rows = [
        {**row, "p_holm": min(1.0, row["p"] * of_first.undecided)}
        if row["dimension"] == OVERALL_SLICE.dimension and further[row["result"]] in together
        else row
        for row in comparison.differences
    ]
    rows = [{**row, "verdict": verdict(row["difference"], row["p_holm"])} for row in rows]
    return replace(comparison, differences=rows)


def stored_results(numbers: Sequence[int]) -> list[tuple[int, str]]:
    """Return the runs by their numbers, each with the folder of its result, which never changes."""
    folders = dict(Run.objects.filter(pk__in=numbers).values_list("pk", "artefact"))
    return [(number, folders[number]) for number in numbers]


@lru_cache(maxsize=32)
def compared_results(*stored: tuple[int, str], part: Slice = OVERALL_SLICE) -> Comparison:
    """Return the comparison of runs by their numbers and the folders of their results, on a part of their items."""
    numbers = [number for number, _ in stored]
    runs = Run.objects.select_related("benchmark").in_bulk(numbers)
    of_all = compared_rows([runs[number] for number in numbers])
    numbered = {name: rows.assign(number=np.arange(len(rows))) for name, rows in of_all.items()}
    numbered = {name: _rows_of_part(rows, part) for name, rows in numbered.items()}
    unread = ["number", *CHANGE_COLUMNS]  # by the differences
    results = {name: rows.drop(columns=unread, errors="ignore") for name, rows in numbered.items()}
    probe = probe_named(runs[numbers[0]].benchmark.probe)
    differences, column = records(probe.compare(results)), probe.correctness.column
    if not column:
        nothing = np.empty((0, len(runs)), dtype=np.int64)
        return Comparison(differences, nothing.astype(bool), nothing)
    shared = common_rows(numbered, column)
    are_two = len(shared) == 2
    return Comparison(
        differences,
        np.stack([rows[column] for rows in shared.values()], axis=1),
        np.stack([rows["number"] for rows in shared.values()], axis=1),
        AnswerChanges.of(shared, probe.has_log_probs) if are_two else None,
        smallest_difference(shared, probe.correctness) if are_two else None,
    )


def _rows_of_part(rows: pd.DataFrame, part: Slice) -> pd.DataFrame:
    """Return the rows of a part of the items; all of them where the part is all items."""
    if part == OVERALL_SLICE:
        return rows
    return rows[group_names(rows, CROSSED.get(part.dimension, (part.dimension,))) == part.group].reset_index(drop=True)


def compared_rows(runs: Sequence[Run]) -> dict[str, pd.DataFrame]:
    """Read what a comparison needs, by the names of results: keys, compared columns and tags, in the files' order.

    Of two runs, it is also what they answered; option scores take most of the memory.
    """
    further = CHANGE_COLUMNS if len(runs) == 2 else ()
    return {name: _compared_rows(run, further) for name, run in zip(RESULT_NAMES, runs, strict=False)}


def _compared_rows(run: Run, further: Sequence[str]) -> pd.DataFrame:
    probe, columns = probe_named(run.benchmark.probe), item_rows.names(run)
    needed = dict.fromkeys([*ROW_KEY, *probe.compared_columns(), *tag_columns(probe, columns), *further])
    return item_rows.frame(run, [name for name in needed if name in columns])


def disagreements(comparison: Comparison, pattern: Pattern | None) -> list[Row]:
    """Return the rows of a pattern, or all rows on which the runs are neither all right nor all wrong.

    Each holds `right`, a list over runs, and `rows`, the number of the row in the file of each run.
    """
    unanimous = comparison.right.all(axis=1) | ~comparison.right.any(axis=1)
    chosen = ~unanimous if pattern is None else (comparison.right == pattern).all(axis=1)
    right, rows = comparison.right[chosen].tolist(), comparison.rows[chosen].tolist()
    return [{"right": of_row, "rows": stored} for of_row, stored in zip(right, rows, strict=True)]


def read_answers(runs: Sequence[Run], rows: Sequence[Row], answer: ModelAnswer) -> None:
    """Read into rows on which runs disagree the item's columns, and `answers`, the text of each run's answer."""
    numbers = np.array([row["rows"] for row in rows], dtype=np.int64).reshape(-1, len(runs))
    by_run = [_in_order(run, own, (*ITEM_COLUMNS, *answer.columns)) for run, own in zip(runs, numbers.T, strict=True)]
    for row, *stored in zip(rows, *by_run, strict=True):
        row.update(stored[0], answers=[answer.text(answered) for answered in stored])


def _in_order(run: Run, numbers: NDArray[np.int64], columns: Sequence[str]) -> list[Row]:
    """Read rows by numbers that need not ascend, in the order of the numbers."""
    order, stored = np.argsort(numbers), item_rows.names(run)
    rows = item_rows.rows(run, numbers[order].tolist(), [name for name in dict.fromkeys(columns) if name in stored])
    by_number = dict(zip(order.tolist(), rows, strict=True))
    return [by_number[position] for position in range(len(numbers))]
