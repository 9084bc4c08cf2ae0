"""The table of figures that papers and other leaderboards print. They were not measured here and have no run."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar

from django.db import models

from leaderboard.models.asked import Asked
from leaderboard.models.benchmark import Benchmark
from leaderboard.models.model import Model
from leaderboard.models.run import Run, Score

PUBLISHED = "published"  # in place of the provenance of a run
PROVENANCES = {**dict(Run.Provenance.choices), PUBLISHED: PUBLISHED}


class Printed(models.Model):
    """A figure that a source prints about a model, or about people or a rule, which it calls a baseline.

    Figures of one row of a source have the same `row`, and differ in metric, group and value only.
    """

    row = models.PositiveBigIntegerField(help_text="the row of a source that it stands in, numbered over all sources")
    model = models.ForeignKey(Model, models.PROTECT, related_name="printed")
    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="printed")
    name = models.CharField(max_length=200, help_text="of the model, as the source prints it")
    baseline = models.BooleanField(default=False, help_text="it is about no model")
    settings = models.JSONField(default=dict, help_text="how models were asked, as far as the source says so")
    metric = models.CharField(max_length=50)
    dimension = models.CharField(max_length=50)
    part = models.CharField(max_length=200, help_text="the group of the dimension that it is about")
    value = models.FloatField()
    error = models.FloatField(null=True, blank=True, help_text="standard error or deviation, if the source prints one")
    n = models.FloatField(default=0, help_text="number of items; 0 where the source does not state it")
    source = models.JSONField(help_text="title, authors, year, venue and url of the source")
    place = models.CharField(max_length=100, blank=True, help_text="where in the source, such as Table 2")
    differs = models.TextField(blank=True, help_text="in what it differs from what is measured here, if in anything")

    class Meta:
        indexes = [models.Index(fields=["benchmark", "metric", "dimension"])]

    def __str__(self) -> str:
        return f"{self.name} on {self.benchmark}: {self.metric} {self.value}"


class PrintedRow(Asked):
    """A row of printed figures, which stands among the runs in lists of models and has what these show.

    Its number `pk` is below zero, where no run has any, and its `scores` are those of no run.
    """

    is_published = True
    provenance = PUBLISHED
    items_left_out = 0
    finished = None
    artefact = ""
    provenance_record: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, figures: Iterable[Printed]) -> None:
        self.figures = list(figures)
        self.first = first = self.figures[0]
        self.pk = -first.row
        self.model, self.benchmark, self.settings = first.model, first.benchmark, first.settings
        self.model_id, self.benchmark_id, self.differs = first.model_id, first.benchmark_id, first.differs

    @cached_property
    def group(self) -> list[list[str]]:
        """What sets it apart from the benchmark's usual runs, as `Run.group` has it."""
        return self.group_now()

    @cached_property
    def scores(self) -> list[Score]:
        """Its figures as those of a run are stored; they have no interval."""
        return [
            Score(run_id=self.pk, metric=one.metric, dimension=one.dimension, group=one.part, value=one.value, n=one.n)
            for one in self.figures
        ]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrintedRow) and other.pk == self.pk

    def __hash__(self) -> int:
        return hash(self.pk)

    def get_absolute_url(self) -> str:
        return f"{self.model.get_absolute_url()}#published"

    @property
    def citation(self) -> str:
        return citation(self.first.source)

    @property
    def reference(self) -> str:
        """Authors, title and place, as a list of references has them."""
        paper = self.first.source
        year = f" ({paper['year']})" if paper.get("year") else ""
        authors = f"{paper['authors']}{year}: " if paper["authors"] else ""
        return ", ".join(filter(None, [f"{authors}{paper['title']}", self.first.place]))

    @property
    def reference_url(self) -> str:
        return str(self.first.source.get("url", ""))

    @property
    def source(self) -> str:
        """What its figures come from: where they were published."""
        return f"{PUBLISHED}: {self.reference}"


def citation(source: Mapping[str, Any]) -> str:
    """Return first author and year of a paper, such as “Keleg et al. 2023”, and the title of what has no year."""
    first, *others = source["authors"].split(", ")
    if not first or not source.get("year"):
        return str(source["title"])
    return " ".join([first.split()[-1], *(["et al."] if others else []), str(source["year"])])


def printed_rows(figures: "models.QuerySet[Printed]") -> list[PrintedRow]:
    """Return the rows of these figures, each with those of its figures that are among them. Three queries.

    Most figures share their benchmark, and many their model, so that joins would read the same rows again and again.
    """
    stored = figures.prefetch_related("model", "benchmark").order_by("row", "pk")
    return [PrintedRow(of_row) for _, of_row in groupby(stored, lambda figure: figure.row)]


Entry = Run | PrintedRow  # of a list of models
