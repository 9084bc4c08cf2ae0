"""Checks of which model a submission is about: its id, whether it exists and is public, and what was measured."""

import re

from django.conf import settings

from leaderboard.intake import hub
from leaderboard.intake.checks.examination import AlreadyMeasured, Examination, listing_of
from leaderboard.intake.model_names import refuse_revision
from leaderboard.models import Run
from probing.errors import BadInput, Gated, ModelNotFound, SourceUnavailable
from probing.files.listing import Listing

LONGEST_NAME = 200  # characters that the table of models has for an id
HUB_ID = re.compile(r"(?:[\w][\w.-]{0,95}/)?[\w][\w.-]{0,95}", re.ASCII)


def well_formed(examination: Examination) -> str:
    refuse_malformed(examination.hub_id)
    return f"{examination.hub_id} is a model id."


def refuse_malformed(hub_id: str) -> None:
    """Raise `BadInput` if this is not the id of a model; a valid one has at most 193 characters, all of them ASCII."""
    base, plus, adapter = hub_id.partition("+")
    if plus and len(hub_id) > LONGEST_NAME:
        raise BadInput(f"The names of model and adapter have more than {LONGEST_NAME} characters.", "Rename one.")
    for name in (base, adapter.partition("@")[0]) if plus else (base,):
        if not HUB_ID.fullmatch(name) or ".." in name or "--" in name:
            step = "Write it as org/name, as the hub shows it, or with an adapter as org/name+org/adapter."
            raise BadInput(f"{name[:200]!a} is not a model id.", step)
    refuse_revision(adapter.partition("@")[2])


def exists(examination: Examination) -> str:
    """Find the model. An id without an organisation, such as gpt2, passes if the hub knows the full id."""
    base, _, adapter = examination.hub_id.partition("+")
    try:
        examination.listing = hub.find(base, examination.revision)
    except SourceUnavailable:
        refuse_short(base)
        raise
    refuse_malformed(examination.listing.hub_id)
    refuse_short(examination.listing.hub_id)
    if adapter:
        examination.adapter = hub.find_adapter(adapter)
        refuse_short(examination.adapter.hub_id)
        refuse_malformed(examination.name)
    return "A local model." if examination.listing.folder else f"Found at {settings.HF_ENDPOINT}."


def refuse_short(hub_id: str) -> None:
    """Raise `ModelNotFound` if the id names no organisation."""
    if "/" not in hub_id:
        raise ModelNotFound(f"{hub_id} has no organisation in front.", "Write the id as org/name.")


def public(listing: Listing) -> str:
    if not listing.public:
        raise Gated(
            f"{listing.hub_id} is private or gated, so nobody could repeat the measurement.",
            "Submit a model that anyone can download.",
        )
    return "Offered by this site." if listing.folder else "Anyone can download it."


def version_pinned(listing: Listing) -> str:
    if not listing.commit:
        raise ModelNotFound(f"The hub names no commit of {listing.hub_id}.", "Push at least one commit.")
    if listing.folder:
        return f"Its files are known by their content: SHA-256 {listing.commit[:12]}."
    return f"Pinned to {listing.commit[:12]}."


def not_measured_already(examination: Examination) -> str:
    """Look for a finished or unfinished run of the same. A failed or cancelled run does not count: it is restarted."""
    listing = listing_of(examination)
    same = Run.objects.filter(
        model__hub_id=examination.name,
        model__commit=listing.commit,
        model__adapter_commit=examination.adapter_commit,
        model__source=examination.source,
        benchmark=examination.benchmark,
        settings_digest=examination.settings.digest,
    )
    duplicate = same.exclude(state__in=[Run.State.FAILED, Run.State.CANCELLED]).first()
    if duplicate:
        raise AlreadyMeasured(f"This is run {duplicate.pk}, {duplicate.state}.", "See that run; nothing is repeated.")
    return "Not measured yet."
