"""/ : order, ranks, filters, columns."""

from dataclasses import asdict

import pytest
from django.test import Client

from leaderboard.lists import runs
from leaderboard.models import Benchmark
from probing.start_token import StartToken, TokenizerFacts
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.views.html_table import Tables


@pytest.fixture
def tiny(db: None) -> Benchmark:
    return make.benchmark()


def rows(client: Client, address: str = "/") -> list[dict[str, str]]:
    head, *lines = Tables(client.get(address).content.decode()).found["leaderboard"]
    return [dict(zip(head, line, strict=True)) for line in lines]


def models(client: Client, address: str = "/") -> list[str]:
    return [row["model"] for row in rows(client, address)]


def test_it_shows_baselines_then_measured_then_published(client: Client, tiny: Benchmark) -> None:
    make.published(tiny, 0.9)
    low = make.finished(tiny, 0.3, make.model("org/low"))
    high = make.finished(tiny, 0.7, make.model("org/high"))
    make.baseline(tiny)
    assert [row["rank"] for row in rows(client)] == ["–", "≈ 1", "≈ 2", "–"]
    assert models(client)[:3] == ["baseline/chance", high.model.hub_id, low.model.hub_id]


def test_overlapping_intervals_share_a_rank_range(client: Client, tiny: Benchmark) -> None:
    for value in (0.58, 0.55, 0.20):
        make.finished(tiny, value)
    assert [row["rank"] for row in rows(client)] == ["≈ 1–2", "≈ 1–2", "≈ 3"]


def test_a_search_finds_models_of_other_benchmarks_too(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.3, make.model("org/here"))
    other = make.benchmark("other")
    for commit in ("1" * 40, "2" * 40):
        make.finished(other, 0.3, make.model("openai-community/gpt2", commit=commit))
    make.running(make.model("org/gpt2-unfinished"), other)
    page = client.get("/?benchmark=tiny&search=GPT2").content.decode()
    assert page.count('href="/models/openai-community/gpt2/"') == 1
    assert "org/gpt2-unfinished" not in page
    assert "/models/" not in client.get("/?benchmark=tiny").content.decode()


def test_the_spread_over_templates_is_a_column_where_there_is_one(client: Client, tiny: Benchmark) -> None:
    done = make.finished(tiny, 0.3)
    assert "sem" not in rows(client)[0]
    make.score(done, 0.02, metric="accuracy_sem")
    assert rows(client)[0]["sem"] == "0.020"


def test_a_filter_does_not_change_ranks(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.9, make.model("org/causal"))
    make.finished(tiny, 0.2, make.model("org/masked", kind="masked"))
    assert [(row["model"], row["rank"]) for row in rows(client, "/?kind=masked")] == [("org/masked", "≈ 2")]


def test_published_figures_are_ranked_only_where_asked_for(client: Client, tiny: Benchmark) -> None:
    make.published(tiny, 0.9)
    make.finished(tiny, 0.3, make.model("org/ours"))
    assert models(client)[0] == "org/ours"
    assert [row["rank"] for row in rows(client, "/?published=ranked")] == ["≈ 1", "≈ 1"]
    assert models(client, "/?published=ranked")[1] == "org/ours"


@pytest.mark.parametrize("sort", ["accuracy", "-accuracy"])
def test_what_was_not_measured_comes_last_both_ways(client: Client, tiny: Benchmark, sort: str) -> None:
    make.finished(tiny, None, make.model("org/none"), provenance="published")
    for value in (0.2, 0.6):
        make.published(tiny, value)
    assert rows(client, f"/?sort={sort}")[-1]["accuracy"] == "no mean"


def test_it_sorts_by_any_column_and_says_so(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.9, make.model("org/b", parameters=2))
    make.finished(tiny, 0.1, make.model("org/a", parameters=1))
    assert models(client, "/?sort=parameters") == ["org/a", "org/b"]
    assert models(client, "/?sort=-model") == ["org/b", "org/a"]
    page = client.get("/?sort=-model").content.decode()
    assert page.count('aria-sort="descending"') == 1


def test_a_size_range_and_a_search_narrow_it(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.5, make.model("org/small", parameters=10**7))
    make.finished(tiny, 0.5, make.model("org/large", parameters=10**11))
    assert models(client, "/?size=more") == ["org/large"]
    assert models(client, "/?search=SMALL") == ["org/small"]


def test_facets_count_what_they_would_leave(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.5, make.model(kind="masked"))
    make.finished(tiny, 0.5, make.model(kind="causal"))
    make.finished(tiny, 0.5, make.model(kind="causal", parameters=10**11))
    page = client.get("/?size=1b").content.decode()
    assert "causal (1)" in page
    assert "masked (1)" in page


def test_chosen_slices_are_columns(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.5)
    assert rows(client, "/?columns=domain:Arts&columns=no:such")[0]["domain_arts"] == "0.500"
    assert "no_such" not in rows(client, "/?columns=domain:Arts&columns=no:such")[0]


def test_fifty_rows_are_a_page_and_csv_has_all(client: Client, tiny: Benchmark) -> None:
    make.baseline(tiny)
    for _ in range(51):
        make.finished(tiny)
    assert len(rows(client)) == 51
    assert len(rows(client, "/?page=2")) == 2
    assert len(client.get("/?format=csv").getvalue().decode().splitlines()) == 53
    assert len(client.get("/?format=csv&page=2").getvalue().decode().splitlines()) == 3


def test_scores_of_an_older_version_are_not_shown(client: Client, tiny: Benchmark) -> None:
    make.finished(make.benchmark(version="v0", current=False), 0.9)
    ours = make.finished(tiny, 0.5)
    assert models(client) == [ours.model.hub_id]


def test_a_run_under_way_is_not_shown(client: Client, tiny: Benchmark) -> None:
    make.running(make.model("org/running"), tiny)
    assert "org/running" not in client.get("/").content.decode()


def test_settings_are_a_column_where_they_set_runs_apart(client: Client, tiny: Benchmark) -> None:
    make.published(tiny, settings={"language": "ar"})
    assert rows(client)[0]["settings"] == "language ar"


def test_a_start_token_that_marks_roles_is_told_in_its_row(client: Client, tiny: Benchmark) -> None:
    facts = TokenizerFacts("BPE", 400, False, False, start=StartToken("auto", 1, "<s>", "bos", marks_roles=True))
    make.finished(tiny, 0.5, provenance_record={"model": {"tokenizer": asdict(facts)}}, settings={"seed": 3})
    assert rows(client)[0]["settings"] == "seed 3, starts with <s>, which marks roles in chats"


def test_an_unknown_benchmark_is_not_found(client: Client, tiny: Benchmark) -> None:
    assert client.get("/?benchmark=nonsense").status_code == 404


def test_commits_of_a_model_are_told_apart(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, make.model("org/a", commit="1" * 40))
    assert "settings" not in rows(client)[0]
    make.finished(tiny, 0.6, make.model("org/a", commit="2" * 40))
    assert {row["settings"] for row in rows(client)} == {"commit 1111111", "commit 2222222"}
    assert {row["commit"] for row in csv_rows(client, "/")} == {"1" * 40, "2" * 40}
    assert runs.benchmarks().get(slug=tiny.slug).measured == 1, "one model"


def test_other_settings_and_some_of_the_items_stand_under_headings_with_ranks_of_their_own(
    client: Client, tiny: Benchmark
) -> None:
    make.finished(tiny, 0.4, make.model("org/whole"))
    make.finished(tiny, 0.9, make.model("org/part"), settings={"limit": 5})
    make.finished(tiny, 0.8, make.model("org/other"), settings={"pll": "original"})
    expected = [("org/whole", "≈ 1"), ("org/other", "≈ 1"), ("org/part", "≈ 1")]
    assert [(row["model"], row["rank"]) for row in rows(client)] == expected
    assert [row["model"] for row in rows(client, "/?sort=-accuracy")] == [name for name, _ in expected]
    page = client.get("/").content.decode()
    assert page.index("org/whole") < page.index("Other settings: PLL original") < page.index("org/other")
    assert page.index("org/other") < page.index("Some of the items: limit 5") < page.index("org/part")
    assert [row["group"] for row in csv_rows(client, "/")] == ["", "PLL original", "limit 5"]


def test_the_chart_has_no_figures_of_other_settings(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.9, make.model("org/other"), settings={"pll": "original"})
    assert "of 1 model by number" in client.get("/").content.decode()
    make.finished(tiny, 0.4, make.model("org/whole"))
    make.finished(tiny, 0.3, make.model("org/also-whole"))
    assert "of 2 models by number" in client.get("/").content.decode()


def test_a_filter_that_leaves_only_baselines_says_what_to_do(client: Client, tiny: Benchmark) -> None:
    make.baseline(tiny)
    make.finished(tiny, 0.4, make.model("org/a"))
    advice = "Remove one of them"
    assert advice not in client.get("/").content.decode()
    assert advice in client.get("/?search=nobody").content.decode()


def test_chosen_columns_have_their_intervals_in_the_csv(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.4, make.model("org/a"))
    (row,) = csv_rows(client, "/?columns=domain:Arts")
    assert float(row["domain_arts_low"]) < float(row["domain_arts"]) < float(row["domain_arts_high"])
    assert "domain_arts_low" not in rows(client, "/?columns=domain:Arts")[0]


def test_an_empty_site_says_what_to_do(client: Client, db: None) -> None:
    assert "import_benchmark" in client.get("/").content.decode()


def test_a_model_without_a_rank_comes_last_in_either_order(client: Client, tiny: Benchmark) -> None:
    make.finished(tiny, 0.25, make.model("org/ranked"))
    make.published(tiny)
    for sort in ("rank", "-rank"):
        ranks = [row["rank"] for row in csv_rows(client, f"/?benchmark=tiny&sort={sort}")]
        assert ranks == ["≈ 1", ""]
