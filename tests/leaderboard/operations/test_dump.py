"""Dumps: pages of ended runs are the same on a site that is filled from one, and nothing private is in it."""

import gzip
import hashlib
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.models import Run, RunEvent, Submission, WorkerToken
from leaderboard.operations.dump import dumps, write_dump
from leaderboard.operations.freezing import freeze_site
from tests.leaderboard.conftest import Site
from tests.leaderboard.management.commands.output import output_of
from tests.leaderboard.operations.crawling import crawl, empty_machine

pytestmark = pytest.mark.django_db(transaction=True)
PRIVATE = ("192.0.2.7", "a line of our code", "laboratory", "host-17", "t" * 43, "org/running")


@pytest.fixture
def private(site: Site) -> Site:
    """The site with everything that only its maintainer may see."""
    token = WorkerToken.objects.create(name="laboratory", digest="0" * 64)
    fields = {"submitter": "192.0.2.7", "traceback": "a line of our code", "token": token}
    Run.objects.filter(pk=site.first.pk).update(**fields)
    RunEvent.objects.create(run=site.first, state=Run.State.SCORING, worker="laboratory/host-17")
    Submission.objects.create(token="t" * 43, model_id="org/first", benchmark=site.benchmark, run=site.first)
    return site


def test_every_page_of_a_site_that_is_filled_from_a_dump_is_the_same(
    client: Client, private: Site, settings: DjangoSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    target, _ = write_dump()
    model = private.running.model
    private.running.delete()  # a dump has no unfinished runs
    model.delete()
    snapshot = freeze_site()
    pages = crawl(client, private)
    empty_machine(settings, tmp_path)
    output_of("restore", str(target))
    after = crawl(client, private)
    different = [address for address, page in pages.items() if after[address] != page]
    assert set(different) <= {"/status/", "/status/?format=csv"}, "these are about the machines of a site"
    assert freeze_site().digest == snapshot.digest


def test_nothing_private_is_in_a_dump(private: Site, settings: DjangoSettings) -> None:
    target, _ = write_dump()
    content = gzip.decompress(target.read_bytes())
    for secret in (*PRIVATE, settings.SECRET_KEY):
        assert secret.encode() not in content, secret
    assert target.stat().st_mode & 0o044


def test_the_command_names_the_digest_and_the_licences_of_benchmarks(private: Site) -> None:
    private.benchmark.licence = ""
    private.benchmark.save()
    printed = output_of("dump")
    (dump,) = dumps()
    assert dump.digest in printed
    assert "Their licence: none stated" in printed
    with pytest.raises(CommandError, match="exists already"):
        output_of("dump")


def test_readers_find_dumps_with_their_digests_and_resume_a_download(client: Client, private: Site) -> None:
    target, _ = write_dump()
    content = target.read_bytes()
    address = f"/snapshots/dumps/{target.name}"
    page = client.get("/snapshots/").content.decode()
    assert f'href="{address}"' in page
    assert hashlib.sha256(content).hexdigest() in page
    assert client.get(address).getvalue() == content
    rest = client.get(address, headers={"range": "bytes=100-"})
    assert rest.status_code == 206
    assert rest.getvalue() == content[100:]
    for other in ("clozeboard-2020-01-01.tar.gz", f"{target.name}.sha256", "..%2Fdatabase.sqlite3"):
        assert client.get(f"/snapshots/dumps/{other}").status_code == 404


def test_a_dump_that_is_being_written_is_not_offered(client: Client, private: Site) -> None:
    target, _ = write_dump()
    target.with_name(f"{target.name}.sha256").unlink()
    assert dumps() == []
    assert target.name not in client.get("/snapshots/").content.decode()
