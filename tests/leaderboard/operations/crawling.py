"""All pages of a site, to be compared with those of a restored one, and an empty machine to restore it on."""

import re
from pathlib import Path

from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.models import Run
from tests.leaderboard.conftest import Site, nothing_remembered

CHANGING = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"')


def crawl(client: Client, site: Site) -> dict[str, bytes]:
    """Every kind of page, with the tables that it hands out as CSV, the API, and stored files."""
    pages = {}
    runs = [f"/runs/{pk}/" for pk in Run.objects.values_list("pk", flat=True)]
    api = ["leaderboard", "models", "benchmarks", "runs", *(f"runs/{site.first.pk}{rest}" for rest in ("", "/items"))]
    shown = [*site.addresses, *runs]
    tables = [f"{address}{'&' if '?' in address else '?'}format=csv" for address in shown]
    for address in [*shown, *tables, *(f"/api/v1/{name}" for name in api)]:
        response = client.get(address)
        pages[address] = CHANGING.sub(b"", response.getvalue())
        assert response.status_code in (200, 404), address
    stored = client.get(f"/runs/{site.first.pk}/items.parquet")
    assert stored.status_code == 200
    return {**pages, "parquet": stored.getvalue()}


def empty_machine(settings: DjangoSettings, tmp_path: Path) -> None:
    """A database without rows and a data folder that does not exist yet."""
    call_command("flush", interactive=False, verbosity=0)
    settings.DATA = tmp_path / "restored"
    location = {"OPTIONS": {"location": settings.DATA / "artefacts"}}
    settings.STORAGES = settings.STORAGES | {"artefacts": settings.STORAGES["artefacts"] | location}
    nothing_remembered.__wrapped__()
