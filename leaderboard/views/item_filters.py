"""The filters of a run's items. An invalid filter is left out, and the page names the error."""

from collections.abc import Sequence
from typing import Any

from django import forms

from leaderboard.display import labels
from leaderboard.lists.scores import dimension_groups
from leaderboard.models import Run
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.item_columns import ColumnValues
from leaderboard.probe_pages.questions_in_words import group_title, relation_names
from leaderboard.stored.item_rows import ItemFilter
from probing.probes import probe_named
from probing.probes.probe import tag_columns

TRUTH = {"yes": True, "no": False}
YES_NO = [("", "all"), ("yes", "yes"), ("no", "no")]


def _group_titles(run: Run, dimension: str, groups: Sequence[str]) -> list[tuple[str, str]]:
    """Return the groups that a reader may choose, each with what pages call it."""
    names = relation_names(run)
    return [(group, group_title(dimension, group, names)) for group in groups]


class ItemsForm(forms.Form):
    """Filters over a run's items by text, correctness, relation, template, and every tag that its file has.

    `values`: the least and the greatest value of each stored column (`item_rows.ends`).
    """

    search = forms.CharField(required=False, max_length=100, label="Subject or answer")
    correct = forms.ChoiceField(
        required=False, label="Right or wrong", choices=[("", "all"), ("yes", "right"), ("no", "wrong")]
    )

    def __init__(self, data: Any, *, run: Run, values: ColumnValues) -> None:
        super().__init__(data, label_suffix="")
        if "correct" not in values:
            del self.fields["correct"]
        self.yes_no = pages_of(run.benchmark).item_columns.yes_no
        for name, label in self.yes_no.items():
            self.fields.pop(name, None)
            self.fields[name] = forms.ChoiceField(required=False, choices=YES_NO, label=label)
        self.tags = tag_columns(probe_named(run.benchmark.probe), values)
        groups: dict[str, list[str]] = {}
        for dimension, group in dimension_groups(run):
            groups.setdefault(dimension, []).append(group)
        templates = range(min(values["template"]), max(values["template"]) + 1)
        groups.setdefault("template", [str(template) for template in templates])
        for name in ("relation", "template", *self.tags):
            choices = [("", "all"), *_group_titles(run, name, groups.get(name, []))]
            self.fields[name] = forms.ChoiceField(required=False, choices=choices, label=labels.dimension(name))

    @property
    def is_narrowed(self) -> bool:
        """Tell whether the reader has chosen a value in any field but the search."""
        return any(self.data.get(name) for name in self.fields if name != "search")

    def filter(self) -> ItemFilter:
        """Return the filter; values that are not valid are left out."""
        self.full_clean()
        values = self.cleaned_data
        template = values.get("template")
        yes_no = {name: TRUTH[values[name]] for name in self.yes_no if name != "correct" and values.get(name)}
        return ItemFilter(
            correct=TRUTH.get(values.get("correct", "")),
            relation=values.get("relation", ""),
            template=int(template) if template else None,
            search=values.get("search", ""),
            tags={tag: values[tag] for tag in self.tags if values.get(tag)} | yes_no,
        )
