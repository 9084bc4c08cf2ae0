"""The tables of ranks, of right answers question by question, and of the figures from which ranks are computed."""

from django.db import models

from leaderboard.models.benchmark import Benchmark
from leaderboard.models.run import Run


class ItemSet(models.Model):
    """The items that count in a run for one metric; most runs of a benchmark share one."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="item_sets")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the items")
    items = models.JSONField(help_text="the indices or names of the items of each relation, in order")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "digest"], name="one_item_set_each")]


class ItemFigures(models.Model):
    """The figures of a run's items in one metric, whose mean the metric is, so that ranking reads no result files."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="item_figures")
    metric = models.CharField(max_length=50)
    item_set = models.ForeignKey(ItemSet, models.CASCADE, related_name="figures")
    figures = models.BinaryField(help_text="zlib of little-endian 32-bit floats, in the order of the items")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "metric"], name="item_figures_once")]


def rank_range(best: int, worst: int) -> str:
    """Return a range of ranks in words, or the only rank."""
    return str(best) if best == worst else f"{best}–{worst}"


class RunRank(models.Model):
    """Where a run stands in its group: its figure on the common items, and the ranks that comparisons allow.

    A run that shares too few items with the others has only `counted`, the number of its own.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="ranks")
    metric = models.CharField(max_length=50)
    counted = models.PositiveIntegerField(help_text="its own items")
    n = models.PositiveIntegerField(null=True, help_text="the items that count for all ranked runs")
    value = models.FloatField(null=True, help_text="the figure on these")
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    best = models.PositiveIntegerField(null=True)
    worst = models.PositiveIntegerField(null=True)
    tie_group = models.PositiveIntegerField(null=True)
    undecided = models.PositiveIntegerField(
        null=True, help_text="the pairs of its group that cannot be told apart, by which Holm's correction multiplies p"
    )
    ahead_of = models.JSONField(default=list, help_text="the runs of its group that it is certainly better than")
    level_with = models.JSONField(default=list, help_text="the runs of its group that it cannot be told apart from")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "metric"], name="one_rank_each")]

    @property
    def rank_range(self) -> str:
        """The range of its ranks in words; empty without a rank."""
        return rank_range(self.best, self.worst) if self.best and self.worst else ""


class RelationOutcomes(models.Model):
    """Which questions of a relation a run answered rightly, so that the page of a question reads no result files.

    `figures.outcomes` packs and unpacks both fields.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="relation_outcomes")
    relation = models.CharField(max_length=200, help_text="the relation's label")
    items = models.BinaryField(help_text="zlib of the differences between the ascending indices of the items")
    outcomes = models.BinaryField(help_text="zlib of a byte for each template and item: wrong, right or not counted")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "relation"], name="one_outcomes_each")]


class RelationCounts(models.Model):
    """How many runs answered each question of a relation, and how many rightly, computed when a run finishes."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="relation_counts")
    relation = models.CharField(max_length=200, help_text="the relation's label")
    items = models.BinaryField(help_text="as in the outcomes of a run")
    counts = models.BinaryField(help_text="zlib of two 32-bit integers for each template and item: answered, right")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "relation"], name="one_counts_each")]
