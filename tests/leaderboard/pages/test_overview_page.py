"""/ : the best model, a curve, and one figure for each model on each benchmark, in topics, with filters and ticks."""

import gzip
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from leaderboard.models import Benchmark, Model, Run
from leaderboard.tables import PAGE_SIZE
from probing.analysis.accuracy import MAJORITY
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.pages.html_table import Tables


def rows(client: Client, address: str = "/") -> list[dict[str, str]]:
    head, *lines = Tables(client.get(address).content.decode()).found["overview"]
    return [dict(zip(head, line, strict=True)) for line in lines]


def models(client: Client, address: str = "/") -> list[str]:
    return [row["model"] for row in rows(client, address)]


def page(client: Client, address: str = "/") -> str:
    return client.get(address).content.decode()


def culture_run(on: Benchmark, hub_id: str, **values: float) -> Run:
    """Create a run with a figure for each group that is named pair_language, such as arab_en."""
    done = make.run(make.model(hub_id), on, Run.State.FINISHED)
    for name, value in values.items():
        pair, language = name.split("_")
        make.score(done, value, "culture_pair_language", f"{pair}-west {language}", metric="p_at_1")
    return done


def test_a_model_has_one_row_with_its_figure_on_each_benchmark(client: Client, tiny: Benchmark) -> None:
    other = make.benchmark("other")
    make.finished(tiny, 0.4, make.model("org/a"))
    make.finished(other, 0.6, make.model("org/a"))
    make.finished(other, 0.7, make.model("org/b"))
    shown = [(row["model"], row["tiny"], row["other"], row["coverage"]) for row in rows(client, "/?topic=all")]
    assert shown == [("org/a", "0.400", "0.600", "2"), ("org/b", "", "0.700", "1")]


def test_its_reference_counts_models_and_benchmarks(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.5)
    make.published(make.benchmark("other"), 0.9, make.model("org/m-7b"))
    make.published(tiny, 0.9, make.model("org/m-7b-Instruct"))
    variant = make.model("org/m-7b-Chat")
    make.published(tiny, 0.8, variant)
    make.printed(make.benchmark("third"), [{"value": 0.3, "metric": "another"}], make.model("org/apart"))
    assert client.get("/").context["reference"].details == "4 models on 2 benchmarks", "those that the table shows"
    assert "4 models" in page(client), "with the variants that are folded"
    assert len(re.findall(r'href="[^"]*format=csv', page(client))) == 1, "in the menu “Use this” alone"


def test_the_first_visit_shows_the_best_on_the_fullest_benchmark_of_facts(client: Client, tiny: Benchmark) -> None:
    for hub_id, value in (("org/a", 0.2), ("org/b", 0.4)):
        make.finished(tiny, value, make.model(hub_id))
    make.finished(make.benchmark("alone"), 0.9, make.model("org/c"))
    pairs = make.benchmark("pairs", probe="specificity")
    make.score(make.run(make.model("org/d"), pairs, Run.State.FINISHED), 0.7, metric="specificity")
    assert models(client) == ["org/b", "org/a", "org/c"], "those without a figure there come last"
    assert list(rows(client)[0])[-2:] == ["tiny", "alone"]
    (heading,) = re.findall(r'<th[^>]*aria-sort="descending"[^>]*>', page(client))
    assert 'data-column="tiny"' in heading
    assert models(client, "/?sort=-alone") == ["org/c", "org/b", "org/a"]


def test_all_topics_are_sorted_by_coverage_and_say_so(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.9, make.model("org/best"))
    both = make.model("org/both")
    make.finished(tiny, 0.1, both)
    make.finished(make.benchmark("other"), 0.1, both)
    assert models(client, "/?topic=all") == models(client, "/?sort=-coverage") == ["org/both", "org/best"]
    (heading,) = re.findall(r'<th[^>]*aria-sort="descending"[^>]*>', page(client, "/?topic=all"))
    assert 'data-column="coverage"' in heading
    assert models(client, "/?topic=all&sort=-tiny") == ["org/best", "org/both"]
    assert page(client, "/?topic=all&sort=-tiny").count("aria-sort=") == 1


def test_what_was_measured_here_stands_before_what_was_published(client: Client, tiny: Benchmark) -> None:
    published = make.model("org/a", commit="", source=Model.Source.PUBLISHED)
    make.published(tiny, 0.9, published)
    assert 'class="published"' in page(client)
    run = make.finished(tiny, 0.4, make.model("org/a"))
    assert [row["tiny"] for row in rows(client)] == ["0.400"]
    (row,) = csv_rows(client, "/")
    assert (row["tiny_provenance"], row["tiny_run"]) == ("measured", str(run.pk))


def test_the_newest_of_several_commits_counts(client: Client, tiny: Benchmark) -> None:
    for value in (0.4, 0.6):
        make.finished(tiny, value, make.model("org/a"))
    assert [row["tiny"] for row in rows(client)] == ["0.600"]


def test_a_run_with_other_settings_is_no_figure_of_its_model(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.9, make.model("org/a"), settings={"limit": 5})
    assert "org/a" not in page(client)
    make.finished(tiny, 0.4, make.model("org/a"))
    assert [row["tiny"] for row in rows(client)] == ["0.400"]


def test_what_is_reached_without_a_model_and_by_people_stands_in_the_head_of_a_column(
    client: Client, tiny: Benchmark
) -> None:
    make.baseline(tiny, 0.2)
    make.baseline(tiny, 0.3, MAJORITY)
    make.published(tiny, 0.97, name="Human", baseline=True)
    make.finished(tiny, 0.6, make.model("org/a"))
    assert models(client) == ["org/a"]
    html = page(client)
    assert '<span class="scale">chance 0.200\ncommonest 0.300\nhuman 0.970</span>' in html
    assert '<line class="chance" x1="20.00%" x2="20.00%"' in html, "the bar has a tick there"


def test_what_stands_in_place_of_a_figure_has_no_bar(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.6, make.model("org/a"))
    other = make.benchmark("other")
    make.finished(other, 0.6, make.model("org/b"))
    both = make.model("org/c")
    make.finished(other, 0.5, both)
    make.printed(tiny, [{"value": 0.3, "metric": "another"}], both)
    shown = {row["model"]: row["tiny"] for row in rows(client, "/?sort=-tiny")}
    assert shown == {"org/a": "0.600", "org/b": "", "org/c": "other"}
    assert page(client, "/?sort=-tiny").count('class="bar') == 1


def test_only_models_with_answers_can_be_ticked(client: Client, tiny: Benchmark) -> None:
    make.published(tiny, 0.9, make.model("org/a", commit="", source=Model.Source.PUBLISHED))
    assert 'name="m"' not in page(client)
    assert 'id="compare"' not in page(client)
    make.finished(tiny, 0.4, make.model("org/b"))
    assert re.findall(r'name="m"\s+value="([^"]+)"', page(client)) == ["org/b"]
    assert 'id="compare"' in page(client)


def test_legends_and_filters_are_about_what_is_there(client: Client, tiny: Benchmark) -> None:
    make.published(tiny, 0.9, make.model("org/a", commit="", source=Model.Source.PUBLISHED))
    html = page(client)
    assert "measured here</span>" not in html
    assert html.count('<span class="published">published</span>') == 2, "below the table and below the curve"
    assert "chance: what guessing reaches" not in html
    assert 'id="facet-' not in html.replace('id="facet-search"', ""), "no filter narrows a single model"
    make.baseline(tiny, 0.2)
    make.finished(tiny, 0.4, make.model("org/b", kind="masked"))
    html = page(client)
    assert html.count('<span class="measured">measured here</span>') == 2
    assert "chance: what guessing reaches" in html
    assert re.findall(r'id="facet-(\w+)"', html) == ["search", "kind", "provenance"]
    assert "encoder-decoder" not in html
    assert 'value="encoder-decoder" selected' in " ".join(page(client, "/?kind=encoder-decoder").split())


def test_figures_about_other_items_are_marked_and_come_last(client: Client, tiny: Benchmark) -> None:
    elsewhere = make.benchmark(version="published", current=False)
    make.published(elsewhere, 0.9)
    make.finished(tiny, 0.3, make.model("org/a"))
    assert [row["tiny"] for row in rows(client, "/?sort=-tiny")] == ["0.300", "0.900"]
    assert [row["tiny"] for row in rows(client, "/?sort=tiny")] == ["0.300", "0.900"]
    assert "about other questions" in page(client)
    assert page(client).count('<circle class="series-') == 1, "the curve leaves it out"


def test_a_cell_links_to_its_run_and_tells_interval_items_source_and_settings(client: Client, tiny: Benchmark) -> None:
    run = make.finished(tiny, 0.4, make.model("org/a"))
    (link,) = re.findall(rf'<a class="measured"\s+href="/runs/{run.pk}/"\s+title="([^"]+)"', page(client))
    assert re.match(r"95 % interval 0\.\d+ to 0\.\d+ · 100 questions · measured here, first wording only", link)


def test_a_figure_from_elsewhere_is_read_out_as_such(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, provenance=Run.Provenance.ELSEWHERE)
    assert '<span class="visually-hidden">measured elsewhere</span>' in page(client)


def test_figures_that_cannot_be_told_from_the_highest_are_bold_and_said_to_be(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, make.model("org/a"))
    assert "among the best" not in page(client), "there is nothing to be better than"
    level = make.finished(tiny, 0.6, make.model("org/b"))
    best = make.finished(tiny, 0.61, make.model("org/c"))
    make.published(make.benchmark(version="published", current=False), 0.9)
    links = re.findall(
        r'<a class="[a-z]+ best"\s+href="([^"]+)"\s+title="[^"]+ · among the best of its column"', page(client)
    )
    assert set(links) == {level.get_absolute_url(), best.get_absolute_url()}, "figures about other items do not count"


def test_a_published_cell_cites_its_source(client: Client, tiny: Benchmark) -> None:
    make.published(tiny, source={"title": "A paper", "authors": "Ada Byron, Alan Turing", "year": 2024})
    assert "published: Byron et al. 2024" in page(client)


def test_a_name_links_to_the_model_and_its_tick_to_a_comparison(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, make.model("org/a"))
    html = page(client)
    assert re.search(r'name="m"\s+value="org/a"\s+form="compare"\s+aria-label="Compare org/a"', html)
    assert re.search(r'<form id="compare"\s+class="compare-bar"\s+action="/compare/"\s+method="get">', html)
    assert re.search(r'aria-label="Compare org/a"><input type="submit"[^>]*form="compare"', html)
    assert re.search(r'<a href="/models/org/a/"\s+title="org/a"><span class="org">org/</span>a</a>', html)


def test_names_that_two_models_share_are_shown_in_full(client: Client, tiny: Benchmark) -> None:
    for hub_id in ("one/gpt2", "two/gpt2"):
        make.finished(tiny, 0.4, make.model(hub_id))
    assert 'title="one/gpt2"><span class="org"></span>one/gpt2</a>' in page(client)


def test_quantised_weights_are_named_in_their_row(client: Client, tiny: Benchmark) -> None:
    file = {"source": Model.Source.LOCAL, "weights_file": "a-Q4_1.gguf", "quantisation": "Q4_1"}
    make.finished(tiny, 0.4, make.model("org/a", **file))
    make.finished(tiny, 0.5, make.model("org/a"))
    html = page(client, "/?topic=all")
    assert '<span class="org">org/</span>a</a>' in html
    assert '<span class="org">org/</span>a <span class="weights">Q4_1, 4 bits, GGUF, local file</span></a>' in html
    assert [row["hub_id"] for row in csv_rows(client, "/")] == ["org/a", "org/a"]


def test_a_model_that_only_a_paper_names_is_plain_text(client: Client, tiny: Benchmark) -> None:
    of = make.model("published/a-bert", source=Model.Source.PUBLISHED)
    make.published(tiny, 0.4, of)
    assert models(client) == ["published/a-bert"]
    assert 'href="/models/published/a-bert/"' not in page(client)
    assert 'href="/models/published/a-bert/#published"' in page(client), "where its figure leads"
    assert 'title="as named in its paper"' in page(client)


def test_a_run_under_way_is_shown_in_its_cell(client: Client, tiny: Benchmark) -> None:
    other = make.benchmark("other")
    make.finished(tiny, 0.4, make.model("org/a"))
    make.finished(other, 0.2, make.model("org/b"))
    going = make.running(make.model("org/a"), other, done=58)
    assert rows(client, "/?topic=all")[0]["other"] == "58 %"
    assert f'href="/runs/{going.pk}/"' in page(client, "/?topic=all")


def test_topics_show_their_benchmarks_only(client: Client, tiny: Benchmark) -> None:
    pairs = make.benchmark("pairs", probe="specificity")
    make.finished(tiny, 0.4, make.model("org/a"))
    make.score(make.run(make.model("org/b"), pairs, Run.State.FINISHED), 0.7, metric="specificity")
    assert {"tiny", "pairs"} < set(rows(client, "/?topic=all")[0])
    assert {"tiny", "pairs"} & set(rows(client, "/?topic=facts")[0]) == {"tiny"}
    assert [(row["model"], row["pairs"]) for row in rows(client, "/?topic=precision")] == [("org/b", "0.700")]
    assert "tiny" not in rows(client, "/?topic=precision")[0]
    assert models(client, "/?topic=nonsense") == ["org/a", "org/b"]


def test_one_pair_and_language_is_shown_at_a_time(client: Client, db: None) -> None:
    culture = make.benchmark("culture", probe="ranking")
    culture_run(culture, "org/a", arab_en=0.3, asia_ko=0.5)
    culture_run(culture, "org/b", asia_ko=0.6)
    assert [row["culture"] for row in rows(client)] == ["0.300"], "the first one, as on all pages"
    assert [row["culture"] for row in rows(client, "/?part=asia-west ko")] == ["0.600", "0.500"]
    assert [row["culture"] for row in rows(client, "/?part=arab-west en")] == ["0.300"]
    assert "Arab and West, in English" in page(client, "/?part=arab-west en")
    assert len(rows(client, "/?part=nonsense")) == 1


def test_a_run_of_one_pair_only_counts_for_it_and_raw_objects_do_not(client: Client, db: None) -> None:
    culture = make.benchmark("culture", probe="ranking")
    for hub_id, options in (("org/a", {"pair": "arab-west"}), ("org/raw", {"pair": "arab-west", "objects": "raw"})):
        done = make.run(make.model(hub_id), culture, Run.State.FINISHED, settings={"options": options})
        make.score(done, 0.3, "culture_pair_language", "arab-west ar", metric="p_at_1")
    assert models(client) == ["org/a"]


def test_facets_and_the_search_narrow_the_models(client: Client, tiny: Benchmark) -> None:
    small = make.model("org/small", parameters=10**7)
    make.finished(tiny, 0.5, small)
    make.finished(tiny, 0.4, make.model("org/large", parameters=10**11, kind="masked"))
    make.published(tiny, 0.3)
    make.published(make.benchmark("other"), 0.6, small)
    assert models(client, "/?size=more") == ["org/large"]
    make.finished(tiny, 0.2, make.model("org/limit", parameters=10**8))
    assert "org/limit" in models(client, "/?size=1b"), "a range begins with its lower end"
    assert models(client, "/?kind=masked") == ["org/large"]
    assert "masked (both sides)" in client.get("/").content.decode()
    assert models(client, "/?search=+SMALL+") == ["org/small"]
    assert models(client, "/?provenance=measured") == ["org/small", "org/large", "org/limit"]
    assert len(rows(client, "/?provenance=published")) == 2, "one of them has a measured figure as well"
    assert len(rows(client, "/?kind=nonsense&size=")) == 4


def test_no_model_left_leads_to_all_models_and_to_the_search_of_the_site(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.5, make.model("org/a"))
    html = page(client, "/?search=org&kind=masked&topic=facts")
    assert re.search(r'No model passes these filters.\s+<a href="\?topic=facts">Show all models</a>', html)
    assert 'href="/search/?search=org"' in html


@pytest.mark.parametrize("has_benchmark", [True, False])
def test_a_site_without_figures_offers_to_submit_a_model(client: Client, db: None, has_benchmark: bool) -> None:
    if has_benchmark:
        make.benchmark()
    html = page(client)
    assert "Nothing has been measured or published yet" in html
    assert 'href="/submit/"' in html
    assert "Citation" not in html, "there is nothing to cite"


def test_the_curve_is_of_the_main_benchmark_and_names_each_model_without_a_script(
    client: Client, tiny: Benchmark
) -> None:
    for hub_id, value in (("openai-community/gpt2", 0.2), ("openai-community/gpt2-xl", 0.6)):
        make.finished(tiny, value, make.model(hub_id, parameters=10**8 + int(value * 10**9)))
    other = make.benchmark("other")
    make.published(other, 0.5)
    html = page(client)
    assert 'aria-label="Tiny: accuracy by model size. 2 models measured here' in html
    assert "Tiny: accuracy by model size" not in page(client, "/?sort=-other")
    (address, words) = re.findall(r'<a href="([^"]+)" tabindex="-1"><title>([^<]+)</title>', html)[1]
    assert words == "gpt2: 0.200 (0.133 to 0.289), 300 M parameters, measured here"
    assert models(client, unescape(address)) == ["openai-community/gpt2-xl", "openai-community/gpt2"], (
        "its name is both"
    )


def test_the_curve_of_a_topic_is_of_one_of_its_benchmarks(client: Client, tiny: Benchmark) -> None:
    culture = make.benchmark("culture", probe="ranking")
    make.finished(tiny, 0.4, make.model("org/a"))
    culture_run(culture, "org/c", arab_en=0.3)
    assert "Culture, Arab and West, in English: P@1 by model size." in page(client, "/?topic=cultures")
    assert "<figure" not in page(client, "/?topic=all")


def test_the_front_page_weighs_at_most_200_kilobytes_with_its_curve(client: Client, tiny: Benchmark) -> None:
    for number in range(PAGE_SIZE + 10):
        make.finished(tiny, number / 100, make.model(f"org/model-{number}", parameters=10**8 + number * 10**6))
    html = page(client)
    files = re.findall(r'(?:src|href)="/static/([^"?]+)', html)
    contents = [Path(str(finders.find(name))).read_bytes() for name in files]
    assert html.count('<circle class="series-') == PAGE_SIZE + 10
    assert "overview.css" in files and "data-chart" not in html, "the library of the charts is not loaded"
    assert sum(len(gzip.compress(content)) for content in (html.encode(), *contents)) < 200_000


def test_the_address_of_a_leaderboard_leads_to_its_benchmark(client: Client, tiny: Benchmark) -> None:
    response = client.get("/?benchmark=tiny&sort=-accuracy&columns=a:b&columns=c:d")
    assert response.status_code == 302
    assert response["Location"] == "/benchmarks/tiny/?sort=-accuracy&columns=a%3Ab&columns=c%3Ad"
    assert client.get("/?benchmark=tiny")["Location"] == "/benchmarks/tiny/"
    assert client.get("/?benchmark=nonsense", follow=True).status_code == 404
    assert client.get("/?benchmark=no/slug").status_code == 404
    assert client.get("/?benchmark=")["Location"] == "/benchmarks/"


@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_a_table_of_a_benchmark_comes_without_a_redirect(client: Client, tiny: Benchmark, file_format: str) -> None:
    make.finished(tiny, 0.4, make.model("org/b"))
    make.finished(tiny, 0.6, make.model("org/a"))
    leading = {
        "/?benchmark=tiny&sort=accuracy&": "/benchmarks/tiny/?sort=accuracy&",
        "/?benchmark=&": "/benchmarks/?",
    }
    for address, page_address in leading.items():
        table, same = (client.get(f"{start}format={file_format}") for start in (address, page_address))
        assert table.status_code == 200
        assert table.getvalue() == same.getvalue()
        assert table["Content-Type"] == same["Content-Type"]
    assert client.get(f"/?benchmark=nonsense&format={file_format}").status_code == 404


def test_a_column_that_is_empty_on_the_page_is_only_in_the_csv(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.5, make.model("org/a"))
    make.finished(make.benchmark("other"), 0.5, make.model("org/b"))
    assert "other" not in rows(client, "/?search=org/a")[0]
    assert csv_rows(client, "/?search=org/a")[0]["other"] == ""


def test_every_page_has_the_search_for_models(client: Client, tiny: Benchmark) -> None:
    html = page(client, "/queue/")
    assert re.search(r'<form class="search"\s+method="get"\s+action="/search/"\s+role="search">', html)
    assert 'id="facet-search"' in page(client), "the overview filters by name as well"


def test_it_is_described_to_those_who_search(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny)
    html = page(client)
    assert "<title>What do language models know? · Clozeboard</title>" in html
    assert re.search(r'name="description"\s+content="\s*1 language model on fill-in-the-blank benchmarks of', html)


def answer(client: Client, address: str = "/") -> str:
    """Return the answer in one line, without its markup."""
    paragraph = page(client, address).partition('<p class="answer">')[2].partition("</p>")[0]
    words = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", paragraph)).strip()
    return unescape(words)


def test_the_answer_names_the_best_of_ten_models_with_its_unit_and_its_population(
    client: Client, tiny: Benchmark
) -> None:
    make.baseline(tiny, 0.3)
    for number in range(10):
        make.finished(tiny, 0.9 if number == 4 else number / 20, make.model(f"org/m-{number}"))
    sentence = answer(client)
    assert re.match(r"m-4 knows 90 % \(\d+ to \d+\) of these 100 facts; guessing 30 %\. ", sentence)
    assert "Best of the 10 models measured here on Tiny: share of 100 questions. " in sentence
    assert "The next, m-9, is 45.0 points behind" in sentence
    assert page(client).index("<figure") < page(client).index("<table")


def test_of_fewer_than_ten_models_none_is_named_and_the_table_leads(client: Client, tiny: Benchmark) -> None:
    make.baseline(tiny, 0.13)
    make.baseline(tiny, 0.34, MAJORITY)
    for number in range(9):
        make.finished(tiny, 0.6, make.model(f"org/m-{number}"))
        make.published(tiny, 0.9)
    assert answer(client) == (
        "So far 9 models are measured here on Tiny; from 10 on, the best of them is named here. Without a model: "
        "guessing 13 %, always the commonest answer 34 %."
    )
    assert page(client).index("<table") < page(client).index("<figure")


def test_models_that_cannot_be_told_apart_are_said_to_be(client: Client, tiny: Benchmark) -> None:
    for number in range(10):
        make.finished(tiny, 0.6 - number / 1000, make.model(f"org/m-{number}"))
    assert answer(client).endswith("The next, m-1, is 0.1 points behind, and the two cannot be told apart.")


def test_the_standard_error_of_a_paper_stands_behind_its_figure(client: Client, tiny: Benchmark) -> None:
    make.printed(tiny, [{"value": 0.7, "error": 0.012}])
    assert "SE 0.012" in page(client)
    (row,) = csv_rows(client, "/")
    assert row["tiny_standard_error"] == "0.012"


def test_the_tabs_of_topics_are_explained_by_a_line(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, make.model("org/a"))
    assert "Does the model know the answer?" in page(client)
    assert "There is no overall score" in page(client, "/?topic=all")


def test_variants_of_a_model_are_folded_under_the_best_of_them(client: Client, tiny: Benchmark) -> None:
    for hub_id, value in (("org/m-7b", 0.4), ("org/m-7b-Instruct", 0.5), ("org/m-13b", 0.3)):
        make.finished(tiny, value, make.model(hub_id))
    html = " ".join(page(client).split())
    assert [row["model"].partition("1 variant")[0] for row in rows(client)] == ["org/m-7b-Instruct", "org/m-13b"]
    assert re.search(r'<summary>1 variant</summary><ul><li><input[^>]*value="org/m-7b"', html)
    assert ">org/m-7b</a> ● 0.400 ± 0." in html
    assert [row["model"] for row in csv_rows(client, "/")] == ["org/m-7b-Instruct", "org/m-7b", "org/m-13b"]


def fresh_site(tiny: Benchmark) -> None:
    """Publish a base model on one benchmark, and measure a variant of it and a random network on another."""
    for number in range(3):
        make.published(tiny, 0.7 - number / 100)
    make.published(tiny, 0.6, make.model("org/m-7b", commit=""))
    other = make.benchmark("other")
    make.finished(other, 0.439, make.model("org/m-7b-Instruct"))
    make.finished(other, 0.132, make.model("org/random"))


def site_of_many_published_models(tiny: Benchmark) -> None:
    """Publish more models than a page has, and measure one on another benchmark."""
    for _ in range(PAGE_SIZE + 3):
        make.published(tiny, 0.6)
    make.finished(make.benchmark("other"), 0.439, make.model("org/measured"))


def site_of_variants(tiny: Benchmark) -> None:
    """Measure variants of one model on both, on one and on the other benchmark."""
    other = make.benchmark("other")
    of = {name: make.model(f"org/m-7b{name}") for name in ("", "-chat", "-Instruct", "-GGUF")}
    for name, on, value in (
        *(("", tiny, 0.51), ("", other, 0.31), ("-chat", tiny, 0.42), ("-chat", other, 0.33)),
        *(("-Instruct", other, 0.24), ("-GGUF", tiny, 0.15)),
    ):
        make.finished(on, value, of[name])


@pytest.mark.parametrize("fill", [fresh_site, site_of_many_published_models, site_of_variants])
def test_every_finished_run_with_the_usual_settings_is_in_the_default_table(
    client: Client, tiny: Benchmark, fill: Callable[[Benchmark], None]
) -> None:
    fill(tiny)
    pages = [Tables(page(client, f"/?page={number}")).found["overview"] for number in (1, 2)]
    assert all({"tiny", "other"} <= set(table[0]) for table in pages), "columns are the same on each page"
    cells = [cell for table in pages for row in table[1:] for cell in row]
    for run in Run.objects.filter(provenance=Run.Provenance.MEASURED):
        figure = f"{run.scores.get(dimension='overall').value:.3f}"
        named = [cell for cell in cells if run.model.hub_id in cell]
        assert any(figure in cell for cell in cells), (run.model.hub_id, figure)
        assert named, run.model.hub_id


def test_a_variant_without_a_figure_in_the_main_column_names_it_and_says_what_it_has(
    client: Client, tiny: Benchmark
) -> None:
    site_of_variants(tiny)
    html = " ".join(page(client).split())
    assert re.search(r">org/m-7b-Instruct</a> not on Tiny, ● 0\.240 [^<]+ on Other\s*<", html)
    assert re.search(r">org/m-7b-chat</a> ● 0\.420 [^<]+, ● 0\.330 [^<]+ on Other\s*<", html)
    assert "no figure" not in html


def test_published_figures_that_share_no_column_are_led_to(client: Client, tiny: Benchmark) -> None:
    of = make.model("org/a", commit="", source=Model.Source.PUBLISHED)
    make.printed(tiny, [{"metric": "another", "value": 0.7}], of)
    make.finished(tiny, 0.4, make.model("org/b"))
    shown = {row["model"]: row["tiny"] for row in rows(client, "/?topic=all")}
    assert shown == {"org/a": "other", "org/b": "0.400"}
    assert 'href="/benchmarks/tiny/#section-published"' in page(client, "/?topic=all")
