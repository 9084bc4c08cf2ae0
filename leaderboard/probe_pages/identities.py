"""Which models published figures are about: ids on the hub and sizes for the names that papers print."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from leaderboard.models import FormerName, Model, Run
from probing.errors import BadInput

TABLE = "models.csv"
COLUMNS = ("model", "name", "hub_id", "parameters", "kind", "id_source", "size_source")
UNRESOLVED = "published/"  # what the ids of rows begin with whose model is known by its printed name only


@dataclass(frozen=True)
class Identity:
    """The model that a row of published figures is about; `printed_name` is empty where its id on the hub is known."""

    hub_id: str
    printed_name: str
    kind: str
    parameters: int | None


def read_table(folder: Path) -> dict[str, Identity]:
    """Return the identities of the folder's table by the models of the rows, none if the folder has no table."""
    path = folder / TABLE
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        if tuple(table.fieldnames or ()) != COLUMNS:
            raise BadInput(f"{path} has not the columns {', '.join(COLUMNS)}.", "Restore the file.")
        return {row["model"]: _identity(row) for row in table}


def _identity(row: Mapping[str, str]) -> Identity:
    parameters = int(row["parameters"]) if row["parameters"] else None
    printed_name = "" if row["hub_id"] else row["name"]
    return Identity(row["hub_id"] or row["model"], printed_name, row["kind"], parameters)


def identity_of(table: Mapping[str, Identity], model: str, name: str, kind: str, parameters: int | None) -> Identity:
    """Return the identity of a row, given what its file says; a size that the source prints stays as printed."""
    listed = table.get(model)
    if listed is None:
        return Identity(model, name if model.startswith(UNRESOLVED) else "", kind, parameters)
    return Identity(listed.hub_id, listed.printed_name, listed.kind or kind, parameters or listed.parameters)


def store_model(identity: Identity) -> Model:
    """Return the model that stands for published figures of this identity, with its facts brought up to date."""
    facts = {"kind": identity.kind, "parameters": identity.parameters, "printed_name": identity.printed_name}
    model, _ = Model.objects.update_or_create(
        hub_id=identity.hub_id, commit="", source=Model.Source.PUBLISHED, defaults=facts
    )
    return model


def store_former_names(table: Mapping[str, Identity]) -> None:
    """Let the addresses of models under their former names redirect, and delete the rows that stood for these."""
    renamed = {name: identity.hub_id for name, identity in table.items() if identity.hub_id != name}
    for name, hub_id in renamed.items():
        FormerName.objects.update_or_create(name=name, defaults={"hub_id": hub_id})
    without_runs = Model.objects.filter(hub_id__in=renamed, source=Model.Source.PUBLISHED)
    without_runs.exclude(pk__in=Run.objects.values("model")).delete()
