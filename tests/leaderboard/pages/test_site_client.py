"""`probing.Site` against a real site: what it returns is what the site has."""

from pathlib import Path

import pandas as pd
import pytest
from pytest_django.live_server_helper import LiveServer

import probing
from leaderboard.figures import benchmarks
from leaderboard.intake import tokens
from leaderboard.intake.check_job import examine_and_settle
from leaderboard.models import Benchmark, Run
from leaderboard.models import Submission as Stored
from probing.errors import BadInput
from probing.remote.connection import NotWelcome, SiteRefused, SiteUnavailable
from probing.runner import run as measure
from tests.fakes import FakeModel
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(live_server: LiveServer) -> probing.Site:
    return probing.Site(live_server.url, attempts=0)


def test_the_board_has_every_score_of_every_finished_run(client: probing.Site, site: Site) -> None:
    board = client.board()
    assert set(board["run"]) == {site.first.pk, site.second.pk, site.published.pk} | baselines()
    own = board[board["run"] == site.first.pk].reset_index(drop=True)
    assert own["value"].tolist() == make.tidy_scores(site.first)["value"].tolist()


def baselines() -> set[int]:
    return set(Run.objects.filter(provenance=Run.Provenance.BASELINE).values_list("pk", flat=True))


def test_a_run_has_its_facts_scores_and_items(client: probing.Site, site: Site) -> None:
    run = client.run(site.first.pk)
    assert run.facts()["model"]["hub_id"] == "org/first"
    assert run.address.endswith(f"/runs/{site.first.pk}/")
    columns = ["metric", "dimension", "group", "value", "n"]
    stored = make.tidy_scores(site.first)[columns]
    pd.testing.assert_frame_equal(run.scores()[columns], stored, check_dtype=False)
    accuracy = run.items().query("template == 0")["correct"].mean()
    assert 0 <= accuracy <= 1
    assert run.wait(1)["state"] == "finished"


def test_runs_are_chosen_by_model_benchmark_and_state(
    client: probing.Site, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.api.parameters.ENTRIES_PER_PAGE", 2)
    finished = client.runs(benchmark="small", state="finished")
    assert {run.number for run in finished} >= {site.first.pk, site.second.pk, site.published.pk}
    assert len({run.number for run in finished}) == len(finished)
    assert [run.number for run in client.runs(model="org/second")] == [site.second.pk]
    assert client.runs(model="org/nobody") == []
    with pytest.raises(SiteRefused, match="no state 'done' here"):
        client.runs(state="done")


def test_a_run_that_does_not_exist_and_one_that_goes_on(client: probing.Site, site: Site) -> None:
    with pytest.raises(SiteRefused, match="no run 999"):
        client.run(999)
    with pytest.raises(TimeoutError, match="is still scoring"):
        client.run(site.running.pk).wait(0.1)


def test_a_model_is_submitted_checked_and_followed(client: probing.Site, small: Benchmark, local_hub: Hub) -> None:
    (submission,) = client.submit("org/causal", "small", sample=3)
    assert submission.facts()["state"] == "checking"
    examine_and_settle(Stored.objects.get())
    run = submission.run(5)
    assert run.facts()["settings"]["sample"] == 3
    assert run.facts()["model"]["hub_id"] == "org/causal"
    submission.cancel()
    assert run.wait(5)["state"] == "cancelled"


def test_a_refused_model_is_an_error_with_the_reason(client: probing.Site, small: Benchmark, local_hub: Hub) -> None:
    (submission,) = client.submit("org/nobody", ["small"])
    examine_and_settle(Stored.objects.get())
    with pytest.raises(BadInput, match=r"was refused\. .*org/nobody"):
        submission.run(5)


def test_what_cannot_be_submitted_is_refused_at_once(client: probing.Site, small: Benchmark) -> None:
    with pytest.raises(SiteRefused, match="no benchmark 'nothing'"):
        client.submit("org/causal", "nothing")
    with pytest.raises(SiteRefused, match="prompting"):
        client.submit("org/causal", "small", prompting="few-shot")


def test_a_result_is_pushed_from_memory_and_from_its_folder(
    live_server: LiveServer, small: Benchmark, tmp_path: Path
) -> None:
    result = measure(FakeModel(), benchmarks.read(small), out=tmp_path / "result", templates=(0,), progress=False)
    site = probing.Site(live_server.url, tokens.create("lab", tokens.Purpose.PUSH), attempts=0)
    pushed = site.push(result, model="org/mine")
    assert Run.objects.get(pk=pushed.run).provenance == Run.Provenance.THIRD_PARTY
    again = site.push(tmp_path / "result", model="org/mine")
    assert (again.run, again.is_new) == (pushed.run, False)
    with pytest.raises(BadInput, match="with a token"):
        probing.Site(live_server.url).push(result, model="org/mine")


def test_an_address_that_is_no_site_is_named(client: probing.Site) -> None:
    with pytest.raises(SiteUnavailable, match="does not answer"):
        probing.Site("http://127.0.0.1:9", attempts=0).board()
    with pytest.raises(NotWelcome, match="not an address"):
        probing.Site("http://")


def test_a_program_submits_with_a_token_and_finds_its_submissions(
    live_server: LiveServer, client: probing.Site, small: Benchmark, local_hub: Hub
) -> None:
    token = tokens.create("lab", tokens.Purpose.SUBMIT)
    (sent,) = client.submit("org/causal", "small", token=token)
    client.submit("org/masked", "small")
    assert [one.token for one in client.submissions(token)] == [sent.token]
    client.submissions(token)[0].cancel()
    assert sent.facts()["state"] == "withdrawn"
    with pytest.raises(NotWelcome, match="not one that submits"):
        client.submit("org/causal", "small", token="cbs_wrong")


def test_a_token_that_pushes_is_not_sent_with_a_submission(
    live_server: LiveServer, small: Benchmark, local_hub: Hub
) -> None:
    pusher = probing.Site(live_server.url, tokens.create("lab", tokens.Purpose.PUSH), attempts=0)
    assert len(pusher.submit("org/causal", "small")) == 1


def test_a_run_is_followed_from_change_to_change(client: probing.Site, site: Site) -> None:
    states = []
    for facts in client.run(site.running.pk).follow(20):
        states.append(facts["state"])
        if facts["state"] == "scoring":
            Run.objects.filter(pk=site.running.pk).update(state=Run.State.CANCELLED)
    assert states == ["scoring", "cancelled"]
