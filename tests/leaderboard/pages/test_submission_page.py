"""/submissions/<token>/ : the state of a submission, and what the holder of its address can do."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from leaderboard.intake import check_job
from leaderboard.intake.submissions import receive_all
from leaderboard.models import Benchmark, Run, Submission
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make
from tests.leaderboard.in_process import receive

State = Submission.State
LIVE = "data-live="


def address(submission: Submission) -> str:
    return f"/submissions/{submission.token}/"


def page(client: Client, submission: Submission) -> str:
    response = client.get(address(submission))
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def checked(small: Benchmark, local_hub: Hub) -> Submission:
    submission = receive("org/causal", small, {}, submitter="127.0.0.1")
    check_job.check(submission.pk)
    submission.refresh_from_db()
    return submission


def test_it_refreshes_by_itself_until_the_checks_have_ended(client: Client, small: Benchmark, local_hub: Hub) -> None:
    submission = receive("org/nothing", small, {})
    html = page(client, submission)
    assert LIVE in html
    assert f'href="{address(submission)}">Refresh' in html, "without JavaScript"
    assert "org/nothing on small" in html
    check_job.check(submission.pk)
    html = page(client, submission)
    assert LIVE not in html
    assert "Not accepted" in html
    assert "16 further checks run once the model is found." in " ".join(html.split())
    assert "There is no public model org/nothing" in html
    assert "Check the spelling" in html


def test_an_accepted_submission_shows_the_progress_of_its_run(client: Client, checked: Submission) -> None:
    html = page(client, checked)
    assert f'href="/runs/{checked.run_id}/"' in html
    assert "0 % of the work · 0 of 6 sentences" in html
    assert LIVE in html
    Run.objects.filter(pk=checked.run_id).update(state=Run.State.FINISHED)
    html = page(client, checked)
    assert LIVE not in html
    assert 'name="cancel"' not in html


def test_a_duplicate_is_said_and_linked(client: Client, checked: Submission, small: Benchmark) -> None:
    again = receive("org/causal", small, {})
    check_job.check(again.pk)
    html = page(client, again)
    assert "Already measured or in the queue" in html
    assert f'href="/runs/{checked.run_id}/"' in html


def test_a_submission_that_waits_says_for_what(client: Client, small: Benchmark) -> None:
    submission = receive("org/causal", small, {})
    check_job.check(submission.pk)
    html = page(client, submission)
    assert "Waiting for the hub, not checked yet" in html
    assert "Accepted" not in html
    assert "does not answer" in html
    assert "further checks run once the hub answers." in " ".join(html.split())
    assert "checked again every few minutes for 3 days" in " ".join(html.split())
    assert client.get("/models/org/causal/").status_code == 404, "it has no public page before it is known to exist"
    assert 'name="cancel"' in html
    client.post(address(submission), {"cancel": "yes"})
    assert "You have withdrawn this submission." in page(client, submission)


def test_a_limit_is_said_where_a_run_is_tried_again(client: Client, checked: Submission, settings: Settings) -> None:
    Run.objects.filter(pk=checked.run_id).update(state=Run.State.FAILED)
    settings.QUEUE_LIMIT = 1
    make.run(make.model(), checked.benchmark)
    response = client.post(address(checked), {"retry": "yes"})
    assert response.status_code == 409
    assert "The queue is full" in response.content.decode()


def test_actions_need_the_token_of_the_form(checked: Submission) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(address(checked), {"cancel": "yes"}).status_code == 403
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get(address(checked)).content.decode())
    sent = {"cancel": "yes", "csrfmiddlewaretoken": token[1]}
    assert client.post(address(checked), sent).status_code == 302


def test_no_search_engine_and_no_cache_keeps_it(client: Client, checked: Submission) -> None:
    for path in (address(checked), f"/api/v1/submissions/{checked.token}"):
        response = client.get(path)
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert "no-store" in response["Cache-Control"]


@pytest.mark.parametrize("token", ["1", "x" * 43, "\N{BULLET}" * 5])
def test_another_address_is_not_found(client: Client, checked: Submission, token: str) -> None:
    assert client.get(f"/submissions/{token}/").status_code == 404


def test_the_page_of_a_failed_run_shows_code_sentence_step_and_log(client: Client, checked: Submission) -> None:
    Run.objects.fail(checked.run, "out-of-memory", "It did not fit.", "Use a smaller model.")
    Run.objects.filter(pk=checked.run_id).update(log="last line")
    for path in (address(checked), f"/runs/{checked.run_id}/"):
        html = client.get(path).content.decode()
        for text in ("out-of-memory", "It did not fit.", "Use a smaller model.", "<details>", "last line"):
            assert text in html
    assert "Submit again" in html
    assert 'name="retry"' in page(client, checked)


def test_the_one_fault_stands_on_top_and_the_other_checks_are_folded(
    client: Client, small: Benchmark, local_hub: Hub
) -> None:
    submission = receive("org/nothing", small, {})
    check_job.check(submission.pk)
    html = page(client, submission)
    assert html.index("There is no public model org/nothing") < html.index("<summary>The other checks")
    assert "Not checked: it needs" not in html
    assert 'id="outcome" tabindex="-1"' in html, "where the focus moves to"
    assert "<title>Not accepted · org/nothing on small" in " ".join(html.split())


def test_submissions_that_were_sent_together_share_a_page(
    client: Client, small: Benchmark, pairs: Benchmark, local_hub: Hub
) -> None:
    first, second = receive_all("org/causal", [small, pairs], {})
    check_job.check(first.pk)
    for submission in (first, second):
        html = page(client, submission)
        assert "org/causal on 2 benchmarks" in " ".join(html.split())
        assert f'action="{address(first)}"' in html
        assert f'action="{address(second)}"' in html
    client.post(address(second), {"cancel": "yes"})
    html = page(client, first)
    assert html.count("You have withdrawn this submission.") == 1
    assert "0 % of the work" in html, "the other one goes on"


def test_a_long_series_has_a_short_page_with_counts_and_a_paged_table(
    client: Client, small: Benchmark, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    series = receive_all("org/causal", [small], {}, revisions=[f"step{number}" for number in range(200, 0, -1)])
    failed, accepted = series[:2]
    checks = [{"name": "exists", "state": "failed", "message": "No such step.", "next_step": "", "code": "a"}]
    Submission.objects.filter(pk=failed.pk).update(state=State.REFUSED, checks=checks)
    run = make.run(make.model("org/causal", revision="step199"), small)
    Submission.objects.filter(pk=accepted.pk).update(state=State.ACCEPTED, run=run)
    with django_assert_max_num_queries(12):
        html = " ".join(page(client, series[2]).split())
    assert "org/causal at 200 revisions on small" in html
    for words in ("Checking: 198 of 200", "Not accepted: 1 of 200", "Accepted: 1 of 200"):
        assert f"<li>{words}</li>" in html
    assert "No such step." in html
    assert html.count("<tr role") == 51
    assert html.count('class="outcome"') == 1
    rows = client.get(f"{address(series[2])}?sort=revision&format=csv").content.decode().splitlines()
    assert [row.split(",")[0].strip("\ufeff") for row in rows[:4]] == ["revision", "step1", "step2", "step3"]
    by_run = client.get(f"{address(series[2])}?sort=run&format=csv").content.decode().splitlines()
    assert by_run[1].startswith(f"step199,small,Accepted,{run.pk},"), "submissions without a run come last"


def test_a_series_can_be_withdrawn_as_a_whole(client: Client, small: Benchmark) -> None:
    first, *_, last = receive_all("org/causal", [small], {}, revisions=[f"step{number}" for number in range(12)])
    run = make.run(make.model("org/causal"), small)
    Submission.objects.filter(pk=last.pk).update(state=State.ACCEPTED, run=run)
    assert client.post(address(first), {"cancel-all": "yes"}).status_code == 302
    assert set(Submission.objects.values_list("state", flat=True)) == {State.WITHDRAWN}
    run.refresh_from_db()
    assert run.state == Run.State.CANCELLED
    assert 'name="cancel-all"' not in page(client, first)
