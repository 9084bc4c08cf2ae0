"""Pages that are kept until the data change, asked for as readers do."""

import gzip
import re
import time
from itertools import count
from random import Random

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection, connections
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from leaderboard.figures.ranks import refresh_ranks
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.pages.rendering import LIVE_SECONDS
from leaderboard.serving.page_cache import LARGEST, kept
from tests.leaderboard import factories as make

pytestmark = pytest.mark.usefixtures("transactional_db")
TABLE = "/benchmarks/tiny/relations/P30/"
FORM_TOKEN = re.compile('name="csrfmiddlewaretoken" value="([^"]+)"')


@pytest.fixture(autouse=True)
def memory(settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    settings.ALLOWED_HOSTS = ["testserver", "one.example", "other.example"]
    cache.clear()


@pytest.fixture
def tiny() -> Benchmark:
    """A benchmark with a folder, so that models can be submitted for it."""
    return make.benchmark(path="benchmarks/tiny")


def text(client: Client, address: str, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        text(client, address)
    return len(captured)


def test_an_unchanged_page_needs_one_query(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny)
    assert queries(client, TABLE) > 1
    assert queries(client, TABLE) == 1


def test_a_page_is_correct_at_once_after_runs_are_deleted_in_the_administration(
    admin_client: Client, client: Client, tiny: Benchmark
) -> None:
    gone = make.finished(tiny, of=make.model("org/gone"))
    make.finished(tiny)
    assert "org/gone" in text(client, TABLE)
    chosen = {"action": "delete_selected", "_selected_action": [str(gone.pk)], "post": "yes"}
    admin_client.post("/admin/leaderboard/run/", chosen)
    assert "org/gone" not in text(client, TABLE)


def add_rows_at_once(benchmark: Benchmark) -> None:
    Model.objects.bulk_create([Model(hub_id="org/many", commit="c")])


def change_rows_at_once(benchmark: Benchmark) -> None:
    Run.objects.filter(benchmark=benchmark).update(reference="Table 2")


def delete_scores(benchmark: Benchmark) -> None:
    Score.objects.filter(run__benchmark=benchmark, dimension="overall").delete()


def rank(benchmark: Benchmark) -> None:
    make.finished(benchmark)
    refresh_ranks(benchmark)


def change_by_hand(benchmark: Benchmark) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE leaderboard_benchmark SET title = 'Changed by hand'")


CHANGES = [add_rows_at_once, change_rows_at_once, delete_scores, rank, change_by_hand]


def test_every_change_of_the_data_has_the_page_made_anew(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny)
    text(client, TABLE)
    for change in CHANGES:
        assert queries(client, TABLE) == 1
        change(tiny)
        assert queries(client, TABLE) > 1, change


def test_progress_of_a_part_has_no_page_made_anew(client: Client, tiny: Benchmark) -> None:
    going = make.running(make.model(), tiny)
    make.finished(tiny)
    text(client, TABLE)
    going.parts.update(items_done=60)
    assert queries(client, TABLE) == 1


def test_the_page_of_a_run_in_progress_is_kept_for_no_longer_than_its_progress_holds(
    client: Client, tiny: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = make.running(make.model(), tiny).get_absolute_url()
    anew = queries(client, address)
    assert anew > queries(client, address) == 1
    later = time.time() + LIVE_SECONDS + 1
    monkeypatch.setattr("django.core.cache.backends.locmem.time.time", lambda: later)
    assert anew >= queries(client, address) > 1, "it is made anew, from the order of the queue that is kept"


def test_hosts_query_strings_and_htmx_have_pages_of_their_own() -> None:
    calls = []

    def view(request: HttpRequest) -> HttpResponse:
        calls.append(request)
        return HttpResponse(f"answer {len(calls)}")

    make.benchmark()
    requests = [
        RequestFactory().get("/x", headers={"Host": "one.example"}),
        RequestFactory().get("/x", headers={"Host": "other.example"}),
        RequestFactory().get("/x?page=2", headers={"Host": "one.example"}),
        RequestFactory().get("/x?page=2", headers={"Host": "one.example", "HX-Request": "true"}),
    ]
    answers = [kept(view)(request).getvalue() for request in requests]
    assert len(set(answers)) == len(requests)
    assert [kept(view)(request).getvalue() for request in requests] == answers


PACKED = {"Accept-Encoding": "gzip, br"}


def test_a_kept_page_is_sent_as_the_client_wants_it(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny)
    answers = [client.get(TABLE, headers=headers) for headers in (PACKED, {}, PACKED, {})]
    assert [answer.get("Content-Encoding") for answer in answers] == ["gzip", None, "gzip", None]
    made, plain, again, _ = answers
    assert made.getvalue() == again.getvalue()
    assert gzip.decompress(made.getvalue()) == plain.getvalue()
    assert "Accept-Encoding" in made["Vary"] and "Accept-Encoding" in again["Vary"]


def test_a_kept_page_has_the_tag_of_the_page_that_was_made(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny)
    made = client.get(TABLE, headers=PACKED)
    assert client.get(TABLE, headers=PACKED)["ETag"] == made["ETag"]
    for headers in (PACKED, {}):
        answer = client.get(TABLE, headers={**headers, "If-None-Match": made["ETag"]})
        assert (answer.status_code, answer.getvalue()) == (304, b"")


def test_a_page_that_is_large_even_when_compressed_is_not_kept() -> None:
    make.benchmark()
    numbers, noise = count(), Random(0).randbytes(LARGEST)
    view = kept(lambda request: HttpResponse(noise + str(next(numbers)).encode()))
    first, second = (view(RequestFactory().get("/x")).getvalue() for _ in range(2))
    assert first != second


def test_nothing_of_one_reader_is_shown_to_another(client: Client, tiny: Benchmark) -> None:
    reader = Client()
    reader.force_login(User.objects.create_user("reader"))
    make.finished(tiny)
    assert queries(reader, TABLE) > 1
    assert queries(reader, TABLE) > 1
    assert queries(client, TABLE) > 1


def test_a_page_with_the_token_of_a_form_is_not_kept() -> None:
    make.benchmark()
    factory = RequestFactory()

    def view(request: HttpRequest) -> HttpResponse:
        request.META["CSRF_COOKIE_NEEDS_UPDATE"] = True
        return HttpResponse(request.META["HTTP_USER_AGENT"])

    for name in ("first", "second"):
        assert kept(view)(factory.get("/x", headers={"User-Agent": name})).getvalue() == name.encode()


def test_a_page_with_a_form_is_kept_without_the_token_of_a_reader(tiny: Benchmark) -> None:
    tokens = []
    for reader in (Client(enforce_csrf_checks=True), Client(enforce_csrf_checks=True)):
        for _ in range(2):  # who has no cookie yet, and who has one
            (token,) = FORM_TOKEN.findall(text(reader, "/submit/"))
            tokens.append(token)
            sent = reader.post("/submit/", {"csrfmiddlewaretoken": token, "look": "yes"})
            assert sent.status_code == 200, "the token is the reader's own"
        assert queries(reader, "/submit/") == 1
    assert len(set(tokens)) == 4


def test_the_token_of_a_form_is_in_no_page_that_is_kept(tiny: Benchmark) -> None:
    reader = Client()
    (token,) = FORM_TOKEN.findall(text(reader, "/submit/"))
    assert token not in text(Client(), "/submit/")
    tags = {reader.get("/submit/")["ETag"] for _ in range(2)}
    assert len(tags) == 2, "no browser goes on with a page that has an old token"


@pytest.mark.parametrize("status", [404, 500])
def test_errors_are_not_kept(status: int) -> None:
    make.benchmark()
    statuses = iter([status, 200])
    view = kept(lambda request: HttpResponse(status=next(statuses)))
    assert [view(RequestFactory().get("/x")).status_code for _ in range(2)] == [status, 200]


def test_without_a_version_every_page_is_computed(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny)
    with connections["default"].cursor() as cursor:
        cursor.execute("DELETE FROM clozeboard_data_version")
    assert queries(client, TABLE) > 1
    assert queries(client, TABLE) > 1


def test_a_change_that_is_rolled_back_leaves_the_version(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny)
    text(client, TABLE)
    connection.set_autocommit(False)
    try:
        Benchmark.objects.update(title="Never")
        connection.rollback()
    finally:
        connection.set_autocommit(True)
    assert queries(client, TABLE) == 1
