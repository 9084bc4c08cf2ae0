"""All models with what the rows of the overview say about them."""

from typing import NamedTuple

from leaderboard.changed_settings import dtype_by_size
from leaderboard.lists.light_rows import light_row
from leaderboard.models import Model
from leaderboard.models.model import stated_bits

WEIGHTS_FIELDS = ("hub_id", "weights_file", "quantisation", "source", "adapter_commit")


class ModelKey(NamedTuple):
    """What a row is about: the model of this id, with the hub's weights or with those that `weights` names."""

    hub_id: str
    weights: str = ""

    @property
    def has_adapter(self) -> bool:
        return "+" in self.hub_id

    @property
    def is_quantised(self) -> bool:
        return stated_bits(self.weights) is not None


class ListedModel(NamedTuple):
    """A model with what its row says; `dtype` is the number format that the site chooses for it."""

    key: ModelKey
    kind: str
    parameters: int | None
    stored_dtype: str
    dtype: str


def listed_models() -> dict[int, ListedModel]:
    """Return all models by number. One query."""
    rows = Model.objects.values_list("pk", "kind", "parameters", "stored_dtype", *WEIGHTS_FIELDS)
    return {
        pk: ListedModel(_key(*weights), kind, parameters, stored, dtype_by_size(parameters, stored))
        for pk, kind, parameters, stored, *weights in rows
    }


def _key(hub_id: str, weights_file: str, quantisation: str, source: str, adapter_commit: str) -> ModelKey:
    """Return what the row of a model is about; most models have the hub's weights, which need no words."""
    if not (weights_file or quantisation or adapter_commit):
        return ModelKey(hub_id)
    values = (hub_id, weights_file, quantisation, source, adapter_commit)
    model = light_row(Model, dict(zip(WEIGHTS_FIELDS, values, strict=True)))
    return ModelKey(hub_id, model.weights_in_words)
