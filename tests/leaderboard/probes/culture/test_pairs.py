"""The culture pair and the language that a reader chose: rows, columns, ranks and the picture are about one place."""

from collections.abc import Iterator

import pytest
from django.test import Client

from leaderboard.models import Benchmark, Run
from leaderboard.ui.spelled import uncertainty
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.ui.charts.plotted import plotted

pytestmark = pytest.mark.django_db
SLUGS = ("dlama", "cultlama", "mlama")


@pytest.fixture
def published(db: None) -> None:
    make.published_figures()


def groups(client: Client, address: str) -> Iterator[tuple[str, list[Run]]]:
    """Yield the text above each group of the standings and of published figures with the runs below it."""
    context, runs = client.get(address).context, {}
    rows = [(row["heading"], row["standing"]["run"]) for row in context["leaderboard"]["file"]]
    rows += [(row["heading"], row["run"]) for row in context["published"].get("file", ())]
    for heading, run in rows:
        runs.setdefault(heading, []).append(run)
    yield from runs.items()


def questions_of(run: Run) -> tuple[str, str, str]:
    """Return what a published run was asked: the pair, the language and the kind of objects."""
    options = run.settings["options"]
    return options["pair"], run.settings["language"], options.get("objects", "augmented")


def test_rows_that_answered_other_items_are_never_in_one_group(client: Client, published: None) -> None:
    queries = ("", "?part=arab-west+ar", "?part=asia-west+ko", "?part=nowhere&sort=-p_at_1")
    for address in (f"/benchmarks/{slug}/{query}" for slug in SLUGS for query in queries):
        for heading, runs in groups(client, address):
            assert runs
            assert len({questions_of(run) for run in runs}) == 1, (address, heading)


def test_a_benchmark_of_published_figures_shows_one_pair_in_one_language(client: Client, published: None) -> None:
    rows = csv_rows(client, "/benchmarks/dlama/", "published")
    assert {row["settings"].partition(", objects")[0] for row in rows} == {"language en, pair arab-west"}
    (row,) = [
        row for row in csv_rows(client, "/benchmarks/dlama/?part=arab-west+ar", "published") if row["first"] == "0.137"
    ]
    assert (row["model"], row["second"]) == ("google-bert/bert-base-multilingual-cased", "0.151")
    assert float(row["gap"]) == pytest.approx(-0.014)


def test_the_standings_have_the_intervals_of_both_cultures_and_of_their_gap(client: Client, culture_run: Run) -> None:
    address = "/benchmarks/culture/?part=arab-west+ar"
    (row,) = [row for row in csv_rows(client, address) if row["run"] == str(culture_run.pk)]
    part = {"metric": "p_at_1", "dimension": "culture_pair_language_culture"}
    gap = culture_run.scores.get(metric="culture_gap", dimension="culture_pair_language", group="arab-west ar")
    sides = [culture_run.scores.get(**part, group=f"arab-west ar {name}") for name in ("Arab", "West")]
    for name, score in zip(("first", "second", "gap"), (*sides, gap), strict=True):
        assert [row[f"{name}_low"], row[f"{name}_high"]] == [str(score.low), str(score.high)]
    page = client.get(address).content.decode()
    assert f'<span class="uncertainty"> {uncertainty(gap.value, gap.low, gap.high)}</span>' in page


def test_links_above_the_standings_choose_pair_and_language(client: Client, published: None) -> None:
    pairs, languages = client.get("/benchmarks/dlama/?part=asia-west+ko&kind=masked").context["pair_switches"]
    assert [(link.title, link.current) for link in pairs] == [
        ("Arab and West", False),
        ("Asia and West", True),
        ("South America and West", False),
    ]
    assert [(link.title, link.current) for link in languages] == [("English", False), ("Korean", True)]
    assert languages[0].href == "?part=asia-west+en&kind=masked" or "kind=masked" in languages[0].href


def test_both_cultures_of_each_model_are_drawn_the_widest_gap_first(client: Client, published: None) -> None:
    chart = client.get("/benchmarks/dlama/?part=arab-west+ar").context["gaps"]
    first, second = plotted(chart.figure).data
    assert (first.name, second.name) == ("Arab", "West")
    gaps = [a - b for a, b in zip(first.x, second.x, strict=True)]
    assert gaps == sorted(gaps, reverse=True)
    assert len(gaps) == 2, "raw objects are other items"
    assert set(first.marker.symbol) == {"triangle-up-open"}
    assert "1 of 2 models know more of the facts about the Arab world than of those about the West." in chart.summary


def test_rows_of_one_model_are_told_apart_and_only_published_ones_are_hollow(
    client: Client, culture_run: Run, culture: Benchmark
) -> None:
    again = make.reversed_items(culture_run)
    scores = [("culture_pair_language", "arab-west ar", 0.5)]
    scores += [
        ("culture_pair_language_culture", f"arab-west ar {name}", at) for name, at in (("Arab", 0.7), ("West", 0.3))
    ]
    figures = [{"metric": "p_at_1", "dimension": name, "part": part, "value": value} for name, part, value in scores]
    make.printed(culture, figures, make.model("org/one", commit=""), settings=culture_run.settings)
    other = make.printed(culture, figures, settings=culture_run.settings)
    for dimension, group, value in scores:
        make.score(again, value, dimension, group, metric="p_at_1")
    chart = client.get("/benchmarks/culture/?part=arab-west+ar").context["gaps"]
    alone = other.model.hub_id.removeprefix("published/")
    hollow = {"org/one, published": True, alone: True}
    hollow |= {f"org/one, run {run.pk}": False for run in (culture_run, again)}
    for trace in plotted(chart.figure).data:
        symbols = zip(trace.y, trace.marker.symbol, strict=True)
        assert {label: symbol.endswith("-open") for label, symbol in symbols} == hollow


def test_a_run_on_everything_and_one_on_the_place_alone_are_ranked_together_there(
    client: Client, culture: Benchmark
) -> None:
    model = FakeModel(knows=["People of Egypt speak Arabic"])
    whole = make.probed(culture, make.model("org/whole"), model, culture.settings_with({}))
    limited = {**whole.settings, "language": "ar", "options": {**whole.settings["options"], "pair": "arab-west"}}
    part = make.run(make.model("org/part"), culture, Run.State.FINISHED, settings=limited)
    make.score(part, 0.95, metric="p_at_1")
    make.score(part, 0.95, "culture_pair_language", "arab-west ar", metric="p_at_1")
    address = "/benchmarks/culture/?part=arab-west+ar"
    ranks = {row["model"]: row["rank"] for row in csv_rows(client, address)}
    assert ranks["org/part"] and ranks["org/whole"]
    (together,) = [runs for _, runs in groups(client, address) if part in runs]
    assert whole in together
