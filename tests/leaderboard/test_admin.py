import pytest
from django.core.files.storage import storages
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from leaderboard.intake import queue
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make


@pytest.fixture
def run(small: Benchmark) -> Run:
    return make.run(make.model(), small)


def act(client: Client, run: Run, action: str) -> str:
    address = "/admin/leaderboard/run/"
    return client.post(address, {"action": action, "_selected_action": [run.pk]}, follow=True).content.decode()


def test_a_maintainer_can_cancel(admin_client: Client, run: Run) -> None:
    assert "1 runs cancelled" in act(admin_client, run, "cancel")
    run.refresh_from_db()
    assert run.state == Run.State.CANCELLED
    assert run.events.get().message == "Cancelled by admin."


def test_a_maintainer_can_queue_a_failed_run_again(
    admin_client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "enqueue", lambda run_id: True)
    Run.objects.fail(run, "internal", "It broke.")
    assert "1 runs queued" in act(admin_client, run, "requeue")
    run.refresh_from_db()
    assert (run.state, run.code) == (Run.State.QUEUED, "")


def test_a_redis_that_does_not_answer_is_reported(admin_client: Client, run: Run) -> None:
    assert "no Redis" in act(admin_client, run, "requeue")


def test_nobody_changes_rows_by_hand(admin_client: Client, run: Run) -> None:
    page = admin_client.get(f"/admin/leaderboard/run/{run.pk}/change/").content.decode()
    assert 'name="_save"' not in page
    assert admin_client.get("/admin/leaderboard/run/add/").status_code == 403


@pytest.mark.parametrize("table", ["model", "benchmark", "run"])
def test_every_list_opens(admin_client: Client, run: Run, table: str) -> None:
    assert admin_client.get(f"/admin/leaderboard/{table}/").status_code == 200


def test_a_run_that_a_maintainer_deletes_leaves_no_files(
    admin_client: Client, small: Benchmark, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    run = make.measured(small, make.model(), skill=1)
    assert storages["artefacts"].exists(f"runs/{run.pk}")
    with django_capture_on_commit_callbacks(execute=True):
        sent = {"action": "delete_selected", "_selected_action": [run.pk], "post": "yes"}
        admin_client.post("/admin/leaderboard/run/", sent)
    assert not Run.objects.filter(pk=run.pk).exists()
    assert not storages["artefacts"].exists(f"runs/{run.pk}")
