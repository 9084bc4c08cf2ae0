"""What a run and a row of printed figures have in common: how a model was asked, in words."""

from collections.abc import Collection
from functools import cached_property
from typing import Any

from leaderboard.changed_settings import settings_group, with_left_out
from probing.probes import probe_named
from probing.probes.probe import declared_options


class Asked:
    """A model that was asked a benchmark with some settings; `group` is what sets these apart from the usual ones."""

    model: Any
    benchmark: Any
    settings: Any
    group: Any
    items_left_out: Any

    @cached_property
    def differences(self) -> dict[str, str]:
        """What differs from the benchmark's usual runs, by name, in words: settings, and items that were left out."""
        return self._differences_now()

    def _differences_now(self) -> dict[str, str]:
        return with_left_out(self.benchmark.differences(self.settings), self.items_left_out)

    def group_now(self) -> list[list[str]]:
        """Return what `group` is for its present settings, benchmark and model."""
        model = self.model
        return settings_group(self._differences_now(), self.settings, model.parameters, model.stored_dtype)

    @property
    def settings_group(self) -> str:
        """What sets it apart from the runs with the usual settings, in words; runs are ranked within their group."""
        return self.group_without(())

    def group_without(self, names: Collection[str]) -> str:
        """Return what sets it apart besides the settings and options of these names."""
        return ", ".join(words for name, words in self.group if name not in names)

    @property
    def way(self) -> str:
        """What counts as right for its model, in words, where models of other kinds are asked in another way."""
        return probe_named(self.benchmark.probe).way(self.model.kind, self.settings.get("options", {}))

    @property
    def several_commits(self) -> bool:
        """Tell whether the query that read it found its model measured on the benchmark at other commits too."""
        return bool(getattr(self, "has_other_commits", False))

    @property
    def earlier_in_words(self) -> str:
        """The earlier steps of the training that it stands for, in words; nothing where the query counted none."""
        number = getattr(self, "earlier_steps", 0)
        return f"and {number:,} earlier step{'' if number == 1 else 's'}" if number else ""

    @cached_property
    def variant(self) -> str:
        """What distinguishes it from others of its model: weights, settings, and if need be step or commit."""
        version = (self.model.step_in_words or self.model.version_in_words) if self.several_commits else ""
        return ", ".join(filter(None, [self.model.weights_in_words, *self.differences.values(), version]))

    def option(self, name: str, default: Any = None) -> Any:
        """Return an option of the probe; `default` where it is neither stored nor declared by the probe."""
        declared = declared_options(probe_named(self.benchmark.probe))
        values = {option.name: option.default for option in declared.values()} | self.settings.get("options", {})
        return values.get(name, default)

    @property
    def name(self) -> str:
        return f"{self.model.title} ({self.variant})" if self.variant else str(self.model.title)
