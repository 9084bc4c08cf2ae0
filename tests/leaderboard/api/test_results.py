"""Results that third parties push: stored once, marked, never ranked, and withdrawn by who pushed them."""

import errno
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.files.storage import FileSystemStorage, storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from pytest_django.fixtures import Settings as SiteSettings

from leaderboard.figures import benchmarks
from leaderboard.intake import queue, tokens
from leaderboard.models import Benchmark, Model, Run
from leaderboard.worker import third_party
from leaderboard.worker.arrivals import CheckedParts
from leaderboard.worker.jobs import finish_run
from probing.results.result import RECORD
from probing.results.rows import ITEMS
from probing.runner import run as measure
from probing.start_token import StartToken, TokenizerFacts
from tests.fakes import FAKE_CARD, Pupil
from tests.kept_folder import kept_folder
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db
TOKENIZER = TokenizerFacts("BPE", 1000, False, True, {"bos": "<s>"}, StartToken("bos", 1, "<s>", "bos", False))
CARD = replace(FAKE_CARD, id="org/elsewhere", kind="causal", parameters=125_000_000, tokenizer=TOKENIZER)
ROUTE = "/api/v1/results"


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs for which a worker was called."""
    runs: list[int] = []
    monkeypatch.setattr(queue, "enqueue", runs.append)
    return runs


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what waits for the end of a transaction happen at once, as no test here ends its own."""
    monkeypatch.setattr(transaction, "on_commit", lambda function: function())


def measured_elsewhere(on: Benchmark, folder: Path) -> Path:
    """Write a result of a third party into a folder."""

    def measured(new: Path) -> None:
        measure(Pupil(card=CARD), benchmarks.read(on), out=new, templates=(0,))

    return kept_folder(__name__, folder, measured)


@pytest.fixture
def result(small: Benchmark, tmp_path: Path) -> Path:
    return measured_elsewhere(small, tmp_path / "result")


class Pusher:
    """Who pushes results with a token of this name."""

    def __init__(self, client: Client, name: str = "lab") -> None:
        self.client = client
        self.headers = {"Authorization": f"Bearer {tokens.create(name, tokens.Purpose.PUSH)}"}

    def push(self, folder: Path, card: dict[str, Any] | None = None, **fields: str) -> Any:
        """Push a folder; `card`: changed facts of the model."""
        record = json.loads((folder / RECORD).read_text())
        record["model"] |= card or {}
        return self.send((folder / ITEMS).read_bytes(), json.dumps(record), **fields)

    def send(self, items: bytes, record: str, **fields: str) -> Any:
        """Push a file of rows and the text of a record."""
        files = {"items": SimpleUploadedFile(ITEMS, items), "record": SimpleUploadedFile(RECORD, record.encode())}
        return self.client.post(ROUTE, {**files, **fields}, headers=self.headers)

    def withdraw(self, run: int) -> Any:
        return self.client.delete(f"{ROUTE}/{run}", headers=self.headers)


@pytest.fixture
def pusher(client: Client) -> Pusher:
    return Pusher(client)


def changed(folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Path:
    """The same result with other rows."""
    change(pd.read_parquet(folder / ITEMS)).to_parquet(folder / ITEMS, index=False)
    return folder


def other_scores(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(scores=[scores - 1 for scores in rows["scores"]])


def test_a_result_is_a_run_of_a_third_party_and_the_same_again_is_the_same_run(pusher: Pusher, result: Path) -> None:
    answer = pusher.push(result)
    run = Run.objects.get(provenance=Run.Provenance.THIRD_PARTY)
    assert (answer.status_code, answer.json()) == (
        201,
        {"run": run.pk, "url": f"/runs/{run.pk}/", "state": "finished"},
    )
    assert (run.reference, run.model.hub_id, run.token.name) == ("lab", CARD.id, "lab")
    again = pusher.push(result)
    assert (again.status_code, again.json()) == (200, answer.json())


def test_it_is_marked_and_never_ranked(client: Client, small: Benchmark, pusher: Pusher, result: Path) -> None:
    make.measured(small, make.model("org/here"), skill=2, templates=(0,))
    run = Run.objects.get(pk=pusher.push(result, source="Example University").json()["run"])
    row = next(row for row in csv_rows(client, "/benchmarks/small/") if row["model"] == CARD.id)
    assert (row["rank"], row["provenance"]) == ("", "uploaded by a third party: Example University")
    rows = client.get("/api/v1/leaderboard?benchmark=small").json()["rows"]
    ranks = {row["run"]: (row["rank"], row["provenance"]) for row in rows}
    assert ranks[run.pk] == (None, "third-party")
    assert not run.ranks.exists()
    assert "uploaded by a third party" in client.get(run.get_absolute_url()).content.decode()


def test_other_rows_of_the_same_are_refused_until_the_first_are_withdrawn(pusher: Pusher, result: Path) -> None:
    run = pusher.push(result).json()["run"]
    other = changed(result, other_scores)
    refused = pusher.push(other)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "other-result")
    assert f"DELETE /api/v1/results/{run}" in refused.json()["error"]["next_step"]
    assert pusher.withdraw(run).json() == {"run": run, "withdrawn": True}
    assert not Run.objects.filter(pk=run).exists()
    assert not storages["artefacts"].exists(f"runs/{run}")
    assert pusher.push(other).status_code == 201


def test_only_the_token_that_pushed_a_result_withdraws_it(
    client: Client, small: Benchmark, pusher: Pusher, result: Path
) -> None:
    run = pusher.push(result).json()["run"]
    measured = make.measured(small, make.model(), skill=1)
    assert Pusher(client, "other").withdraw(run).status_code == 404
    assert pusher.withdraw(measured.pk).status_code == 404
    assert Run.objects.filter(pk__in=[run, measured.pk]).count() == 2


def test_a_withdrawn_result_leaves_no_model_unless_it_has_other_runs(
    small: Benchmark, pusher: Pusher, result: Path
) -> None:
    first, second = (pusher.push(result, source=source).json()["run"] for source in ("one", "two"))
    pusher.withdraw(first)
    assert Model.objects.filter(hub_id=CARD.id).exists()
    pusher.withdraw(second)
    assert not Model.objects.filter(hub_id=CARD.id).exists()


def test_two_checkpoints_of_a_local_training_are_two_models_under_one_name(
    client: Client, pusher: Pusher, result: Path
) -> None:
    for step in (100, 200):
        card: dict[str, Any] = {"id": f"/home/somebody/checkpoint-{step}", "commit": "", "source": "folder"}
        card |= {"files": {"model.safetensors": f"{step:064x}"}, "revision": f"checkpoint-{step}"}
        assert pusher.push(result, card, model="org/trained").status_code == 201
    models = Model.objects.filter(hub_id="org/trained").order_by("step")
    assert [(model.revision, model.step, model.source) for model in models] == [
        ("checkpoint-100", 100, "local"),
        ("checkpoint-200", 200, "local"),
    ]
    assert len({model.commit for model in models}) == 2
    rows = [row["settings"] for row in csv_rows(client, "/benchmarks/small/") if row["model"] == "org/trained"]
    assert rows == ["step 200 and 1 earlier step"]
    assert client.get("/models/org/trained/").status_code == 200


def test_networks_in_memory_are_told_apart_by_the_revision_that_was_sent(pusher: Pusher, result: Path) -> None:
    card: dict[str, Any] = {"id": "LlamaForCausalLM", "commit": "", "files": {}, "source": "object"}
    for revision in ("step100", "step200", "step200"):
        assert pusher.push(result, card, model="org/trained", revision=revision).status_code in (200, 201)
    models = Model.objects.filter(hub_id="org/trained").order_by("step")
    assert [(model.revision, model.step, model.commit) for model in models] == [
        ("step100", 100, ""),
        ("step200", 200, ""),
    ]
    assert Run.objects.filter(model__hub_id="org/trained").count() == 2


def test_a_third_party_does_not_name_a_commit_that_was_measured_here(pusher: Pusher, result: Path) -> None:
    here = make.model(CARD.id, commit=CARD.commit or "c0ffee", kind="causal")
    pusher.push(result, {"commit": here.commit}, revision="step5")
    here.refresh_from_db()
    assert (here.runs.count(), here.revision) == (1, "")


def of_another_subject(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(subject="Atlantis")


def test_what_no_measurement_gives_is_refused_and_leaves_nothing(pusher: Pusher, result: Path) -> None:
    answer = pusher.push(changed(result, of_another_subject))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "bad-input")
    assert "'subject' differs" in error["message"]
    assert error["next_step"]
    assert not Run.objects.filter(provenance=Run.Provenance.THIRD_PARTY).exists()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({}, "no file 'items'"), ({"items": SimpleUploadedFile("a", b"a")}, "no file 'record'")],
)
def test_a_form_without_both_files_is_refused(pusher: Pusher, fields: dict[str, Any], reason: str) -> None:
    answer = pusher.client.post(ROUTE, fields, headers=pusher.headers)
    assert (answer.status_code, reason in answer.json()["error"]["message"]) == (422, True)


def test_a_token_that_submits_pushes_nothing_and_one_for_results_submits_nothing(
    client: Client, pusher: Pusher, result: Path
) -> None:
    submitter = {"Authorization": f"Bearer {tokens.create('submitter', tokens.Purpose.SUBMIT)}"}
    refused = client.post(ROUTE, headers=submitter)
    assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer")
    assert "is not one that pushes results" in refused.json()["error"]["message"]
    assert client.get("/api/v1/submissions", headers=pusher.headers).status_code == 401
    assert client.post(ROUTE).status_code == 401
    tokens.revoke("lab", tokens.Purpose.PUSH)
    assert pusher.push(result).status_code == 401


def test_what_is_too_large_is_refused_before_it_is_read(client: Client, pusher: Pusher) -> None:
    answer = client.generic(
        "POST", ROUTE, b"", "multipart/form-data; boundary=a", headers=pusher.headers, CONTENT_LENGTH="300000000"
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request-too-large")


def test_one_token_pushes_so_many_results_a_minute(pusher: Pusher, result: Path, settings: SiteSettings) -> None:
    settings.PUSHES_PER_MINUTE = 1
    assert pusher.push(result).status_code == 201
    late = pusher.push(result)
    assert (late.status_code, late.json()["error"]["code"]) == (429, "too-fast")
    assert int(late["Retry-After"]) > 0


def test_a_large_result_is_checked_by_a_worker_and_its_page_says_so(
    client: Client,
    pusher: Pusher,
    result: Path,
    woken: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(third_party, "CHECKED_AT_ONCE", 5)
    answer = pusher.push(result)
    run = Run.objects.get(provenance=Run.Provenance.THIRD_PARTY)
    assert (answer.status_code, answer.json()["state"], woken) == (202, "aggregating", [run.pk])
    assert pusher.push(result).json() == answer.json()
    page = client.get(run.get_absolute_url()).content.decode()
    assert "Its rows are being checked" in page
    assert client.get("/queue/").status_code == 200
    finish_run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.scores.filter(metric="accuracy").exists()) == ("finished", True)
    assert storages["artefacts"].listdir(f"runs/{run.pk}")[0] == [run.artefact.rpartition("/")[-1]]
    again = pusher.push(result)
    assert (again.status_code, again.json()["state"]) == (200, "finished")


def test_a_large_result_that_is_refused_ends_as_failed_and_may_be_pushed_again(
    pusher: Pusher, result: Path, woken: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(third_party, "CHECKED_AT_ONCE", 5)
    whole = (result / ITEMS).read_bytes()
    pusher.push(changed(result, of_another_subject))
    finish_run(Run.objects.get(provenance=Run.Provenance.THIRD_PARTY).pk)
    failed = Run.objects.get(provenance=Run.Provenance.THIRD_PARTY)
    assert (failed.state, failed.code) == ("failed", "bad-input")
    assert "'subject' differs" in failed.message
    assert storages["artefacts"].listdir(f"runs/{failed.pk}") == ([], [])
    (result / ITEMS).write_bytes(whole)
    assert pusher.push(result).status_code == 202
    assert not Run.objects.filter(pk=failed.pk).exists()


def test_a_full_disk_is_worth_another_try_and_nothing_is_left(
    pusher: Pusher, result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for kind, method in ((CheckedParts, "store"), (FileSystemStorage, "_save")):
        with monkeypatch.context() as patch:
            patch.setattr(kind, method, full)
            answer = pusher.push(result)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no-space")
        assert not Run.objects.filter(provenance=Run.Provenance.THIRD_PARTY).exists()
    assert pusher.push(result).status_code == 201


def test_two_requests_with_the_same_result_at_once_store_it_once(
    pusher: Pusher, result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = pusher.push(result).json()["run"]
    monkeypatch.setattr(third_party, "stored_result", lambda claim, digest: None)  # the other one had not stored it yet
    late = pusher.push(result)
    assert (late.status_code, late.json()["error"]["code"], late["Retry-After"]) == (503, "site-busy", "5")
    assert list(Run.objects.filter(provenance=Run.Provenance.THIRD_PARTY).values_list("pk", flat=True)) == [run]
