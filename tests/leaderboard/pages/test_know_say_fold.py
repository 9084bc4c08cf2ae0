"""The fold of a run by generation: what the model knows by likelihood, says and declines, of the same facts."""

from collections.abc import Iterable, Iterator

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Run
from leaderboard.models.benchmark import Benchmark
from leaderboard.pages import know_say_fold
from leaderboard.pages.know_say_fold import crossed_results, ways_beside
from probing.language_model import Continuation
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


class Speaker(FakeModel):
    """Says Africa of every subject, and where it may decline only of Chad."""

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        for text in texts:
            declines = "say: I don't know" in text and "Chad" not in text
            yield Continuation("I don't know." if declines else "Africa")


@pytest.fixture
def said(db: None, bear_folder: BearFolder) -> Benchmark:
    folder = bear_folder.write()
    benchmarks.install("bear", folder, "small")
    return benchmarks.install("bear", folder, "small", probe="answering")[0]


@pytest.fixture
def by_generation(said: Benchmark) -> Run:
    return make.probed(said, make.model("org/one"), Speaker(), Settings(probe="answering"))


def add_others(run: Run) -> None:
    """Add a run of the same model by likelihood, and one with leave to decline."""
    known = Benchmark.objects.get(slug="small", probe="multiple_choice")
    make.probed(known, run.model, Speaker(knows=["Chad is located in Africa."]), Settings())
    make.probed(run.benchmark, run.model, Speaker(), Settings(probe="answering", options={"may_decline": True}))


def test_a_run_by_generation_alone_has_no_fold(client: Client, by_generation: Run) -> None:
    page = client.get(by_generation.get_absolute_url())
    assert page.status_code == 200
    assert "know_say" not in page.context


def test_the_figures_come_once_a_penalty_is_chosen(client: Client, by_generation: Run) -> None:
    add_others(by_generation)
    address = by_generation.get_absolute_url()
    page = client.get(address)
    assert [way for way, _ in page.context["know_say"]["said_runs"]] == ["by generation", "with leave to decline"]
    assert "know-say" not in page.context["tables"]
    page = client.get(f"{address}?penalty=1")
    assert page.context["charts"]["know-say"].summary.startswith("Of all questions")
    rows = {(row["group"], row["way"]): row for row in csv_rows(client, f"{address}?penalty=1", "know-say")}
    said, leave = (rows["P30", way] for way in ("by generation", "with leave to decline"))
    assert [float(said[name]) for name in ("n", "correct", "wrong", "declined", "index")] == [4, 0.5, 0.5, 0, 0]
    assert [float(leave[name]) for name in ("correct", "wrong", "declined", "index")] == [0.25, 0, 0.75, 0.25]
    outcomes = ("knows_and_says", "says_and_prefers_another", "knows_and_does_not_say", "says_wrong", "declines")
    assert sum(float(leave[name]) for name in outcomes) == pytest.approx(1)
    assert float(said["known_chance"]) == pytest.approx(1 / 3)
    assert float(said["knows_and_says_low"]) < float(said["knows_and_says"]) < float(said["knows_and_says_high"])
    changes = csv_rows(client, f"{address}?penalty=1", "know-say-differences")
    of_index = {row["group"]: row for row in changes if row["metric"] == "Index"}
    assert {"P30", "P36", "Political"} < of_index.keys()
    assert [float(of_index["P30"][name]) for name in ("n", "first", "second", "difference")] == [4, 0, 0.25, 0.25]
    assert all(float(row["low"]) < float(row["difference"]) < float(row["high"]) for row in of_index.values())
    assert "answering pays for a model that is right with a probability above 0.50" in page.content.decode()
    assert [*dict.fromkeys(row["dimension"] for row in changes)] == ["overall", "domain", "relation"]
    (of_relation,) = (row for row in changes if row["group"] == "P30" and row["metric"] == "Declined")
    assert [float(of_relation[name]) for name in ("n", "first", "second", "difference")] == [4, 0, 0.75, 0.75]
    assert 0 < float(of_relation["low"]) < 0.75 < float(of_relation["high"]) and of_relation["p_holm"]
    of_all, of_relations = (page.context["charts"][name] for name in ("know-say", "know-say-relations"))
    ways = ("by generation", "with leave to decline")
    for chart, groups in (
        (of_all, ("All questions", "Geographic", "Political")),
        (of_relations, ("All questions", "Continent", "Capital")),
    ):
        assert chart.figure.data[0]["y"] == [f"{group}, {way}" for group in groups for way in ways]
        assert "bars are drawn" not in chart.summary
    assert "(Capital, by generation)" in of_relations.summary
    assert csv_rows(client, f"{address}?penalty=1", "know-say-curve-1")


def test_a_chart_with_too_many_bars_says_how_many_it_has(
    client: Client, by_generation: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_others(by_generation)
    monkeypatch.setattr(know_say_fold, "MOST_BARS", 3)
    chart = client.get(f"{by_generation.get_absolute_url()}?penalty=1").context["charts"]["know-say-relations"]
    assert len(chart.figure.data[0]["y"]) == 3
    assert chart.summary.endswith("The first 3 of 6 bars are drawn.")


def test_a_penalty_that_is_none_is_refused(client: Client, by_generation: Run) -> None:
    add_others(by_generation)
    for text in ("2", "much", "nan"):
        page = client.get(f"{by_generation.get_absolute_url()}?penalty={text}")
        assert page.status_code == 200
        assert "from 0 to 1" in str(page.context["know_say"]["error"])


def test_runs_of_other_weights_are_not_crossed(client: Client, by_generation: Run) -> None:
    known = Benchmark.objects.get(slug="small", probe="multiple_choice")
    make.probed(known, make.model("org/two"), Speaker(), Settings())
    assert "know_say" not in client.get(by_generation.get_absolute_url()).context


def test_another_penalty_computes_the_index_alone(client: Client, by_generation: Run) -> None:
    add_others(by_generation)
    for penalty, crossings in (("2", 0), ("0.5", 1), ("1", 1)):
        client.get(f"{by_generation.get_absolute_url()}?penalty={penalty}")
        assert crossed_results.cache_info().misses == crossings, penalty


def test_runs_that_were_asked_otherwise_or_measured_elsewhere_are_not_crossed(by_generation: Run) -> None:
    add_others(by_generation)
    leave = Run.objects.get(settings__options={"may_decline": True})
    settings = Settings(probe="answering", options={"may_decline": True, "tokens": 3})
    other = make.probed(by_generation.benchmark, by_generation.model, Speaker(), settings)
    for run, ways in ((by_generation, [by_generation, leave]), (other, [other])):
        found = ways_beside(run)
        assert found and list(found.said.values()) == ways
    Run.objects.exclude(pk=by_generation.pk).update(provenance=Run.Provenance.THIRD_PARTY)
    assert ways_beside(by_generation) is None
