"""manage.py rescore: which runs it takes, and what it says."""

from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError
from django.test import Client

from leaderboard.figures import artefacts, benchmarks
from leaderboard.models import Benchmark, Run, RunRank
from probing.exposure.named_facts import facts_of
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(small: Benchmark, bear_folder: BearFolder) -> list[Run]:
    """Two measured runs and a published one on a version that another with new domains has followed."""
    measured = [make.probed(small, make.model(), FakeModel(), Settings()) for _ in range(2)]
    published = make.published(small)
    bear_folder.domains = {"P30": {"domains": ["Places"]}, "P36": {"domains": ["Places"]}}
    benchmarks.install("bear", bear_folder.write(), "small")
    return [*measured, published]


def groups(run: Run) -> set[str]:
    return set(run.scores.filter(dimension="domain").values_list("group", flat=True))


def test_all_measured_runs_are_rescored_and_no_published_one(runs: list[Run]) -> None:
    printed = output_of("rescore", "--benchmark", "small")
    assert "2 runs changed, 0 runs unchanged, 0 runs skipped." in printed
    assert printed.count("New groups of domain: Places.") == 2
    assert [groups(run) for run in runs] == [{"Places"}, {"Places"}, {"Arts"}]
    assert "0 runs changed, 2 runs unchanged" in output_of("rescore")


def test_baselines_have_the_new_groups_as_well(runs: list[Run]) -> None:
    output_of("rescore")
    baselines = Run.objects.filter(benchmark__current=True, provenance=Run.Provenance.BASELINE)
    assert [groups(baseline) for baseline in baselines] == [{"Places"}] * 3


def test_ranks_follow_the_runs_to_the_present_version(runs: list[Run]) -> None:
    output_of("rescore")
    ranks = RunRank.objects.filter(run__benchmark__current=True)
    assert {rank.run_id for rank in ranks} == {run.pk for run in runs[:2]}
    assert all(rank.best for rank in ranks)


def test_one_run_can_be_chosen(runs: list[Run]) -> None:
    assert "1 runs changed" in output_of("rescore", "--run", str(runs[1].pk))
    assert [groups(run) for run in runs[:2]] == [{"Geographic", "Political"}, {"Places"}]


def test_a_run_without_files_is_reported_and_skipped(runs: list[Run]) -> None:
    artefacts.remove_folder(runs[0].artefact)
    printed = output_of("rescore")
    assert f"Run {runs[0].pk} is skipped. This run has no items to show." in printed
    assert "1 runs changed, 0 runs unchanged, 1 runs skipped." in printed


@pytest.mark.parametrize("arguments", [("--benchmark", "none"), ("--run", "999")])
def test_a_choice_of_nothing_is_an_error(arguments: tuple[str, str], db: None) -> None:
    with pytest.raises(CommandError, match="no such finished run"):
        output_of("rescore", *arguments)


def test_a_site_without_runs_has_nothing_to_do(db: None) -> None:
    assert "0 runs changed" in output_of("rescore")


@pytest.fixture
def counts(small: Benchmark, tmp_path: Path) -> Path:
    """How often a corpus states each fact: Chad 5 times, Egypt twice, all others never."""
    facts = facts_of(benchmarks.read(small))
    stated = {"Chad": 5, "Egypt": 2}
    table = [(fact.relation, fact.index, stated.get(fact.subject, 0)) for fact in facts]
    pd.DataFrame(table, columns=["relation", "index", "count"]).to_csv(tmp_path / "counts.csv", index=False)
    return tmp_path / "counts.csv"


def test_counts_of_a_corpus_become_a_curve_on_the_page_of_the_run(
    runs: list[Run], counts: Path, client: Client
) -> None:
    printed = output_of("rescore", "--run", str(runs[0].pk), "--tags", str(counts))
    assert "New groups of exposure: 0, 2–3, 4–7." in printed
    page = client.get(runs[0].get_absolute_url()).content.decode()
    assert "By times that the corpus states the fact" in page
    assert "WASB" in page
    lines = csv_rows(client, runs[0].get_absolute_url(), "exposure")
    assert [line["group"] for line in lines] == ["0", "2–3", "4–7"]
    items = csv_rows(client, f"{runs[0].get_absolute_url()}items/?exposure=2–3")
    assert {line["subject"] for line in items} == {"Egypt"}
    assert "exposure" not in client.get(runs[1].get_absolute_url()).content.decode()
    assert "0 runs changed, 1 runs unchanged" in output_of("rescore", "--run", str(runs[0].pk))


def test_sitelinks_break_runs_down_in_the_same_way(
    runs: list[Run], counts: Path, tmp_path: Path, client: Client
) -> None:
    links = {"Chad": 250, "Egypt": 300, "Japan": None}
    table = pd.read_csv(counts).drop(columns="count")
    subjects = [fact.subject for fact in facts_of(benchmarks.read(runs[0].benchmark))]
    table.assign(sitelinks=[links.get(name, 20) for name in subjects]).to_csv(tmp_path / "links.csv", index=False)
    output_of("rescore", "--run", str(runs[0].pk), "--tags", str(tmp_path / "links.csv"))
    address = runs[0].get_absolute_url()
    assert "By sitelinks of the subject" in client.get(address).content.decode()
    lines = csv_rows(client, address, "popularity")
    assert [line["group"] for line in lines] == ["16–31", "128–255", "256+"]
    assert all(line["low"] and line["high"] and line["n"] and line["chance"] for line in lines)
    dimensions = client.get(f"/api/v1/runs/{runs[0].pk}/scores").json()["scores"]
    assert sum(score["dimension"] == "popularity" and score["metric"] == "accuracy" for score in dimensions) == 3
    output_of("rescore", "--run", str(runs[0].pk), "--tags", str(counts))
    assert [line["group"] for line in csv_rows(client, address, "popularity")] == ["16–31", "128–255", "256+"]
    assert {line["subject"] for line in csv_rows(client, f"{address}items/?popularity=256%2B")} == {"Egypt"}


def test_page_views_break_runs_down_in_the_same_way(
    runs: list[Run], counts: Path, tmp_path: Path, client: Client
) -> None:
    views = {"Chad": 250, "Egypt": 30_000, "Japan": None}
    table = pd.read_csv(counts).drop(columns="count")
    subjects = [fact.subject for fact in facts_of(benchmarks.read(runs[0].benchmark))]
    numbers = table.assign(yearly_views=[views.get(name, 20) for name in subjects])
    numbers.assign(views_of="fr.wikipedia in 2024").to_csv(tmp_path / "views.csv", index=False)
    output_of("rescore", "--benchmark", "small", "--tags", str(tmp_path / "views.csv"))
    address = runs[0].get_absolute_url()
    assert "those of the subject&#x27;s article in fr.wikipedia in 2024." in client.get(address).content.decode()
    assert "By page views of the subject" in client.get(address).content.decode()
    lines = csv_rows(client, address, "page_views")
    assert [line["group"] for line in lines] == ["10–99", "100–999", "10,000–99,999"]
    assert all(line["low"] and line["high"] and line["n"] and line["chance"] for line in lines)
    dimensions = client.get(f"/api/v1/runs/{runs[0].pk}/scores").json()["scores"]
    assert sum(score["dimension"] == "page_views" and score["metric"] == "accuracy" for score in dimensions) == 3
    assert {line["subject"] for line in csv_rows(client, f"{address}items/?page_views=100–999")} == {"Chad"}
    pair = f"m={runs[0].pk}&m={runs[1].pk}"
    assert "how often people read the article" in client.get(f"/compare/?{pair}").content.decode()
    beside = csv_rows(client, f"/compare/?{pair}", "page_views")
    assert [line["group"] for line in beside] == [line["group"] for line in lines]
    answer = client.get(f"/api/v1/compare?{pair}").json()["page_views"]
    assert [row["group"] for row in answer] == [line["group"] for line in beside]


def test_bad_counts_are_refused(runs: list[Run], tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("relation\nP30\n")
    with pytest.raises(CommandError, match="cannot be read as counts"):
        output_of("rescore", "--tags", str(tmp_path / "bad.csv"))
