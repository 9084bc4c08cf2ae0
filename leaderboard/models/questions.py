"""The tables of right answers, question by question."""

from django.db import models

from leaderboard.models.benchmark import Benchmark
from leaderboard.models.run import Run


class RelationOutcomes(models.Model):
    """Which questions of a relation a run answered rightly, so that the page of a question reads no result files.

    `stored.outcomes` packs and unpacks both fields.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="relation_outcomes")
    relation = models.CharField(max_length=200, help_text="the relation's label")
    items = models.BinaryField(help_text="zlib of the differences between the ascending indices of the items")
    outcomes = models.BinaryField(help_text="zlib of a byte for each template and item: wrong, right or not counted")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "relation"], name="one_outcomes_each")]

    def __str__(self) -> str:
        return f"outcomes of {self.run} in {self.relation}"


class RelationCounts(models.Model):
    """How many runs answered each question of a relation, and how many rightly, computed when a run finishes."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="relation_counts")
    relation = models.CharField(max_length=200, help_text="the relation's label")
    items = models.BinaryField(help_text="as in the outcomes of a run")
    counts = models.BinaryField(help_text="zlib of two 32-bit integers for each template and item: answered, right")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "relation"], name="one_counts_each")]

    def __str__(self) -> str:
        return f"answers to {self.relation} of {self.benchmark}"
