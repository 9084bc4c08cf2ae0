"""Measure the example probe of docs/adding-a-probe.md on a site and look at every kind of page.

tests/test_adding_a_probe.py runs it in a copy of the project, in a process of its own in which Django is set up.
"""

import io

import pandas as pd
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from leaderboard.intake import check_job, queue
from leaderboard.models import Run, Submission
from leaderboard.worker.jobs import finish_run, measure_run

settings.ALLOWED_HOSTS = ["testserver"]
SLUG = "contrast"
client = Client()


def page(address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, (address, response.status_code)
    return response.content.decode()


def table(address: str) -> pd.DataFrame:
    response = client.get(address)
    assert response.status_code == 200, (address, response.status_code)
    return pd.read_csv(io.BytesIO(response.getvalue()))


# No queue server: the jobs are called below.
queue.enqueue = queue.reachable = lambda *run_id: True
call_command("migrate", verbosity=0)
call_command("import_benchmark", "bear", "two-relations", "--slug", SLUG, "--probe", "contrast")
assert "distance" in page(f"/submit/?benchmark={SLUG}")
for distance in ("1", "2"):
    sent = {"model": "org/tiny", "benchmark": SLUG, "set-distance": distance}
    response = client.post("/submit/", sent)
    assert response.status_code == 302, response.content.decode()
for submission in Submission.objects.order_by("pk"):
    check_job.check(submission.pk)
first, second = Run.objects.order_by("pk")
for run in (first, second):
    measure_run(run.pk)
    finish_run(run.pk)
    run.refresh_from_db()
    assert run.state == Run.State.FINISHED, (run.state, run.message)
assert "Preference for the truth" in page(f"/benchmarks/{SLUG}/")
board = table(f"/benchmarks/{SLUG}/?format=csv")
assert board["preference"].between(0, 1).all() and len(board) == 2
assert "distance 2" in set(board["settings"])
run_page = page(f"/runs/{first.pk}/")
assert "Close calls" in run_page and "Preference for the truth by domain" in run_page
assert len(table(f"/runs/{first.pk}/?format=csv&table=close-calls")) == 10
assert "--probe contrast" in page(f"/runs/{second.pk}/")
items = table(f"/runs/{first.pk}/items/?format=csv")
assert {"false_label", "log_odds", "correct"} <= set(items.columns)
assert "the true statement is more probable" in page(f"/runs/{first.pk}/items/?correct=no")
item = items.iloc[0]
shown = page(f"/benchmarks/{SLUG}/items/{item.relation}-{item['index']}/?run={first.pk}&wording={item.template + 1}")
assert "False answer" in shown and "Log odds" in shown
assert "Preference for the truth" in page(f"/compare/?m={first.pk}&m={second.pk}")
answers = table(f"/compare/?m={first.pk}&m={second.pk}&format=csv&table=disagreements")
assert {"first", "second"} <= set(answers.columns)
assert page(f"/benchmarks/{SLUG}/relations/country_continent/")
assert page("/models/org/tiny/")
assert all("preference" in row for row in client.get(f"/benchmarks/{SLUG}/?format=json").json())
assert client.get(f"/api/v1/runs/{first.pk}/items").json()["items"][0]["log_odds"] is not None
