"""Sections of a benchmark: its one list of published figures, and their places beside measured ones."""

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.figures.runs import ANY_VERSION
from leaderboard.models import Benchmark, Model, Printed
from probing.catalog import EMBEDDED
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.pages.html_table import Tables
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


def test_all_published_figures_are_one_list_apart_from_the_standings(client: Client, tiny: Benchmark) -> None:
    address = "/benchmarks/tiny/"
    assert names(client, address) == {"org/measured"}
    rows = csv_rows(client, address, "published")
    assert [(row["model"], row["accuracy"], row["differs"]) for row in rows] == [
        ("org/other", "0.9", "Other items."),
        ("org/same", "0.9", ""),
    ]
    page = client.get(address).content.decode()
    assert page.count("Other items.") == 1
    assert 'href="#section-published"' in page and 'id="section-published"' in page


def test_those_about_the_same_items_are_hollow_marks_on_the_curve_unless_filtered(
    client: Client, tiny: Benchmark
) -> None:
    make.published(tiny, 0.97, name="Human", baseline=True)

    def marks(query: str) -> dict[str, bool]:
        curve = client.get(f"/benchmarks/tiny/?{query}").context["curve"]
        return {mark["words"].partition(":")[0]: mark["is_measured"] for mark in curve["marks"]}

    assert marks("") == {"measured": True, "same": False}
    assert marks("search=measured") == {"measured": True}
    assert marks("search=same") == {"same": False}


def test_a_board_without_published_figures_has_no_list(client: Client) -> None:
    make.finished(make.benchmark("alone"))
    assert "section-published" not in client.get("/benchmarks/alone/").content.decode()


def test_they_stand_under_their_source_and_settings_which_rows_do_not_repeat(client: Client) -> None:
    source = {"title": "A paper", "authors": "Jane Doe, Max Poe", "year": 2024, "url": "https://example.org/paper"}
    on = make.benchmark()
    for value, error, settings in ((0.2, None, {}), (0.4, 0.1, {}), (0.3, None, {"seed": 3})):
        make.printed(on, [{"value": value, "error": error}], source=source, settings=settings)
    page = client.get("/benchmarks/tiny/").content.decode()
    assert page.index(">Doe et al. 2024</th>") < page.index(">Doe et al. 2024, seed 3</th>")
    assert '<a href="https://example.org/paper">Doe et al. 2024</a>' in page
    assert page.count("Doe et al. 2024") == 3, "once above the rows of each settings and once as a link below them"
    rows = csv_rows(client, "/benchmarks/tiny/", "published")
    assert [(row["accuracy"], row["error"], row["settings"]) for row in rows] == [
        ("0.4", "0.1", ""),
        ("0.2", "", ""),
        ("0.3", "", "seed 3"),
    ]
    assert {row["provenance"] for row in rows} == {"published: Jane Doe, Max Poe (2024): A paper, Table 1"}


def test_what_a_publication_leaves_out_was_not_reported(client: Client) -> None:
    on = make.benchmark()
    make.printed(on, [{"metric": "precision_at_5", "value": 0.5}], printed_model("org/other-metric"))
    make.published(on)
    head, *lines = Tables(client.get("/benchmarks/tiny/").content.decode()).found["published"]
    (other,) = [line for line in lines if "org/other-metric" in line]
    assert other[head.index("accuracy")] == "not reported"


def test_a_publication_of_other_groups_alone_has_no_row(client: Client) -> None:
    on = make.benchmark()
    make.printed(on, [{"value": 0.5, "dimension": "relation", "part": "P30"}], printed_model("org/part"))
    make.published(on, of=printed_model("org/whole"))
    assert names(client, "/benchmarks/tiny/", "published") == {"org/whole"}
    assert names(client, "/benchmarks/tiny/relations/P30/", "published") == {"org/part", "org/whole"}


def test_the_pages_of_a_relation_and_of_a_model_have_them_apart(client: Client, tiny: Benchmark) -> None:
    relation = "/benchmarks/tiny/relations/P30/"
    assert names(client, relation, "models") == {"org/measured"}
    assert names(client, relation, "published") == {"org/same", "org/other"}
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
    figures = Printed.objects.filter(benchmark__slug=slug).select_related("model")
    printed = {figure.model.title for figure in figures}
    of_all = {figure.model.title for figure in figures.filter(dimension="overall")}  # others are about groups alone
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
    assert {row["model"] for row in rows} == of_all and all(row["differs"] for row in rows)


def test_a_version_that_has_only_such_figures_says_what_they_are_about(client: Client) -> None:
    make.published_figures()
    page = client.get("/benchmarks/wn18rr/").content.decode()
    assert "25 repetitions of 1,000" in page[page.index('id="section-published"') :]


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
