"""`ProbePages`, which holds everything on the pages that depends on the probe; each probe declares one."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from leaderboard.figures import benchmarks
from leaderboard.figures.comparisons import ModelAnswer
from leaderboard.models import Benchmark, Entry, Run
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.items import ItemColumns, ItemRow, RunAnswer, answer_among_options
from leaderboard.probes.wording import CHOICE, FREE_TEXT, ONE_ANSWER, RIGHT_OR_WRONG, AnswerWords, QuestionForm
from leaderboard.tables import Files, Row, arranged, page_in
from leaderboard.ui import labels
from leaderboard.ui.charts.basics import Chart
from probing.analysis.breakdowns import CROSSED
from probing.benchmark import Relation
from probing.errors import ProbingError

Json = Mapping[str, Any]
Parts = Mapping[str, Any]  # the context of a probe's template, with `files` and `charts`; empty where it shows nothing
MULTIPLE_CHOICE_COLUMNS = ItemColumns()
PREDICTION = ModelAnswer(("prediction_label",), lambda row: str(row.get("prediction_label") or ""))


def relation_slice(relation: Relation | None, name: str) -> tuple[str, str]:
    """Return the dimension and the group of a relation's scores, given what an address calls it."""
    return "relation", relation.label if relation else name


def notes_of(benchmark: Benchmark) -> str:
    """Return the notes of a version; nothing without any, or where its files are not here or have changed."""
    with suppress(ProbingError):
        return " ".join(benchmarks.read(benchmark).notes) if benchmark.path else ""
    return ""


def run_columns(run: Entry) -> Row:
    """Return the columns of a table that say which run a row is about, and the run itself."""
    return {
        "run": run,
        "model": run.model.title,
        "settings": labels.variant(run),
        "provenance": run.source,
    }


def parts(query: QueryDict, tables: Files, charts: Sequence[Chart] = (), notes: str = "", **others: Any) -> Parts:
    """Return the context of a probe's template; nothing where no table has a row and there are no notes.

    `pages` has the rows of each table on the page that the query string asks for, `charts` the charts by name, and
    `open` the tables that the query string sorts or turns. `prefix` stands before the names of tables and charts.
    """
    files = arranged(tables, query)
    if not files and not notes:
        return {}
    pages = {_variable(name): page_in(rows, query, name) for name, (_, rows) in files.items()}
    used = {_variable(name) for name in files for key in query if key.startswith(f"{name}-")}
    by_name = {_variable(chart.name): chart for chart in charts}
    return {"files": files, "pages": pages, "charts": by_name, "open": used, "prefix": "", "notes": notes, **others}


def _variable(name: str) -> str:
    """Return a name as templates can have it behind a dot."""
    return name.replace("-", "_")


@dataclass(frozen=True)
class ProbePages:
    """Everything on the pages that depends on one probe; the defaults suit a probe with rows like multiple choice.

    The main metric and what counts as correct belong to the probe itself (`probing.probes`).

    Labels: `metric_labels` maps metrics of this probe to their titles, `option_labels` its options, and
    `choice_labels` the values of an option that have no name of their own.
    Dimensions: `hidden_dimensions` have no breakdown of their own on a run's page, as the probe's parts show them.
    Leaderboard: `secondary_metrics` stand beside the main one, `default_dimensions` are the dimensions whose groups are
    columns unless the reader chooses others. Where the number of items that count depends on the model, `count_title`
    is the title of its column, and `not_counted` says why the others do not count.
    Topics: `topic` is the group that its benchmarks belong to in the overview and in lists of benchmarks.
    Benchmark: `asked_by` says in words how its questions are asked; `baseline_note` says what baselines do where there
    are no options to choose from.
    Published figures: `published_scores` makes further scores of a published run under the names of measured ones, so
    that pages show both in the same way, given its settings and its scores.
    Relations: `relation_slice` names the scores that the page of a relation shows.
    Items: `item_columns` describes the list of a run's items, `run_answer` makes what the page of a question shows of a
    run's answer, `model_answer` reads the model's answer from a row, `question_form` says how readers see an item.
    Words: `words` are what pages call the answers that count and the others.
    Parts: `template` is what a page includes of the probe, with `page`: "run", "benchmark" or "comparison". What it
    reads is `probe`, made by `run_parts` of a finished run, `benchmark_parts` and `comparison_parts`, given the query
    string and the culture pair and language that the reader chose.
    """

    metric_labels: Mapping[str, str] = field(default_factory=dict)
    option_labels: Mapping[str, str] = field(default_factory=dict)
    choice_labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    hidden_dimensions: Collection[str] = ()

    secondary_metrics: Sequence[str] = ()
    default_dimensions: Sequence[str] = ()
    count_title: str = ""
    not_counted: str = ""
    topic: str = "Facts"
    asked_by: str = ""
    baseline_note: str = ""
    published_scores: Callable[[Json, Sequence[Json]], Iterable[Json]] = lambda settings, scores: ()

    relation_slice: Callable[[Relation | None, str], tuple[str, str]] = relation_slice

    item_columns: ItemColumns = MULTIPLE_CHOICE_COLUMNS
    run_answer: Callable[[ItemRow], RunAnswer] = answer_among_options
    model_answer: ModelAnswer = PREDICTION
    question_form: QuestionForm = CHOICE

    words: AnswerWords = RIGHT_OR_WRONG

    template: str = ""
    run_parts: Callable[[Run, QueryDict, PairInLanguage | None], Parts] = lambda run, query, pair: {}
    benchmark_parts: Callable[[Benchmark, QueryDict, PairInLanguage | None], Parts] = lambda benchmark, query, pair: {}
    comparison_parts: Callable[[Sequence[Run], QueryDict, PairInLanguage | None], Parts] = lambda runs, query, pair: {}

    @property
    def fine_dimensions(self) -> set[str]:
        """The hidden dimensions that have too many groups to be columns of the leaderboard."""
        return {name for name in self.hidden_dimensions if {"relation", "fact_type"} & {*CROSSED.get(name, ())}}

    @property
    def of_parts(self) -> bool:
        """Whether its benchmarks are about pairs of cultures."""
        return "culture_pair" in self.default_dimensions

    @property
    def offers_options(self) -> bool:
        return self.question_form not in (ONE_ANSWER, FREE_TEXT)

    def metrics_beside(self, benchmark: Benchmark) -> list[str]:
        """Return the metrics that stand beside the main one on the benchmark's leaderboard."""
        return [metric for metric in self.secondary_metrics if metric != benchmark.main_metric]

    def metric_label(self, metric: str) -> str:
        return self.metric_labels.get(metric) or labels.metric(metric)

    def option_label(self, option: str) -> str:
        """Return the title of one of the probe's options, or of a setting."""
        return self.option_labels.get(option) or labels.setting(option)

    def choice_label(self, option: str, value: Any) -> str:
        """Return the title of a value of an option."""
        return self.choice_labels.get(option, {}).get(value) or labels.choice(value)
