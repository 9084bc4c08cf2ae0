"""/papers/<name>/ : printed figures, those measured here beside them, and links to measure the others."""

import re
from typing import Any

import pandas as pd
import pytest
from django.test import Client

from leaderboard.models import Benchmark, Run
from probing.papers.declarations import KEY, NAMES, printed_figures, read_paper
from probing.papers.exhibits import MEASURED, all_figures, beside
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.pages.html_table import Tables
from tests.leaderboard.ui.charts.plotted import plotted

PRINTED = "FacebookAI/roberta-base"  # a model of Figure 3, which has no printed figures
TEMPLATES = {"templates": [0, 1, 2]}

pytestmark = pytest.mark.django_db


@pytest.fixture
def bear() -> Benchmark:
    return make.benchmark("bear", title="BEAR", path="benchmarks/bear", settings=TEMPLATES)


def rows(client: Client, name: str, table: str) -> list[dict[str, str]]:
    return csv_rows(client, f"/papers/{name}/", table)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_every_table_and_figure_of_its_paper(client: Client, name: str) -> None:
    page = client.get(f"/papers/{name}/").content.decode()
    missing = [exhibit.number for exhibit in read_paper(name).exhibits if f">{exhibit.number}</h2>" not in page]
    assert missing == []


def test_the_page_of_all_papers_leads_to_each(client: Client) -> None:
    page = client.get("/papers/").content.decode()
    assert [name for name in NAMES if f'href="/papers/{name}/"' not in page] == []


def test_another_name_is_not_found(client: Client) -> None:
    assert client.get("/papers/other/").status_code == 404


def test_printed_figures_stand_in_the_order_of_the_paper(client: Client) -> None:
    exhibit = next(one for one in read_paper("s-test").exhibits if one.number == "Table 2")
    expected = printed_figures(exhibit)
    table = rows(client, "s-test", "table-2")
    assert [row["model"] for row in table] == expected["name"].tolist()
    assert [float(row["printed"]) for row in table] == expected["printed"].tolist()
    assert {row["measured"] for row in table} == {""}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_the_rows_that_the_command_has(client: Client, name: str) -> None:
    unmeasured = pd.DataFrame(columns=[*KEY, *MEASURED])
    shown = [exhibit for exhibit in read_paper(name).exhibits if len(printed_figures(exhibit))]
    assert shown
    for exhibit in shown:
        of_command = all_figures(exhibit, beside(printed_figures(exhibit), unmeasured))
        printed = [float(row["printed"]) for row in rows(client, name, exhibit.slug) if row["printed"]]
        assert printed == of_command["printed"].tolist(), exhibit.number


def test_a_run_with_the_settings_of_the_paper_stands_beside_what_is_printed(client: Client, bear: Benchmark) -> None:
    run = make.finished(bear, 0.25, make.model(PRINTED, kind="masked"), settings=bear.settings_with({}).to_json())
    shown = {row["group"]: row for row in rows(client, "bear", "figure-3") if row["model"] == PRINTED}
    assert {group: (row["measured"], row["printed"]) for group, row in shown.items()}["overall"] == ("0.25", "")
    assert f'href="/runs/{run.pk}/"' in client.get("/papers/bear/").content.decode()


def test_a_model_stands_with_its_own_words_where_the_paper_has_the_common_ones(client: Client) -> None:
    stest = make.benchmark("stest", probe="specificity", path="benchmarks/stest")
    run = make.run(
        make.model("FacebookAI/roberta-base"), stest, Run.State.FINISHED, settings=stest.settings_with({}).to_json()
    )
    make.score(run, 0.75, metric="specificity")
    (row,) = [row for row in rows(client, "s-test", "table-2") if row["measured"]]
    printed = float(row["printed"])
    assert (row["group"], row["measured"]) == ("average", "0.75")
    assert float(row["difference"]) == pytest.approx(0.75 - printed)
    assert "with the pairs and words of each model" in client.get("/papers/s-test/").content.decode()


def test_a_run_with_other_settings_does_not(client: Client, bear: Benchmark) -> None:
    other = bear.settings_with({"templates": (0,)}).to_json()
    make.finished(bear, 0.25, make.model(PRINTED, kind="masked"), settings=other)
    (row,) = [row for row in rows(client, "bear", "figure-3") if row["model"] == PRINTED]
    assert row["measured"] == ""


def test_what_the_site_could_measure_leads_to_the_form(client: Client, bear: Benchmark) -> None:
    link = "/submit/?model=FacebookAI%2Froberta-base&amp;benchmark=bear&amp;set-templates=0"
    assert link in client.get("/papers/bear/").content.decode()
    Benchmark.objects.update(path="")
    assert "Measure this" not in client.get("/papers/bear/").content.decode(), "without its files nothing is measured"


def test_a_figure_that_repeats_a_table_names_it_and_has_no_table_of_its_own(client: Client) -> None:
    page = " ".join(client.get("/papers/llmkg/").content.decode().split())
    assert "Mean against standard deviation of the p-values. It shows the figures of Table 3." in page
    assert {"table-3", "figure-3"} <= set(Tables(page).found)
    assert not {"figure-1", "figure-2"} & set(Tables(page).found)


def test_what_the_site_cannot_measure_has_no_row_without_figures(client: Client) -> None:
    make.benchmark("geography", title="Geography", path="benchmarks/geography", probe="cloze")
    page = client.get("/papers/geography/").content.decode()
    assert "figure-1" not in Tables(page).found
    assert "table-3" in Tables(page).found, "whose figures are scores of runs"


def test_rows_that_are_about_no_model_are_named_by_their_part(client: Client) -> None:
    head, *lines = Tables(client.get("/papers/s-test/").content.decode()).found["table-1"]
    assert (head, lines[0][0]) == (["group", "printed"], "birthplace")


def test_a_change_of_a_share_below_zero_is_drawn(client: Client) -> None:
    sections = client.get("/papers/s-test/").context["exhibits"]
    (changes,) = [section["chart"].figure for section in sections if section["title"] == "Table 8"]
    assert min(plotted(changes).data[0].x) < 0
    assert plotted(changes).layout.xaxis.range is None


def test_a_model_that_is_too_large_does_not(client: Client, bear: Benchmark, settings: Any) -> None:
    settings.MODEL_SIZE_LIMIT = 10**6
    assert "Measure this" not in client.get("/papers/bear/").content.decode()


def test_a_table_without_printed_figures_has_no_column_for_them(client: Client, bear: Benchmark) -> None:
    tables = Tables(client.get("/papers/bear/").content.decode())
    assert tables.found["figure-3"][0] == ["model", "measured"]
    assert set(rows(client, "bear", "figure-3")[0]) >= {"printed", "measured"}


def test_models_of_which_nothing_is_known_are_named_in_a_sentence(client: Client) -> None:
    page = client.get("/papers/bear/").content.decode()
    assert "figure-4" not in Tables(page).found
    assert "It is about mistralai/Mistral-7B-v0.1, openai-community/gpt2 and FacebookAI/roberta-base." in page


@pytest.mark.parametrize(("name", "text"), [("s-test", "Only pairs of words"), ("bear", "The source does not name")])
def test_a_difference_of_several_tables_is_said_once(client: Client, name: str, text: str) -> None:
    assert client.get(f"/papers/{name}/").content.decode().count(text) == 1


@pytest.mark.parametrize(
    ("name", "table", "has_bars"), [("s-test", 1, False), ("llmkg", 3, False), ("s-test", 2, True)]
)
def test_only_shares_have_bars(client: Client, name: str, table: int, has_bars: bool) -> None:
    page = client.get(f"/papers/{name}/").content.decode()
    shown = page.partition(f'data-table="table-{table}"')[2].partition("</table>")[0]
    cells = re.findall(r'data-label="Printed">(.*?)</td>', shown, re.DOTALL)
    assert {"<svg" in cell for cell in cells} == {has_bars}
    if (name, table) == ("s-test", 1):
        assert ">5,000</span>" in cells[0]


def test_p_values_have_the_digits_that_the_paper_prints(client: Client) -> None:
    page = client.get("/papers/llmkg/").content.decode()
    assert "5.98 × 10⁻⁴" in page and "1.50 × 10⁻²" in page
