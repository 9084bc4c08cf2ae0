"""The table of scores."""

from django.db import models

from leaderboard.models.run import Run


class Score(models.Model):
    """One tidy score, with the same columns as every scores.csv.

    `low` and `high` hold for the relations that were asked, `cluster_low` and `cluster_high` for relations like these.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=50)
    dimension = models.CharField(max_length=50)
    group = models.CharField(max_length=200)
    value = models.FloatField(null=True)
    n = models.FloatField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    cluster_low = models.FloatField(null=True)
    cluster_high = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "metric", "dimension", "group"], name="one_score_each"),
        ]
        indexes = [
            # Lists compare one figure of all runs; the index has all of it, so that it is read in one piece.
            models.Index(
                fields=["dimension", "group", "metric", "run", "value", "low", "high", "n"], name="one_figure"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.dimension}={self.group}: {self.value}"
