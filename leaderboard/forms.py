"""What forms ask: they only validate; a wrong filter is left out and said."""

from collections.abc import Sequence
from typing import Any

from django import forms

from leaderboard import queries, words
from leaderboard.items import COLUMNS, ItemFilter
from leaderboard.models import Benchmark, Run
from probing.probes import specificity

# Stored with each item, but no tags.
STORED = {
    *COLUMNS,
    *("subject_id", "answer", "answers", "prediction", "scores", "exact", "statement"),
    *("predicate", "objects", "prediction_cultures", "prediction_statement", "rank_statement", "correct_statement"),
    *("correct_normalised", "correct_exact"),
    *("repetitions", "log_prob", "words"),
    *specificity.Columns.__annotations__,
    *("id", "method", "one_token", "predictions", "log_probs", "continuation"),
} - {"language"}


class SubmitForm(forms.Form):
    """A model's id and the benchmark to measure it on."""

    model = forms.CharField(
        label="Model id",
        max_length=200,
        help_text="As the hub spells it, for example HuggingFaceTB/SmolLM2-135M-Instruct.",
        widget=forms.TextInput(
            attrs={"list": "local-models", "autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
        ),
    )
    benchmark = forms.ModelChoiceField(
        Benchmark.objects.none(), to_field_name="slug", empty_label=None, label="Benchmark"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        field = self.fields["benchmark"]
        field.queryset = queries.benchmarks().exclude(path="")
        field.label_from_instance = lambda benchmark: f"{benchmark.title} ({benchmark.items:,} items)"


class ItemsForm(forms.Form):
    """Filters over a run's items: the columns that its file has beyond the usual ones are tags."""

    search = forms.CharField(required=False, max_length=100, label="Subject or answer")
    correct = forms.ChoiceField(
        required=False, label="Answer", choices=[("", "all"), ("yes", "right"), ("no", "wrong")]
    )

    def __init__(self, data: Any, *, run: Run, columns: Sequence[str]) -> None:
        super().__init__(data, label_suffix="")
        if "correct" not in columns:
            del self.fields["correct"]
        self.tags = [name for name in columns if name not in STORED]
        groups: dict[str, list[str]] = {}
        for dimension, group in queries.groups(run):
            groups.setdefault(dimension, []).append(group)
        for name in ("relation", "template", *self.tags):
            choices = [("", "all"), *((group, group) for group in groups.get(name, []))]
            self.fields[name] = forms.ChoiceField(required=False, choices=choices, label=words.dimension(name))

    def filter(self) -> ItemFilter:
        """What was asked for, without what is not valid."""
        self.full_clean()
        asked = self.cleaned_data
        template = asked.get("template")
        return ItemFilter(
            correct={"yes": True, "no": False}.get(asked.get("correct", "")),
            relation=asked.get("relation", ""),
            template=int(template) if template else None,
            search=asked.get("search", ""),
            tags={tag: asked[tag] for tag in self.tags if asked.get(tag)},
        )
