"""Names of models as people write them: ids, addresses of pages at the hub, and names without an organisation."""

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from django.conf import settings

from leaderboard.intake import hub
from leaderboard.models import Model
from probing.errors import BadInput

HOSTS = {"huggingface.co", "www.huggingface.co", "hf.co"}
REVISION_PLACES = {"tree", "blob", "resolve", "commit", "raw"}
REVISION = re.compile(r"[\w][\w./-]{0,99}", re.ASCII)
NEWEST = "main"
SUGGESTIONS = 300


class ModelName(NamedTuple):
    """The id of a model and the revision that is meant, empty for the newest."""

    hub_id: str
    revision: str = ""


def parse_name(text: str) -> ModelName:
    """Read an id, or the address of a model's page at the hub, which may name a revision.

    What is neither is returned as it is; `checks.identity.refuse_malformed` says what is wrong with it.
    """
    text = text.strip()
    address = urlsplit(text if "://" in text else f"https://{text}")
    hosts = HOSTS | {urlsplit(settings.HF_ENDPOINT).hostname}
    if address.hostname not in hosts:
        return ModelName(text)
    path = [unquote(part) for part in address.path.split("/") if part]
    if path[:1] in (["datasets"], ["spaces"]):
        raise BadInput(f"This is the address of one of the {path[0]}, not of a model.", "Paste that of a model.")
    owner = 1 if len(path) > 1 and path[1] in REVISION_PLACES else 2
    place, revision = path[owner : owner + 1], "/".join(path[owner + 1 : owner + 2])
    named = bool(place) and place[0] in REVISION_PLACES and revision != NEWEST
    return ModelName("/".join(path[:owner]), revision if named else "")


def refuse_revision(revision: str) -> None:
    """Raise `BadInput` if this is no name of a branch, a tag or a commit."""
    if revision and (not REVISION.fullmatch(revision) or ".." in revision):
        raise BadInput(f"{revision[:100]!a} is not a revision.", "Give a branch, a tag or a commit of the model.")


def listed_revisions(text: str) -> list[str]:
    """Read revisions that are written one per line, or with commas or spaces between them."""
    return [name for name in re.split(r"[\s,]+", text) if name]


def full_ids(name: str) -> list[str]:
    """Return the models that this site knows by this name with an organisation in front."""
    if not name or "/" in name:
        return []
    listed = Model.objects.filter(hub_id__iendswith=f"/{name}").values_list("hub_id", flat=True).distinct()
    local = [hub_id for hub_id in hub.local_ids() if hub_id.lower().endswith(f"/{name.lower()}")]
    return sorted({*listed, *local})


def suggestions() -> list[str]:
    """Return ids to offer while somebody types: the local models first, then those that this site has figures of."""
    listed = Model.objects.filter(hub_id__contains="/").values_list("hub_id", flat=True).distinct().order_by("hub_id")
    return list(dict.fromkeys([*hub.local_ids(), *listed[:SUGGESTIONS]]))
