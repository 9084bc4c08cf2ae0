"""Sections of a benchmark: published figures, apart or beside measured ones."""

from collections import Counter

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.figures.runs import ANY_VERSION
from leaderboard.models import Benchmark, Model, Printed
from leaderboard.models.printed import printed_rows
from probing.catalog import EMBEDDED
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.ui.charts.plotted import plotted

pytestmark = pytest.mark.django_db


def printed_model(hub_id: str) -> Model:
    return make.model(hub_id, source=Model.Source.PUBLISHED, commit="")


@pytest.fixture
def tiny() -> Benchmark:
    """With one measured run, one published about the same items and one about others."""
    tiny = make.benchmark(path="benchmarks/tiny")
    elsewhere = make.benchmark(version=ANY_VERSION, current=False)
    make.finished(tiny, 0.5, make.model("org/measured"))
    make.published(tiny, 0.9, printed_model("org/same"))
    make.published(elsewhere, 0.9, printed_model("org/other"), differs="Other items.")
    return tiny


def names(client: Client, address: str, table: str = "") -> set[str]:
    return {row["model"] for row in csv_rows(client, address, table)}


def test_the_leaderboard_has_two_tables(client: Client, tiny: Benchmark) -> None:
    address = "/benchmarks/tiny/"
    assert names(client, address) == {"org/measured", "org/same"}
    (row,) = csv_rows(client, address, "published")
    assert (row["model"], row["accuracy"], row["differs"]) == ("org/other", "0.9", "Other items.")
    page = client.get(address).content.decode()
    assert page.count("Other items.") == 1
    curve = page[page.index('class="curve"') : page.index("</figure>")]
    assert "same" in curve and "other" not in curve


def test_a_board_without_such_figures_has_no_second_table(client: Client) -> None:
    make.published(make.benchmark("alone"))
    assert "<strong>Published figures</strong>" not in client.get("/benchmarks/alone/").content.decode()


def test_the_pages_of_a_relation_and_of_a_model_have_them_apart(client: Client, tiny: Benchmark) -> None:
    relation = "/benchmarks/tiny/relations/P30/"
    assert names(client, relation, "models") == {"org/measured", "org/same"}
    assert names(client, relation, "published") == {"org/other"}
    make.finished(tiny, 0.4, make.model("org/other"))
    assert len(csv_rows(client, "/models/org/other/", "runs")) == 1
    (row,) = csv_rows(client, "/models/org/other/", "published")
    assert (row["score"], row["differs"]) == ("0.9", "Other items.")
    assert client.get("/models/org/other/").status_code == 200
    paper = Printed.objects.filter(model__hub_id="org/other")[0]
    make.printed(paper.benchmark, [{"metric": "another", "value": 0.1}], paper.model)
    assert "not reported" in client.get("/models/org/other/").content.decode()


def test_a_relation_that_only_the_figures_have_has_a_page(client: Client, tiny: Benchmark) -> None:
    paper = Printed.objects.filter(model__hub_id="org/other")[0]
    make.printed(paper.benchmark, [{"value": 0.9, "dimension": "relation", "part": "P99"}], paper.model)
    assert client.get("/benchmarks/tiny/relations/P99/").status_code == 200
    assert client.get("/benchmarks/tiny/relations/P98/").status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "format", "folder", "chosen"),
    [
        ("wn18rr", "knowledge_graph", "graph", Settings("perplexity", pll="original")),
        ("stest", "stest", "pairs", Settings("specificity")),
        ("geography", "geography", "geography", Settings("cloze", options={"closed": True})),
    ],
)
def test_no_table_or_chart_mixes_measured_and_published_figures(
    client: Client, slug: str, format: str, folder: str, chosen: Settings
) -> None:
    make.published_figures()
    printed = {figure.model.title for figure in Printed.objects.filter(benchmark__slug=slug).select_related("model")}
    current = benchmarks.install(format, EMBEDDED / folder, slug)[0]
    runs = [make.probed(current, make.model(f"org/{name}"), FakeModel(), chosen) for name in ("first", "second")]
    page = client.get(f"/benchmarks/{slug}/")
    measured, apart = page.context["probe"], page.context["published_probe"]
    for shown, foreign in ((measured, printed), (apart, {run.model.hub_id for run in runs})):
        texts = [plotted(chart.figure).to_json() for chart in shown.get("charts", {}).values()]
        texts += [str(row) for _, rows in shown.get("files", {}).values() for row in rows]
        assert not [name for name in foreign for text in texts if name in text]
    names = [chart.name for shown in (measured, apart) for chart in shown.get("charts", {}).values()]
    assert len(set(names)) == len(names)
    assert not measured.get("files", {}).keys() & apart.get("files", {}).keys()
    rows = csv_rows(client, f"/benchmarks/{slug}/", "published")
    assert {row["model"] for row in rows} == printed and all(row["differs"] for row in rows)


def test_a_version_that_has_only_such_figures_says_what_they_are_about(client: Client) -> None:
    make.published_figures()
    page = client.get("/benchmarks/wn18rr/").content.decode()
    assert "25 repetitions of 1,000" in page
    assert "<strong>Published figures</strong>" not in page


def test_it_stands_beside_the_measured_figure(client: Client) -> None:
    on = make.benchmark()
    make.finished(on, 0.41, make.model("org/both"))
    make.published(on, 0.435, printed_model("org/both"))
    make.published(on, 0.3, printed_model("org/paper"))
    rows = {row["model"]: row for row in csv_rows(client, "/")}
    assert (rows["org/both"]["tiny"], rows["org/both"]["tiny_published"]) == ("0.41", "0.435")
    assert (rows["org/paper"]["tiny"], rows["org/paper"]["tiny_published"]) == ("0.3", "")
    assert "○ published: 0.435" in client.get("/").content.decode()
    (profile,) = csv_rows(client, "/models/org/both/", "profile")
    assert (profile["score"], profile["published"]) == ("0.41", "0.435")
    assert "○ Published" not in client.get("/models/org/paper/").content.decode()
    make.finished(on, 0.2, make.model("org/unknown", parameters=None))
    assert "Its size is not known" in client.get("/models/org/unknown/").content.decode()


def test_two_published_models_have_their_figures_in_all_common_settings(client: Client) -> None:
    make.published_figures()
    on_dlama = Printed.objects.filter(benchmark__slug="dlama", benchmark__main=True)
    rows_of_models = printed_rows(on_dlama.filter(dimension="culture_pair_language"))
    (first, _), (second, _) = Counter(row.model.hub_id for row in rows_of_models).most_common(2)
    rows = csv_rows(client, f"/compare/?m={first}&m={second}&benchmark=dlama")
    assert len(rows) > 2
    assert all(row["value"] for row in rows)
    for one, other in zip(rows[::2], rows[1::2], strict=True):
        assert one["settings"] == other["settings"]
        assert one["name"] != other["name"]
    assert len({row["settings"] for row in rows}) == len(rows) / 2


def test_figures_of_different_questions_are_said_not_to_be_comparable(client: Client) -> None:
    on = make.benchmark(probe="ranking")
    for hub_id, part in (("org/one", "arab-west ar"), ("org/two", "asia-west ko")):
        about = {"metric": "p_at_1", "dimension": "culture_pair_language", "part": part}
        make.printed(on, [{**about, "value": 0.5}], printed_model(hub_id))
    html = " ".join(client.get("/compare/?m=org/one&m=org/two").content.decode().split())
    assert "They are about different questions, so they cannot be compared." in html
    assert "Arab and West, asked in Arabic" in html
