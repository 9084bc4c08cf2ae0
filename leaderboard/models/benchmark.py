"""The table of benchmarks, a row for each version and probe."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from django.db import models
from django.urls import reverse

from leaderboard.changed_settings import differences, plan
from probing.analysis.paired_tests import Correctness
from probing.probes import probe_named
from probing.probes.probe import offered_options, refuse_unknown
from probing.settings import SETTINGS, Settings, usual_names

PROBE_MARK = ":"  # between the name of a benchmark and that of a probe


def named(name: str, prefix: str = "") -> models.Q:
    """Select the versions of a benchmark by its name; `prefix` leads to them from another table.

    `culture` stands for the benchmark with its main probe, and `culture:answering` with another one.
    """
    slug, _, probe = name.partition(PROBE_MARK)
    chosen = {"slug": slug, "probe": probe} if probe else {"slug": slug, "main": True}
    return models.Q(**{f"{prefix}{field}": value for field, value in chosen.items()})


class Benchmark(models.Model):
    """One version of a benchmark that is asked by one probe.

    Scores of different versions, and of different probes, never share a column. The rows of a benchmark with several
    probes share its slug and its files.
    """

    slug = models.SlugField()
    version = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    title = models.CharField(max_length=200)
    format = models.CharField(max_length=30)
    probe = models.CharField(max_length=30)
    main = models.BooleanField(default=True, help_text="its probe is meant where a benchmark is named without one")
    settings = models.JSONField(default=dict, help_text="settings of a run unless others are chosen")
    citation = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    source = models.URLField(blank=True)
    path = models.CharField(max_length=500, help_text="folder below CLOZEBOARD_DATA; empty if the files are not here")
    relations = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=0)
    work = models.FloatField(null=True, help_text="expected token positions of a usual run; None if not estimated")
    baselines = models.JSONField(
        default=dict, help_text="what is reached without a model, in the main metric, by the name of the baseline"
    )
    smallest_difference = models.JSONField(
        default=dict, help_text="that measured runs can tell apart; empty if fewer than two were measured"
    )
    difficulty = models.JSONField(
        default=list, help_text="numbers of questions by their share of right answers; empty before a run was measured"
    )
    current = models.BooleanField(default=True, help_text="the version that new runs use and pages show")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["slug", "version", "probe"], name="one_benchmark_per_probe"),
            models.UniqueConstraint(
                fields=["slug", "probe"], condition=models.Q(current=True), name="one_current_version"
            ),
            models.UniqueConstraint(
                fields=["slug"], condition=models.Q(current=True, main=True), name="one_main_probe"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def save(self, *args: Any, **options: Any) -> None:
        """Store the row, and the groups of its runs, which follow from its usual settings."""
        is_new = self._state.adding
        super().save(*args, **options)
        if not is_new:
            self.runs.regroup()

    def get_absolute_url(self) -> str:
        return reverse("benchmark", args=[self.name])

    @property
    def name(self) -> str:
        """The name in addresses, forms and the API: the slug, followed by the probe unless it is the main one."""
        return self.slug if self.main else f"{self.slug}{PROBE_MARK}{self.probe}"

    @property
    def probe_in_words(self) -> str:
        return self.probe.replace("_", " ")

    @property
    def correctness(self) -> Correctness:
        """The way in which the benchmark's probe decides which items are right."""
        return probe_named(self.probe).correctness

    @property
    def main_metric(self) -> str:
        """The metric by which the benchmark's probe ranks models."""
        return probe_named(self.probe).main_metric

    @property
    def noun(self) -> str:
        """What an item is called: a question, or a statement that is true or false."""
        return probe_named(self.probe).noun

    @property
    def nouns(self) -> str:
        return f"{self.noun}s"

    @property
    def plan(self) -> str:
        """The settings of a run unless others are chosen, in words."""
        return plan(self.settings_with({}))

    def settings_with(self, chosen: Mapping[str, Any]) -> Settings:
        """Return the settings of a run where these settings and options of the probe are chosen, by name.

        The others are the benchmark's usual ones. Raises `BadInput` if something is chosen that is not offered, or has
        a value that is not accepted.
        """
        probe = probe_named(self.probe)
        offered = offered_options(probe)
        chosen = usual_names(chosen)
        refuse_unknown(chosen, offered, f"Benchmark {self.name}")
        values = {name: offered[name].check(value) for name, value in chosen.items()}
        usual = Settings.from_json({**self.settings, "probe": self.probe, **probe.fixed})
        settings = {name: value for name, value in values.items() if name in SETTINGS}
        options = {name: value for name, value in values.items() if name not in SETTINGS}
        return replace(usual, **settings, options={**usual.options, **options})

    def differences(self, settings: Mapping[str, Any]) -> dict[str, str]:
        """Return what these settings change of the benchmark's usual ones, by name, in words."""
        return _differences(self.probe, json.dumps([settings, self.settings]))


@lru_cache(maxsize=1024)
def _differences(probe: str, settings: str) -> dict[str, str]:
    """Return `Benchmark.differences` for settings and those of their benchmark, as JSON; most runs share both."""
    own, usual = json.loads(settings)
    return differences(own, Benchmark(probe=probe, settings=usual).settings_with({}))
