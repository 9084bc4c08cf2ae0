"""All models with what the rows of the overview say about them."""

from typing import NamedTuple

from leaderboard.changed_settings import dtype_by_size
from leaderboard.models import Model


class ModelKey(NamedTuple):
    """What a row is about: the model of this id, with the hub's weights or with those that `weights` names."""

    hub_id: str
    weights: str = ""


class ListedModel(NamedTuple):
    """A model with what its row says; `dtype` is the number format that the site chooses for it."""

    key: ModelKey
    kind: str
    parameters: int | None
    stored_dtype: str
    dtype: str


def listed_models() -> dict[int, ListedModel]:
    """Return all models by number. Two queries."""
    weights = other_weights()
    rows = Model.objects.values_list("pk", "hub_id", "kind", "parameters", "stored_dtype")
    return {
        pk: ListedModel(
            ModelKey(hub_id, weights.get(pk, "")), kind, parameters, stored, dtype_by_size(parameters, stored)
        )
        for pk, hub_id, kind, parameters, stored in rows
    }


def other_weights() -> dict[int, str]:
    """Map models with other weights than those of the hub under the same id to what sets these apart. One query."""
    models = Model.objects.exclude(weights_file="", adapter_commit="", quantisation="")
    return {model.pk: model.weights_in_words for model in models}
