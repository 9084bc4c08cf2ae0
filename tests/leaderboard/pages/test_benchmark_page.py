"""Pages of benchmarks: the list of all, what one asks, and its standings with their order, ranks, filters, columns."""

import re
import shutil
from dataclasses import asdict
from datetime import date
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks, runs
from leaderboard.models import Benchmark, Run
from probing.start_token import StartToken, TokenizerFacts
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.pages.html_table import Tables

pytestmark = pytest.mark.django_db

TINY = "/benchmarks/tiny/"


def rows(client: Client, address: str = TINY) -> list[dict[str, str]]:
    head, *lines = Tables(client.get(address).content.decode()).found["leaderboard"]
    return [dict(zip(head, line, strict=True)) for line in lines]


def models(client: Client, address: str = TINY) -> list[str]:
    return [row["model"] for row in rows(client, address)]


def test_its_standings_are_measured_runs_alone(client: Client, tiny: Benchmark) -> None:
    make.published(tiny, 0.9)
    low = make.finished(tiny, 0.3, make.model("org/low"))
    high = make.finished(tiny, 0.7, make.model("org/high"))
    assert [row["rank"] for row in rows(client)] == ["≈ 1", "≈ 2"]
    assert models(client) == [high.model.hub_id, low.model.hub_id]


def test_baselines_are_said_below_the_table_and_chance_is_a_tick(client: Client, tiny: Benchmark) -> None:
    make.baseline(tiny, 0.1)
    make.baseline(tiny, 0.2, "majority_answer")
    make.finished(tiny, 0.5, make.model("org/a"))
    page = " ".join(client.get(TINY).content.decode().split())
    assert "bar 0 to 1, chance 0.100" in page
    assert "Reached without a model: Chance takes every option to be as likely as the next (0.100); Commonest" in page
    assert "most often in the relation (0.200)." in page
    make.baseline(tiny, 0.2, "most_frequent_answer")
    assert "Commonest answer of all relations" not in client.get(TINY).content.decode(), "which reaches no more"
    assert [row["model"] for row in csv_rows(client, TINY)] == ["org/a"]


def test_the_denominator_is_that_of_all_rows(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.5)
    few = make.finished(tiny, 0.5, settings={"limit": 4})
    few.scores.filter(dimension="overall").update(n=40)
    assert "Accuracy is the share of 40 to 100 questions." in client.get(TINY).content.decode()


def test_its_reference_counts_runs_where_there_are_any(client: Client, tiny: Benchmark) -> None:
    make.published(tiny)
    assert client.get(TINY).context["reference"].details.startswith("published figures; benchmark version")
    make.finished(tiny)
    assert client.get(TINY).context["reference"].details.startswith("1 run; benchmark version")


def test_ranks_are_explained_only_where_there_are_any(client: Client, tiny: Benchmark) -> None:
    words = "means between 2nd and 5th"
    make.published(tiny)
    assert words not in client.get(TINY).content.decode()
    make.finished(tiny)
    assert words in client.get(TINY).content.decode()


def test_the_spread_over_templates_is_a_column_where_there_is_one(client: Client, tiny: Benchmark) -> None:
    done = make.finished(tiny, 0.3)
    assert "sem" not in rows(client)[0]
    make.score(done, 0.02, metric="accuracy_sem")
    assert rows(client)[0]["sem"] == "0.020"


def test_a_filter_by_kind_leaves_the_others_out_and_does_not_change_ranks(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.9, make.model("org/causal"))
    make.finished(tiny, 0.2, make.model("org/t5", kind="encoder-decoder"))
    of_kind = rows(client, TINY + "?kind=encoder-decoder")
    assert [(row["model"], row["kind"], row["rank"]) for row in of_kind] == [("org/t5", "encoder-decoder", "≈ 2")]
    assert "encoder-decoder (1)" in client.get(TINY).content.decode()
    assert models(client, TINY + "?search=CAUSAL") == ["org/causal"]


def test_chosen_slices_are_columns_with_their_intervals_in_the_csv(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.5)
    address = TINY + "?columns=domain:Arts&columns=no:such"
    (shown,), (row,) = rows(client, address), csv_rows(client, address)
    assert shown["domain_arts"] == "0.500"
    assert {"no_such", "domain_arts_low"}.isdisjoint(shown)
    assert float(row["domain_arts_low"]) < float(row["domain_arts"]) < float(row["domain_arts_high"])


def test_fifty_rows_are_a_page_and_csv_has_all(client: Client, tiny: Benchmark) -> None:
    for _ in range(51):
        make.finished(tiny)
    assert len(rows(client)) == 50
    assert len(rows(client, TINY + "?page=2")) == 1
    assert len(client.get(TINY + "?format=csv").getvalue().decode().splitlines()) == 52
    assert len(client.get(TINY + "?format=csv&page=2").getvalue().decode().splitlines()) == 2


def test_settings_are_a_column_where_they_set_runs_apart(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, settings={"language": "ar"})
    page = client.get(TINY).content.decode()
    assert "language ar" in page and 'data-column="settings"' not in page, "the text above the group says it"
    assert csv_rows(client, TINY)[0]["settings"] == "language ar"


def test_a_start_token_that_marks_roles_is_told_in_its_row(client: Client, tiny: Benchmark) -> None:
    facts = TokenizerFacts("BPE", 400, False, False, start=StartToken("auto", 1, "<s>", "bos", marks_roles=True))
    make.finished(tiny, 0.5, provenance_record={"model": {"tokenizer": asdict(facts)}}, settings={"seed": 3})
    assert rows(client)[0]["settings"] == "seed 3, starts with <s>, which marks roles in chats"


def test_commits_of_a_model_are_told_apart(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, make.model("org/a", commit="1" * 40))
    assert "settings" not in rows(client)[0]
    make.finished(tiny, 0.6, make.model("org/a", commit="2" * 40))
    assert {row["settings"] for row in rows(client)} == {"commit 1111111", "commit 2222222"}
    assert {row["commit"] for row in csv_rows(client, TINY)} == {"1" * 40, "2" * 40}
    assert runs.benchmarks().get(slug=tiny.slug).measured == 1, "one model"


def test_other_settings_and_some_of_the_items_stand_under_headings_with_ranks_of_their_own(
    client: Client, tiny: Benchmark
) -> None:
    make.finished(tiny, 0.4, make.model("org/whole"))
    make.finished(tiny, 0.9, make.model("org/part"), settings={"limit": 5})
    make.finished(tiny, 0.8, make.model("org/other"), settings={"pll": "original"})
    expected = [("org/whole", "≈ 1"), ("org/other", "≈ 1"), ("org/part", "≈ 1")]
    assert [(row["model"], row["rank"]) for row in rows(client)] == expected
    assert [row["model"] for row in rows(client, TINY + "?sort=-accuracy")] == [name for name, _ in expected]
    page = client.get(TINY).content.decode()
    assert page.index("org/whole") < page.index("Other settings: PLL original") < page.index("org/other")
    assert page.index("org/other") < page.index("Some of the questions: limit 5") < page.index("org/part")
    assert [row["group"] for row in csv_rows(client, TINY)] == ["", "PLL original", "limit 5"]


def test_the_curve_has_no_figures_of_other_settings(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.9, make.model("org/other"), settings={"pll": "original"})
    assert "1 model measured here (filled marks)" in client.get(TINY).content.decode()
    make.finished(tiny, 0.4, make.model("org/whole"))
    make.finished(tiny, 0.3, make.model("org/also-whole"))
    curve = client.get(TINY).context["curve"]
    assert curve["title"] == "Accuracy by model size"
    assert curve["summary"].endswith("Nothing of its size beats whole (135 M, 0.400).")
    assert [mark["words"].partition(":")[0] for mark in curve["marks"]] == ["whole", "also-whole"]


def test_models_of_unknown_size_have_no_place_on_the_curve(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, make.model("org/unknown", parameters=None))
    assert client.get(TINY).context["curve"] is None


def test_files_and_pages_have_the_active_size_of_models(client: Client, tiny: Benchmark) -> None:
    facts = {"parameters": 8 * 10**9, "idle_parameters": 6 * 10**9, "hub_created": date(2024, 1, 1)}
    make.finished(tiny, 0.5, make.model("org/mixture", **facts))
    make.finished(tiny, 0.3, make.model("org/small"))
    actives = {row["model"]: row["active_parameters"] for row in csv_rows(client, TINY)}
    assert actives == {"org/mixture": "2000000000", "org/small": ""}
    assert "8 B parameters, 2 B of them for each token" in client.get("/models/org/mixture/").content.decode()
    models = {row["hub_id"]: row for row in client.get("/api/v1/models").json()["models"]}
    assert models["org/mixture"]["active_parameters"] == 2 * 10**9
    assert models["org/mixture"]["hub_created"] == "2024-01-01"


def test_a_filter_that_leaves_no_row_says_what_to_do(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, make.model("org/a"))
    assert "No model passes" not in client.get(TINY).content.decode()
    page = client.get(TINY + "?search=nobody").content.decode()
    assert "No model passes the search for “nobody”. Drop it to see more." in page
    page = client.get(TINY + "?search=nobody&kind=masked").content.decode()
    assert "the search for “nobody” and type “masked”. Drop one of them" in page


def test_a_search_without_a_result_names_models_with_a_near_name(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, make.model("org/gpt2-large"))
    make.finished(make.benchmark("other"), 0.4, make.model("org/gtp2-large"))
    page = client.get(TINY + "?search=gtp2-large").content.decode()
    assert "Did you mean org/gpt2-large?" in page
    assert "Did you mean" not in client.get(TINY + "?search=gpt2").content.decode()


def test_a_benchmark_without_runs_names_no_filter(client: Client, tiny: Benchmark) -> None:
    assert "No model has been measured here yet." in client.get(TINY).content.decode()


def test_a_model_without_a_rank_comes_last_in_either_order(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.25, make.model("org/ranked"))
    make.finished(tiny, 0.5, make.model("org/elsewhere"), provenance=Run.Provenance.ELSEWHERE)
    for sort in ("rank", "-rank"):
        ranks = [row["rank"] for row in csv_rows(client, f"/benchmarks/tiny/?sort={sort}")]
        assert ranks == ["≈ 1", ""]


def test_unknown_counts_are_left_out(client: Client, db: None) -> None:
    make.published(make.benchmark(relations=0, items=0))
    page = client.get(TINY).content.decode()
    assert '<p class="counts">multiple choice</p>' in page
    assert not re.search(r"\b0 (questions|relations)", page)


def test_the_page_shows_a_question_with_the_right_answer_marked(client: Client, small: Benchmark) -> None:
    page = client.get("/benchmarks/small/").content.decode()
    example = page[page.index('aria-label="Example"') : page.index("</figure>")]
    assert "(blank)" in example
    assert example.count("(right)") == 1


def test_relations_are_rows_with_an_example_and_a_dot_for_each_model(client: Client, site: Site) -> None:
    page = client.get("/benchmarks/small/").content.decode()
    head, *lines = Tables(page).found["relations"]
    assert "best_model" not in head
    models = {run.model_id for run in (site.first, site.second) if not run.settings_group}
    assert page.count('<circle class="dot"') >= len(models) * len(lines)
    rows = csv_rows(client, "/benchmarks/small/", "relations")
    assert {row["relation"] for row in rows} == {relation.id for relation in benchmarks.read(site.benchmark).relations}
    assert all(row["example"] for row in rows)


def test_a_benchmark_whose_files_are_gone_still_shows_its_models(client: Client, site: Site, data: Path) -> None:
    shutil.rmtree(data / site.benchmark.path)
    benchmarks._read_files.cache_clear()
    page = client.get("/benchmarks/small/").content.decode()
    found = Tables(page).found
    assert "leaderboard" in found and "relations" not in found


def test_the_page_tells_the_plan(client: Client, small: Benchmark) -> None:
    html = " ".join(client.get("/benchmarks/small/").content.decode().split())
    assert "Unless a run chooses otherwise: first wording only, PLL within_word_l2r, reduction sum." in html


def test_a_benchmark_without_a_sentence_about_it_does_not_say_twice_how_it_asks(
    client: Client, small: Benchmark
) -> None:
    html = client.get("/benchmarks/small/").content.decode()
    assert html.count("multiple choice</p>") == 1
    assert '<p class="lead">' not in html


# /benchmarks/ : all benchmarks in groups, and what it says where there is none.


def test_benchmarks_stand_in_four_groups_each_with_a_sentence(client: Client) -> None:
    make.published_figures()
    page = client.get("/benchmarks/").content.decode()
    places = [page.index(f"{topic}: ") for topic in ("Facts", "Cultures", "Precision", "Plausibility")]
    assert places == sorted(places)
    assert places[0] < page.index("BEAR") < places[1] < page.index("mLAMA") < places[2] < page.index("S-TEST")
    rows = csv_rows(client, "/benchmarks/")
    assert len(rows) == Benchmark.objects.filter(current=True).count()
    assert all(row["asks"].endswith(".") for row in rows)


def test_unknown_counts_are_not_zero(client: Client) -> None:
    make.benchmark(relations=0, items=0)
    (row,) = csv_rows(client, "/benchmarks/")
    assert (row["relations"], row["items"]) == ("", "")


def test_an_empty_site_says_that_it_has_none(client: Client) -> None:
    assert "There is no benchmark here yet." in client.get("/benchmarks/").content.decode()
