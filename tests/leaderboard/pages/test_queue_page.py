"""/queue/ : runs that are being measured, those that wait, recent failures, workers and the figures of a month."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from rq import Worker

from leaderboard.models import Benchmark, Claim, Run, RunPart
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


def test_a_running_run_has_no_position_and_the_others_count_from_one(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    make.run(make.model("org/first"), benchmark)
    make.run(make.model("org/second"), benchmark)
    make.running(make.model("org/running"), benchmark, done=25)
    rows = csv_rows(client, "/queue/")
    assert [(row["model"], row["position"], row["progress"]) for row in rows] == [
        ("org/running", "", "25"),
        ("org/first", "1", "0"),
        ("org/second", "2", "0"),
    ]


def test_the_queue_is_shown_where_there_are_several(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    make.run(make.model(), benchmark)
    assert 'data-column="queue"' not in client.get("/queue/").content.decode()
    make.run(make.model(), benchmark, queue="measure-large")
    assert 'data-column="queue"' in client.get("/queue/").content.decode()
    rows = [(row["queue"], row["position"]) for row in csv_rows(client, "/queue/")]
    assert rows == [("measure", "1"), ("measure-large", "1")]


def test_runs_that_ended_without_a_result_say_why(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    ended = {"finished": timezone.now()}
    make.run(make.model("org/cancelled"), benchmark, Run.State.CANCELLED, message="No longer wanted.", **ended)
    make.run(make.model("org/failed"), benchmark, Run.State.FAILED, code="no-space", message="Disk is full.", **ended)
    make.run(make.model("org/long-ago"), benchmark, Run.State.FAILED, finished=make.DAY - timedelta(days=365))
    rows = [(row["model"], row["code"], row["reason"]) for row in csv_rows(client, "/queue/", "failed")]
    assert rows == [
        ("org/failed", "no-space", "Disk is full."),
        ("org/cancelled", "cancelled", "No longer wanted."),
    ], "the newest first"


def test_the_page_refreshes_only_while_runs_are_open(client: Client, db: None) -> None:
    assert "data-live" not in client.get("/queue/").content.decode()
    make.running(make.model(), make.benchmark())
    html = client.get("/queue/").content.decode()
    assert 'data-live="10"' in html
    assert "live.js" in html


def test_the_page_says_when_no_worker_is_there(client: Client, db: None, small: Benchmark, rq_worker: Worker) -> None:
    sentence = "No worker has reported"
    assert sentence not in client.get("/queue/").content.decode(), "nothing waits"
    make.run(make.model("org/waits"), small)
    assert sentence in client.get("/queue/").content.decode()
    rq_worker.register_birth()
    assert sentence not in client.get("/queue/").content.decode()


def test_a_run_whose_worker_is_gone_is_interrupted(client: Client, db: None) -> None:
    run = make.running(make.model(), make.benchmark())
    Claim.objects.update(seen=timezone.now() - timedelta(minutes=1))
    (row,) = csv_rows(client, "/queue/")
    assert (row["position"], row["state"]) == ("1", "Interrupted")
    assert "Scoring" not in client.get("/queue/").content.decode()
    page = " ".join(client.get(run.get_absolute_url()).content.decode().split())
    assert f"Run {run.pk}: interrupted<" in page
    assert "No worker has reported lately. The run waits until one starts" in page


@pytest.mark.usefixtures("living_worker")
def test_queue_and_run_page_give_the_same_time_left(client: Client, db: None) -> None:
    """A run at its own pace, one that loads its model and goes by others, and one that waits."""
    benchmark = make.benchmark()
    for work in (600, 1200):  # in ten minutes
        RunPart.objects.create(run=make.finished(benchmark), relation="P30", template=0, items=10, work=work, done=True)
    runs = [going_at_its_own_pace(benchmark), *(make.run(make.model(), benchmark) for _ in range(2))]
    for run in runs[1:]:
        RunPart.objects.create(run=run, relation="P30", template=0, items=10, work=3000)
    Run.objects.move(runs[1], Run.State.DOWNLOADING)
    make.claimed(runs[1], "second worker")
    assert csv_rows(client, "/queue/")[1]["seconds_left"] == "2000"
    html = client.get("/queue/").content.decode()
    for run, time_left in zip(runs, ("15 min", "33 min", "48 min"), strict=True):
        assert f">{time_left}<" in html
        assert f"{time_left} left" in " ".join(client.get(run.get_absolute_url()).content.decode().split())


def going_at_its_own_pace(benchmark: Benchmark) -> Run:
    """A run that does one unit of work per second and has 900 left, between two of its parts."""
    run = make.run(make.model(), benchmark, Run.State.SCORING)
    record = {"end": timezone.now().isoformat(), "timing": {"score_seconds": 100}}
    done = {"done": True, "items_done": 10, "record": record}
    make.claimed(run, "first worker")
    RunPart.objects.create(run=run, relation="P30", template=0, items=10, work=100, **done)
    RunPart.objects.create(run=run, relation="P36", template=0, items=90, work=900)
    return run


def test_long_queues_are_paged_and_csv_has_them_whole(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    models = [make.model(f"org/model-{number:03}") for number in range(120)]
    for model in models:
        make.run(model, benchmark)
    first, last = (client.get(f"/queue/?page={page}").content.decode() for page in (1, 99))
    assert ("org/model-000" in first, "org/model-050" in first) == (True, False)
    assert ("org/model-099" in last, "org/model-119" in last) == (False, True)
    assert "120 rows" in first
    assert [row["model"] for row in csv_rows(client, "/queue/")] == [model.hub_id for model in models]


def test_results_of_the_last_days_stand_with_their_score(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    assert client.get("/queue/").content.decode().count("None recently.") == 1
    recent, newest, old = (make.finished(benchmark, value) for value in (0.75, 0.5, 0.25))
    Run.objects.filter(pk__in=[recent.pk, newest.pk]).update(finished=timezone.now())
    Run.objects.filter(pk=old.pk).update(finished=timezone.now() - timedelta(days=30))
    rows = csv_rows(client, "/queue/", "finished")
    assert [(row["model"], row["score"], row["metric"]) for row in rows] == [
        (newest.model.hub_id, "0.5", "Accuracy"),
        (recent.model.hub_id, "0.75", "Accuracy"),
    ]


def test_the_title_counts_runs_and_has_no_progress(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    make.running(make.model(), benchmark, done=58)
    make.run(make.model(), benchmark)
    assert "<title>1 running, 1 waiting · Queue" in client.get("/queue/").content.decode()


def test_the_page_of_the_status_is_the_queue_now(client: Client, db: None) -> None:
    answer = client.get("/status/")
    assert (answer.status_code, answer["Location"]) == (301, "/queue/")


def test_an_empty_site_says_that_nothing_has_happened(client: Client, db: None) -> None:
    page = client.get("/queue/").content.decode()
    for words in ("No run is being measured", "No run is waiting", "None recently", "No worker is alive"):
        assert words in page
    assert "ended with a result" not in page


def test_the_share_of_runs_with_a_result_is_shown(client: Client, db: None) -> None:
    benchmark = make.benchmark()
    for state in (Run.State.FINISHED, Run.State.FINISHED, Run.State.FINISHED, Run.State.FAILED):
        make.run(make.model(), benchmark, state, finished=timezone.now())
    page = " ".join(client.get("/queue/").content.decode().split())
    assert "75 % ended with a result (3 finished, 1 failed)." in page
    assert "waited" not in page, "none of them was started here"
    begun = make.run(make.model(), benchmark, Run.State.SCORING, started=timezone.now())
    assert "Nine of ten waited under a minute for a worker." in " ".join(client.get("/queue/").content.decode().split())
    Run.objects.filter(pk=begun.pk).update(created=timezone.now() - timedelta(minutes=20))
    page = " ".join(client.get("/queue/").content.decode().split())
    assert "Nine of ten waited at most 20 min for a worker." in page
    later = make.run(make.model(), benchmark, Run.State.SCORING, started=timezone.now())
    Run.objects.filter(pk=later.pk).update(created=timezone.now() - timedelta(minutes=40))
    page = " ".join(client.get("/queue/").content.decode().split())
    assert "Half of them waited 20 min for a worker, and nine of ten at most 40 min." in page


def test_a_worker_is_shown_with_what_it_works_on(client: Client, db: None) -> None:
    run = make.running(make.model("org/causal"), make.benchmark())
    (row,) = csv_rows(client, "/queue/", "workers")
    assert (row["worker"], row["queues"], row["runs"]) == ("somebody", "", "org/causal on Tiny")
    assert f'href="/runs/{run.pk}/"' in client.get("/queue/").content.decode()
