"""The interface for workers elsewhere, without a worker."""

import io
import json
import tarfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from leaderboard.figures import artefacts, benchmarks
from leaderboard.intake import queue, tokens
from leaderboard.intake.submissions import submit
from leaderboard.models import Benchmark, Model, Run, RunPart, WorkerToken
from leaderboard.worker import elsewhere
from leaderboard.worker.run_states import ATTEMPTS
from probing.formats import FORMATS
from probing.part_runner import probe_part
from probing.plan import Part, plan_of
from probing.remote.protocol import PROTOCOL
from probing.results.joining import PartResult
from probing.settings import Settings
from tests.fakes import FAKE_CARD, FakeModel
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs for which a worker here was woken up."""
    runs: list[int] = []
    monkeypatch.setattr(queue, "enqueue", lambda run_id, *more: runs.append(run_id) or True)
    return runs


@pytest.fixture
def run(small: Benchmark, local_hub: Hub, enqueued: list[int]) -> Run:
    run = submit("org/causal", small).run
    enqueued.clear()
    return run


class Worker:
    """What a worker elsewhere sends, by Django's test client."""

    def __init__(self, client: Client, name: str = "lab", *, trusted: bool = False) -> None:
        self.client, self.headers = client, {"Authorization": f"Bearer {tokens.create(name, trusted=trusted)}"}

    def post(self, route: str, body: Any = None) -> HttpResponse:
        content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        address = f"/api/v1/work/{route}"
        return self.client.post(address, content, content_type="application/json", headers=self.headers)

    def get(self, route: str) -> HttpResponse:
        return self.client.get(f"/api/v1/work/{route}", headers=self.headers)

    def claim(self, **more: Any) -> HttpResponse:
        return self.post("claim", {"protocol": PROTOCOL, "worker": "host-1", "lanes": ["default"], **more})

    def deliver(self, lease: str, result: PartResult) -> HttpResponse:
        rows = SimpleUploadedFile("rows.parquet", result.rows.to_parquet(index=False))
        form = {"rows": rows, "record": json.dumps(result.record)}
        return self.client.post(f"/api/v1/work/{lease}/rows", form, headers=self.headers)


@pytest.fixture
def worker(client: Client) -> Worker:
    return Worker(client)


def measured(run: Run, part: dict[str, Any], model: FakeModel | None = None) -> PartResult:
    """What a worker measures: here with a fake model of the run's identity."""
    model = model or FakeModel()
    card = {"id": run.model.hub_id, "commit": run.model.commit, "parameters": 1234}
    model.card = type(FAKE_CARD)(**{**vars(FAKE_CARD), **card})
    return probe_part(model, plan_of(benchmarks.read(run.benchmark), Settings.from_json(run.settings)), Part(**part))


def state(run: Run) -> str:
    return Run.objects.get(pk=run.pk).state


def test_a_worker_without_a_valid_token_gets_nothing(client: Client, run: Run) -> None:
    worker = Worker(client)
    assert worker.get("").json()["token"] == "lab"
    tokens.revoke("lab")
    for authorization in (worker.headers["Authorization"], "Bearer ", "Bearer é", "Basic cbw_x", ""):
        response = client.post("/api/v1/work/claim", headers={"Authorization": authorization})
        assert (response.status_code, response.json()["error"]["code"]) == (401, "unauthorized")
        assert response["WWW-Authenticate"] == "Bearer"


def test_a_worker_stays_with_a_run_unless_it_may_take_another_one(worker: Worker, run: Run) -> None:
    """It would load another model in vain, or none."""
    first, second = (
        make.model("org/local", source=Model.Source.LOCAL),
        make.model("org/huge", commit="c0ffee", weight_bytes=10**12),
    )
    worker.claim()
    mine = {"worker": "host-2", "run": run.pk, "memory_gb": 1}
    Model.objects.filter(pk=second.pk).update(stored_dtype="float32")
    for model in (first, second):
        waiting = make.run(model, run.benchmark, Run.State.QUEUED)
        RunPart.objects.create(run=waiting, relation="P1", template=0, items=1)
        part = RunPart.objects.get(pk=elsewhere.leased(worker.claim(**mine).json()["lease"], token("lab")).pk)
        assert part.run == run, f"no worker elsewhere can measure {model}"
        RunPart.objects.release(part)
    Model.objects.filter(pk=second.pk).update(weight_bytes=1000)
    assert worker.claim(**mine).status_code == 204


def token(name: str) -> WorkerToken:
    return WorkerToken.objects.get(name=name)


def test_nobody_holds_a_part_for_ever(worker: Worker, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = worker.claim().json()["lease"]
    assert worker.post(f"{lease}/renew", {"share": 0.1}).json() == {"continue": True}
    monkeypatch.setattr(elsewhere, "LONGEST", timedelta(0))
    assert worker.post(f"{lease}/renew", {"share": 0.1}).json() == {"continue": False}


def test_a_part_is_handed_out_with_all_that_is_needed_and_nothing_else(worker: Worker, run: Run) -> None:
    answer = worker.claim().json()
    part = run.parts.get(worker="lab/host-1")
    assert answer["run"] == run.pk
    assert (answer["hub_id"], answer["commit"]) == ("org/causal", run.model.commit)
    assert Settings.from_json(answer["settings"]).digest == run.settings_digest
    assert answer["part"] == {"relation": part.relation, "template": 0, "items": part.items}
    assert answer["benchmark"]["digest"] == run.benchmark.digest
    assert answer["lease_seconds"] == 30
    assert set(answer) == {
        *("lease", "run", "hub_id", "commit", "settings", "benchmark", "part", "positions", "lease_seconds"),
        "adapter_commit",
    }
    assert part.lease_until > timezone.now()
    assert state(run) == Run.State.DOWNLOADING


def test_when_all_parts_are_held_there_is_nothing_to_do(worker: Worker, run: Run, client: Client) -> None:
    other = Worker(client, "other")
    assert [worker.claim().status_code, other.claim().status_code] == [200, 200]
    assert Worker(client, "third").claim().status_code == 204


def test_a_claim_whose_answer_was_lost_costs_nothing(worker: Worker, run: Run) -> None:
    for _ in range(ATTEMPTS + 2):
        assert worker.claim().status_code == 200
    assert sorted(run.parts.values_list("attempts", flat=True)) == [0, 1]


@pytest.mark.parametrize(
    "kept_here",
    [
        {"model__source": Model.Source.LOCAL},
        {"model__commit": ""},
        {"model__gated": True},
        {"benchmark__path": ""},
        {"lane": "large"},
        {"state": Run.State.WAITING},
        {"state": Run.State.CANCELLED},
    ],
)
def test_what_must_not_or_cannot_leave_the_site_is_not_handed_out(
    worker: Worker, run: Run, kept_here: dict[str, Any]
) -> None:
    ((field, value),) = kept_here.items()
    table, _, name = field.rpartition("__")
    owner = {"model": run.model, "benchmark": run.benchmark, "": run}[table]
    type(owner).objects.filter(pk=owner.pk).update(**{name: value})
    assert worker.claim().status_code == 204


def test_lanes_memory_and_the_run_narrow_what_is_handed_out(worker: Worker, run: Run) -> None:
    Run.objects.update(lane="large")
    Model.objects.update(weight_bytes=10 * 10**9, stored_dtype="bfloat16")  # 20 GB as float32
    for asked, status in [
        ({"lanes": ["large"], "memory_gb": 19}, 204),
        ({"lanes": ["large"], "run": run.pk + 1}, 204),
        ({"lanes": ["default", "large"], "memory_gb": 21, "run": run.pk}, 200),
    ]:
        assert worker.claim(**asked).status_code == status, asked


@pytest.mark.parametrize(
    ("facts", "package"),
    [
        ({"adapter_commit": "5" * 40}, "peft"),
        ({"quantisation": "bitsandbytes, 4 bits"}, "bitsandbytes"),
        ({"quantisation": "GPTQ, 4 bits"}, "gptqmodel"),
    ],
)
def test_a_run_that_needs_a_package_goes_to_a_worker_that_has_it(
    worker: Worker, run: Run, facts: dict[str, str], package: str
) -> None:
    Model.objects.update(**facts)
    others = [name for name in ("peft", "bitsandbytes", "gptqmodel") if name != package]
    assert worker.claim(packages=others).status_code == 204
    assert worker.claim(packages=[package]).status_code == 200


def test_a_worker_of_another_version_is_told_who_has_to_update(worker: Worker, run: Run) -> None:
    for protocol, who in [(PROTOCOL - 1, "worker"), (PROTOCOL + 1, "site"), (None, "site")]:
        response = worker.claim(protocol=protocol)
        assert response.status_code == 426
        assert response.json()["error"]["next_step"] == f"Update the {who}."


def test_a_benchmark_arrives_whole(worker: Worker, small: Benchmark, tmp_path: Path) -> None:
    response = worker.get(f"benchmarks/{small.digest}.tar.gz")
    with tarfile.open(fileobj=io.BytesIO(b"".join(response.streaming_content))) as archive:
        assert {member.name.split("/")[0] for member in archive} == {"small"}
        archive.extractall(tmp_path)
    assert FORMATS["bear"](tmp_path / "small").digest == small.digest
    assert worker.get("benchmarks/0.tar.gz").status_code == 404


def test_a_benchmark_of_many_files_is_packed_at_once(worker: Worker, starter: Benchmark) -> None:
    with tarfile.open(fileobj=io.BytesIO(worker.get(f"benchmarks/{starter.digest}.tar.gz").getvalue())) as archive:
        members = archive.getmembers()
    assert len(members) > 30
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}


def test_a_run_that_is_measured_elsewhere_is_finished_here(worker: Worker, run: Run, enqueued: list[int]) -> None:
    Model.objects.filter(pk=run.model_id).update(parameters=None)  # as of weights whose headers do not tell
    for _ in range(2):
        assert enqueued == []
        answer = worker.claim().json()
        assert worker.post(f"{answer['lease']}/renew", {"share": 0.5}).json() == {"continue": True}
        assert worker.deliver(answer["lease"], measured(run, answer["part"])).json() == {"stored": True}
    assert enqueued == [run.pk]
    assert state(run) == Run.State.SCORING
    for part in run.parts.all():
        assert part.done
        assert part.record["worker"] == "lab/host-1"
        assert part.token == WorkerToken.objects.get()
        assert part.digest == artefacts.digest_of_rows(artefacts.read_part(part))
    run.model.refresh_from_db()
    assert run.model.parameters == 1234
    assert Run.objects.get(pk=run.pk).started


def test_progress_is_shown_while_the_lease_is_kept(worker: Worker, run: Run) -> None:
    answer = worker.claim().json()
    worker.post(f"{answer['lease']}/renew", {"share": 0})
    assert state(run) == Run.State.DOWNLOADING
    worker.post(f"{answer['lease']}/renew", {"share": 0.5})
    assert state(run) == Run.State.SCORING
    part = run.parts.get(worker="lab/host-1")
    assert part.items_done == part.items // 2


def test_the_same_rows_again_change_nothing_and_other_rows_are_refused(worker: Worker, run: Run) -> None:
    answer = worker.claim().json()
    rows = measured(run, answer["part"])
    assert worker.deliver(answer["lease"], rows).status_code == 200
    before = RunPart.objects.filter(done=True).values().get()
    assert worker.deliver(answer["lease"], rows).json() == {"stored": True}
    knowing = FakeModel(knows=["Chad is located in Europe.", "The capital of Norway is Cairo."])
    response = worker.deliver(answer["lease"], measured(run, answer["part"], knowing))
    assert (response.status_code, response.json()["error"]["code"]) == (409, "lease-lost")
    assert RunPart.objects.filter(done=True).values().get() == before


def test_a_part_that_another_worker_has_now_is_not_stored(worker: Worker, run: Run) -> None:
    answer = worker.claim().json()
    run.parts.filter(worker="lab/host-1").update(worker="another", attempts=2)
    assert worker.post(f"{answer['lease']}/renew", {"share": 0.5}).json() == {"continue": False}
    response = worker.deliver(answer["lease"], measured(run, answer["part"]))
    assert (response.status_code, response.json()["error"]["code"]) == (409, "lease-lost")
    assert not run.parts.filter(done=True).exists()


def test_rows_that_come_after_the_lease_has_run_out_are_kept_if_nobody_else_has_begun(worker: Worker, run: Run) -> None:
    answer = worker.claim().json()
    run.parts.update(lease_until=timezone.now() - timezone.timedelta(minutes=5))
    assert worker.deliver(answer["lease"], measured(run, answer["part"])).status_code == 200


def test_a_worker_of_a_cancelled_run_is_told_to_stop(worker: Worker, run: Run) -> None:
    answer = worker.claim().json()
    Run.objects.cancel(Run.objects.get(pk=run.pk), "No longer needed.")
    assert worker.post(f"{answer['lease']}/renew", {"share": 0.5}).json() == {"continue": False}
    assert not run.parts.exclude(lease_until=None).exists()


def test_refused_rows_count_as_attempts_until_the_run_fails(worker: Worker, run: Run) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        assert state(run) in (Run.State.QUEUED, Run.State.DOWNLOADING)
        answer = worker.claim().json()
        rows = measured(run, answer["part"])
        response = worker.deliver(answer["lease"], rows._replace(rows=rows.rows.assign(subject="Atlantis")))
        assert (response.status_code, response.json()["error"]["code"]) == (422, "rows-refused")
        assert run.parts.order_by("pk").first().attempts == attempt
    run.refresh_from_db()
    assert (run.state, run.code) == (Run.State.FAILED, "rows-refused")
    assert "lab/host-1" in run.message


def test_a_failure_that_may_pass_does_not_count(worker: Worker, run: Run) -> None:
    answer = worker.claim().json()
    error = {"code": "no-space", "message": "The disk is full.", "next_step": "Free some.", "permanent": False}
    assert worker.post(f"{answer['lease']}/fail", error).json() == {"taken": True}
    assert list(run.parts.values_list("attempts", "lease_until")) == [(0, None)] * 2


def test_the_third_failure_of_a_part_fails_the_run_with_its_log(worker: Worker, run: Run) -> None:
    error = {"code": "out-of-memory", "message": "Too large.", "next_step": "Use another.", "log": "the last line"}
    for _ in range(ATTEMPTS):
        worker.post(f"{worker.claim().json()['lease']}/fail", error)
    run.refresh_from_db()
    assert (run.state, run.code, run.next_step) == (Run.State.FAILED, "out-of-memory", "Use another.")
    assert run.message.startswith("Too large.")
    assert run.log == "the last line"
    assert worker.claim().status_code == 204


def test_a_part_on_which_workers_were_lost_fails_the_run(worker: Worker, run: Run) -> None:
    run.parts.update(attempts=ATTEMPTS)
    assert worker.claim().status_code == 204
    run.refresh_from_db()
    assert (run.state, run.code) == (Run.State.FAILED, "lost-worker")


def test_a_part_can_be_given_back(worker: Worker, run: Run) -> None:
    answer = worker.claim().json()
    assert worker.post(f"{answer['lease']}/release").status_code == 200
    assert list(run.parts.values_list("attempts", "lease_until")) == [(0, None)] * 2


def test_the_lease_of_another_token_is_worth_nothing(worker: Worker, client: Client, run: Run) -> None:
    lease = worker.claim().json()["lease"]
    thief = Worker(client, "thief")
    for route in ("rows", "fail", "release"):
        assert thief.post(f"{lease}/{route}").status_code == 409
        assert worker.post(f"{lease}x/{route}").status_code == 409
    assert thief.post(f"{lease}/renew", {"share": 1}).json() == {"continue": False}


BODIES = [
    b"", b"[]", b"{", b"\xff", b"[" * 90_000, b'{"a": ' * 10_000, b"x" * 200_000, b'{"share": "a lot"}',
    b'{"share": -1}', b'{"share": NaN}', b'{"share": 1e999}', b'{"share": ' + b"9" * 5000 + b"}",
    b'{"lanes": 1, "protocol": 2}',
    b'{"protocol": 2, "memory_gb": "8"}', b'{"protocol": 2, "run": -1}', b'{"protocol": 2, "run": 1e30}',
    b'{"protocol": ' + b"9" * 4000 + b"}", b'{"protocol": {}, "lanes": [[]]}', b'{"protocol": 2, "lanes": [[]]}',
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_no_body_breaks_the_site(worker: Worker, run: Run, body: bytes) -> None:
    lease = worker.claim().json()["lease"]
    for route in ("claim", f"{lease}/renew", f"{lease}/rows", f"{lease}/fail", "x/renew"):
        response = worker.post(route, body)
        assert response.status_code < 500, route
        assert response["Content-Type"] == "application/json", route


def test_forms_that_are_none_are_refused(worker: Worker, client: Client, run: Run) -> None:
    address = f"/api/v1/work/{worker.claim().json()['lease']}/rows"
    for body, kind in [
        (b"", "multipart/form-data"),
        (b"x", "multipart/form-data; boundary=x"),
        (b"--x\r\n", "multipart/form-data; boundary=é"),
        (b"rows=1&record=2", "application/x-www-form-urlencoded"),
    ]:
        response = client.post(address, body, content_type=kind, headers=worker.headers)
        assert (response.status_code, response.json()["error"]["code"]) == (400, "bad-input")
    large = client.generic("POST", address, b"", headers=worker.headers, CONTENT_LENGTH=str(10**12))
    assert large.status_code == 400


def test_a_database_that_does_not_answer_is_worth_another_try(
    worker: Worker, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*args: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(elsewhere, "claim", locked)
    assert worker.claim().status_code == 503


def test_submitters_take_turns(worker: Worker, run: Run, small: Benchmark) -> None:
    runs = [run]
    for submitter in ("a", "a", "b"):
        runs.append(make.run(make.model(), small, submitter=submitter))
        RunPart.objects.create(run=runs[-1], relation="P30", template=0, items=4)
    Run.objects.filter(pk=run.pk).update(submitter="a")
    claimed = [worker.claim(worker=f"host-{number}").json()["run"] for number in range(4)]
    assert claimed.index(runs[3].pk) < claimed.index(runs[1].pk)
    assert set(claimed) == {run.pk for run in runs}
