"""The filters of the pages of questions: which questions a list has, and whose answers a question's page shows."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from leaderboard.display import labels
from leaderboard.lists.questions import HARDEST, ORDERS, PLACE_TAGS, Choice, values_of_tag
from leaderboard.probe_pages.questions_in_words import relation_name, tag_text
from probing.benchmark import Relation

EVERY, NONE = "right", "wrong"


class AnswersForm(forms.Form):
    """Filters over the models that answered a question."""

    model = forms.CharField(required=False, max_length=100, label="Model")
    outcome = forms.ChoiceField(
        required=False,
        label="Answers",
        choices=[("", "all"), (EVERY, "right in every wording"), (NONE, "right in none")],
    )

    def __init__(self, data: Any, judged: bool) -> None:
        super().__init__(data, label_suffix="")
        if not judged:
            del self.fields["outcome"]
        self.full_clean()

    def passes(self, name: str, share: float | None) -> bool:
        """Tell whether a run is chosen, given its name and the share of wordings in which it is right."""
        outcome = self.cleaned_data.get("outcome", "")
        part = self.cleaned_data.get("model", "").casefold()
        return part in name.casefold() and share == {EVERY: 1, NONE: 0}.get(outcome, share)


class QuestionsForm(forms.Form):
    """Filters over the questions of a benchmark, and their order."""

    search = forms.CharField(required=False, max_length=100, label="Subject, sentence or answer")

    def __init__(self, data: Any, relations: Sequence[Relation], judged: bool) -> None:
        super().__init__(data, label_suffix="")
        names = {relation.label: relation_name(relation) for relation in relations}
        self.fields["relation"] = _choice_field("Relation", names)
        for tag in PLACE_TAGS:
            values = values_of_tag(relations, tag)
            if len(values) > 1:
                self.fields[tag] = _choice_field(
                    labels.dimension(tag), {value: tag_text(tag, value) for value in values if value}
                )
        if judged:
            self.fields["order"] = forms.ChoiceField(required=False, choices=list(ORDERS.items()), label="Order")
        self.full_clean()

    @property
    def choice(self) -> Choice:
        """The choice of the reader; values that are not valid are left out."""
        chosen = {name: value for name, value in self.cleaned_data.items() if value}
        return Choice(**{"order": HARDEST, **chosen})


def _choice_field(label: str, titles: Mapping[str, str]) -> forms.ChoiceField:
    """Return a field that chooses one of several values, which pages call by their titles, or all of them."""
    return forms.ChoiceField(required=False, choices=[("", "all"), *titles.items()], label=label)
