"""Culture pairs on the site: import, both sides, gaps, languages, predictions, other scripts."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.figures.scores import Slice
from leaderboard.models import Benchmark, Run
from leaderboard.pages.overview_page import all_columns
from leaderboard.probes import pages_of
from leaderboard.probes import wording as wording_module
from leaderboard.probes.items import item_url
from leaderboard.probes.wording import FREE_TEXT, ONE_ANSWER, several_answers
from leaderboard.ui import charts
from leaderboard.ui.spelled import figure
from leaderboard.ui.table_files import BYTE_ORDER_MARK
from probing.benchmark import Item, Relation
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.probes.culture_runs import culture_run_of
from tests.probing.formats.dlama_folder import DlamaFolder, fact

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("packed", [False, True])
def test_an_import_keeps_archive_and_templates(tmp_path: Path, packed: bool) -> None:
    folder = DlamaFolder(tmp_path / "pairs")
    source = folder.pack() if packed else folder.write()
    (folder.path / "templates").rename(tmp_path / "templates")
    if packed:
        source = source.rename(tmp_path / source.name)
    benchmark, new = benchmarks.install("dlama", source, "culture")
    assert new
    assert benchmarks.read(benchmark).size == 5
    assert (benchmark.probe, benchmark.items) == ("ranking", 5)


def test_what_guessing_scores_is_stored_as_its_headline(culture: Benchmark) -> None:
    assert culture.baselines["chance"] == pytest.approx((2 / 4 + 1 / 4 + 1 / 4 + 2 / 4 + 1 / 4) / 5)


def test_a_run_shows_both_sides_of_every_predicate_and_their_gap_with_interval_and_test(
    client: Client, culture_run: Run
) -> None:
    for place in ("arab-west en", "arab-west ar"):
        whole, row = csv_rows(client, f"/runs/{culture_run.pk}/?part={place.replace(' ', '+')}", "predicates")
        side = {"metric": "p_at_1", "dimension": "culture_pair_language_relation_culture"}
        assert (whole["relation"], row["relation"]) == ("all", "P37")
        assert float(row["first"]) == culture_run.scores.get(**side, group=f"{place} P37 Arab").value
        assert float(row["gap"]) == pytest.approx(float(row["first"]) - float(row["second"]))
        stored = culture_run.scores.filter(dimension="culture_pair_language", group=place)
        gap, p = stored.get(metric="culture_gap"), stored.get(metric="culture_gap_p")
        assert [float(whole[name]) for name in ("gap", "gap_low", "gap_high")] == [gap.value, gap.low, gap.high]
        assert float(whole["p"]) == p.value


def test_one_pair_in_one_language_is_shown_at_a_time(client: Client, culture: Benchmark, culture_run: Run) -> None:
    other = culture_run_of(culture, "org/two")
    for address in (f"/runs/{culture_run.pk}/?", f"/compare/?m={culture_run.pk}&m={other.pk}&"):
        usual, arabic = (client.get(f"{address}{query}") for query in ("", "part=arab-west+ar"))
        for page, title in ((usual, "English"), (arabic, "Arabic")):
            assert page.context["probe"]["charts"]["predicates"].title == f"Arab and West, asked in {title}"
            (languages,) = (links for links in page.context["switches"] if len(links) > 1)
            assert [link.title for link in languages if link.current] == [title]
    rows = csv_rows(client, f"/runs/{culture_run.pk}/?part=arab-west+ar", "predictions")
    assert {row["language"] for row in rows} == {"ar"}


def test_a_part_that_does_not_exist_shows_the_first(client: Client, culture_run: Run) -> None:
    for query in ("part=all", "part=nowhere"):
        page = client.get(f"/runs/{culture_run.pk}/?{query}")
        assert page.context["probe"]["title"] == "Arab and West, asked in English"


def test_a_version_of_a_predicate_has_the_scores_of_its_own_items(client: Client, culture_run: Run) -> None:
    for relation, items in (("P37.arab-west.ar", "5"), ("P37.arab-west.en", "5"), ("P37", "10")):
        rows = csv_rows(client, f"/benchmarks/culture/relations/{relation}/", "models")
        (row,) = (row for row in rows if row["model"] == "org/one")
        assert float(row["n"]) == float(items)


def test_the_benchmark_shows_both_cultures_measured_and_published_in_tables_of_their_own(
    client: Client, culture_run: Run, published_culture_run: Run
) -> None:
    address = "/benchmarks/culture/?part=arab-west+ar"
    assert client.get(address).status_code == 200
    for rows in (csv_rows(client, address), standings(client)):
        assert {row["provenance"] for row in rows if row["gap"]} == {"measured here"}
    (paper,) = csv_rows(client, address, "published")
    assert paper["provenance"].startswith("published: ")
    assert float(paper["gap"]) == pytest.approx(0.106)
    assert (paper["model"], paper["differs"]) == ("org/one", "Other facts.")
    assert "gap_low" not in paper, "the source prints no interval"


def test_a_run_says_what_was_not_asked_and_why(client: Client, culture_run: Run) -> None:
    culture_run.provenance_record = {
        "items_skipped": [
            {"relation": "P17.arab-west.ar", "items": 1000, "why": "no question in ar"},
            {"relation": "P37.arab-west.ar", "items": 5, "why": "no question in ar"},
        ]
    }
    culture_run.save()
    page = client.get(f"/runs/{culture_run.pk}/").content.decode()
    assert "1,005 items were not asked (no question in ar): P17.arab-west.ar, P37.arab-west.ar." in page


def test_a_comparison_shows_gaps_and_both_sides_of_every_predicate(
    client: Client, culture: Benchmark, culture_run: Run
) -> None:
    other = culture_run_of(culture, "org/two")
    address = f"/compare/?m={culture_run.pk}&m={other.pk}"
    page = client.get(address).content.decode()
    assert 'data-chart="chart-predicates"' in page
    rows = csv_rows(client, address, "predicates")
    pairs = [(relation, model) for relation in ("all", "P37") for model in ("one", "two")]
    assert [(row["relation"], row["model"]) for row in rows] == pairs


@pytest.mark.parametrize("address", ["/runs/{0}/", "/runs/{0}/items/", "/compare/?m={0}&m={1}", "/benchmarks/culture/"])
def test_pairs_languages_and_relations_are_called_by_their_names(
    client: Client, culture: Benchmark, culture_run: Run, address: str
) -> None:
    other = culture_run_of(culture, "org/two")
    html = client.get(address.format(culture_run.pk, other.pk)).content.decode()
    as_stored = r"<pre.*?</pre>"
    charts_and_scripts = r"<script.*?</script>"
    visible = re.sub(r"<[^>]*>", " ", re.sub(f"{as_stored}|{charts_and_scripts}", "", html, flags=re.DOTALL))
    assert "Arab and West" in visible and "Official language" in visible
    assert not re.search(r"\b(arab-west|P37|ar)\b", visible)


def test_the_pages_of_a_published_model_call_its_pair_and_language_by_their_names(
    client: Client, culture: Benchmark
) -> None:
    settings = {"probe": "ranking", "language": "en", "options": {"pair": "arab-west"}}
    run = make.published(culture, 0.5, settings=settings)
    html = client.get(run.model.get_absolute_url()).content.decode()
    assert "Arab and West, asked in English" in html
    assert not re.search(r">[^<]*arab-west", re.sub(r"<pre.*?</pre>|<title>.*?</title>", "", html, flags=re.DOTALL))


def test_a_predicate_links_to_what_it_asks(client: Client, culture_run: Run) -> None:
    template = benchmarks.read(culture_run.benchmark)["P37.arab-west.en"].templates[0]
    for language in ("ar", "en"):
        address = f"/runs/{culture_run.pk}/?part=arab-west+{language}"
        page = " ".join(client.get(address).content.decode().split())
        assert f'href="/benchmarks/culture/relations/P37.arab-west.{language}/" title="{template}"' in page


def test_what_is_reached_without_a_model_is_about_the_chosen_part_on_every_page(
    client: Client, culture_run: Run
) -> None:
    own = culture_run.scores.filter(dimension="culture_pair_language")
    chance, commonest = own.filter(metric="chance"), own.filter(metric="majority_answer")
    for group, address in (("arab-west en", ""), ("arab-west ar", "?part=arab-west+ar")):
        values = [scores.get(group=group).value for scores in (chance, commonest)]
        page = " ".join(client.get(f"/benchmarks/culture/{address}").content.decode().split())
        said = page[page.index("Reached without a model: Chance") :].partition("</p>")[0]
        assert [f"({figure(value)})" in said for value in values] == [True, True]
    Run.objects.filter(pk=culture_run.pk).update(group=[])  # as with the usual settings, which alone have a column
    column = next(column for column in all_columns()[0] if column.slug == "culture")
    assert column.part == Slice("culture_pair_language", "arab-west en")
    assert column.references == {
        "chance": chance.get(group="arab-west en").value,
        "commonest": commonest.get(group="arab-west en").value,
    }


def standings(client: Client, query: str = "") -> list[dict[str, str]]:
    return csv_rows(client, f"/benchmarks/culture/?{query}")


def test_columns_are_chosen_and_none_are_none(client: Client, culture_run: Run) -> None:
    assert "culture_pair_arab-west" in standings(client, "columns=culture_pair:arab-west")[0]
    assert "culture_pair_arab-west" not in standings(client, "columns=language:ar")[0]
    assert not any("arab-west" in name for name in standings(client, "columns=")[0])


ARABIC = re.compile("[\u0621-\u064a]")


class InArabic(HTMLParser):
    """What of a page's visible text is in Arabic letters: inside and outside of elements that say so."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.said: list[str] = []
        self.unsaid: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.open.append((tag, attributes.get("lang") == "ar" and attributes.get("dir") == "auto"))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if ARABIC.search(data) and not {"script", "title"} & {tag for tag, _ in self.open}:
            (self.said if any(says for _, says in self.open) else self.unsaid).append(data)


def test_arabic_says_that_it_is_and_finds_its_direction_on_every_page(client: Client, culture_run: Run) -> None:
    index = next(item.index for item in benchmarks.read(culture_run.benchmark)["P37.arab-west.ar"].items)
    run = f"/runs/{culture_run.pk}/"
    pages = [run, f"{run}items/?language=ar", item_url(culture_run, {"relation": "P37", "template": 0, "index": index})]
    for address in [
        *pages,
        "/benchmarks/culture/?part=arab-west+ar",
        "/benchmarks/culture/relations/P37.arab-west.ar/",
    ]:
        page = InArabic(client.get(address).content.decode())
        assert page.said, address
        assert not page.unsaid, (address, page.unsaid)


def test_right_to_left_labels_of_a_chart_are_closed_off() -> None:
    figure = charts.dots([charts.Point("العربية", 0.5), charts.Point("Arabic", 0.5)])
    labels = charts.Chart("one", "One", "", figure).data["data"][0]["y"]
    assert labels == ["\u2068العربية\u2069", "Arabic"]


def test_csv_of_a_result_with_other_scripts_has_the_mark_that_spreadsheets_need(
    client: Client, culture_run: Run
) -> None:
    address = f"/runs/{culture_run.pk}/items/"
    arabic = b"".join(client.get(address, {"language": "ar", "format": "csv"}).streaming_content).decode()
    assert arabic.startswith(BYTE_ORDER_MARK)
    assert "العربية" in arabic


def test_items_say_of_which_language_and_culture_they_are(client: Client, culture_run: Run) -> None:
    address = f"/runs/{culture_run.pk}/items/"
    named = {"culture_pair", "culture", "language", "relation", "subject_id", "answers", "prediction", "correct"}
    rows = csv_rows(client, address, "items")
    assert named <= rows[0].keys()
    assert {row["language"] for row in rows} == {"en", "ar"}
    assert 'data-column="language"' in client.get(address).content.decode()


def test_a_question_with_several_right_answers_shows_them_all(client: Client, culture_run: Run) -> None:
    other = culture_run_of(culture_run.benchmark, "org/two")
    for address in (f"/runs/{culture_run.pk}/", f"/runs/{culture_run.pk}/items/"):
        html = client.get(address).content.decode()
        assert "Arabic; Kurdish" in html and "English; French" in html, address
    stored = csv_rows(client, f"/runs/{culture_run.pk}/items/?language=en")
    asked = next(row for row in stored if row["subject"] == "Canada")
    assert asked["answer"] == "English", "the CSV has the first"
    form = pages_of(other.benchmark).question_form
    rows = [{"relation": "P37", "index": int(asked["index"])}]
    assert several_answers(other, rows, form) == {("P37", int(asked["index"])): "English; French"}
    assert several_answers(other, rows, ONE_ANSWER) == {}, "one answer counts there"


def test_of_many_right_answers_three_are_shown(small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    items = (Item(7, "Chad", (0, 1, 2, 3, 4)), Item(8, "Peru", (0, 1, 2)))
    relation = Relation("P36", ("[X] is [Y].",), tuple("abcde"), items)
    monkeypatch.setattr(wording_module, "read_relations", lambda benchmark: [relation])
    rows = [{"relation": "P36", "index": index} for index in (7, 8)]
    shown = several_answers(Run(benchmark=small), rows, FREE_TEXT)
    assert shown == {("P36", 7): "a; b; c and 2 more", ("P36", 8): "a; b; c"}


def test_it_has_the_mark_where_another_script_only_comes_far_down(client: Client, tmp_path: Path) -> None:
    folder = DlamaFolder(tmp_path / "pairs")
    name = "arab-west/dlama/en/P37_general_ARAB_REGION.jsonl"
    folder.facts[name] = [fact(number, f"Land {number}", {"Q13955": "Arabic"}) for number in range(60)]
    folder.add_arabic()
    folder.facts = {name.replace("/ar/", "/zz/"): lines for name, lines in folder.facts.items()}
    folder.templates["zz"] = folder.templates.pop("ar")
    run = culture_run_of(benchmarks.install("dlama", folder.write(), "culture")[0], "org/one")
    text = b"".join(client.get(f"/runs/{run.pk}/items/", {"format": "csv"})).decode()
    assert text.startswith(BYTE_ORDER_MARK)
    assert text.index("العربية") > text.index("Land 59")


def test_questions_are_chosen_by_language_and_pair(client: Client, culture: Benchmark) -> None:
    form = client.get("/benchmarks/culture/items/").context["form"]
    assert "culture_pair" not in form.fields, "there is one pair"
    assert form.fields["language"].choices == [("", "all"), ("ar", "Arabic"), ("en", "English")]
    rows = csv_rows(client, "/benchmarks/culture/items/?language=ar")
    assert {(row["language"], row["culture_pair"]) for row in rows} == {("ar", "arab-west")}
    assert len(rows) == len(csv_rows(client, "/benchmarks/culture/items/?language=en")) == 5
