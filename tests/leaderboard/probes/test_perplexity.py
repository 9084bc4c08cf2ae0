"""Pages of knowledge graphs: p-values, effect sizes, phrasings and items, on runs, boards and comparisons."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from scipy.stats import rankdata, spearmanr

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.ranks import refresh_standings
from leaderboard.models import Benchmark, Run, RunRank
from leaderboard.pages.standings_table import offered_slices
from leaderboard.probes.benchmark_words import counts
from leaderboard.probes.items import item_url
from probing.analysis.perplexity_metrics import TOKENIZER_NOTE
from probing.curation.graph_samples import sample_graph
from tests.fakes import FAKE_CARD, FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.ui.charts.plotted import plotted

pytestmark = pytest.mark.django_db
FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture
def measured(graph: Benchmark) -> Run:
    """By a model that knows every second true statement."""
    true = [item.subject for relation in benchmarks.read(graph).relations for item in relation.items if item.is_true]
    return make.probed(graph, make.model("org/knows"), FakeModel(knows=true[::2]), graph.settings_with({}))


@pytest.fixture
def wn18rr() -> Benchmark:
    make.published_figures()
    return Benchmark.objects.get(slug="wn18rr")


def test_an_imported_graph_is_asked_by_perplexity(graph: Benchmark) -> None:
    assert (graph.probe, graph.items, graph.settings) == ("perplexity", 915, {"pll": "original"})


def test_its_page_counts_true_and_false_statements(client: Client, graph: Benchmark) -> None:
    page = " ".join(client.get(graph.get_absolute_url()).content.decode().split())
    assert "915 statements, 415 true and 500 false" in page


def read_aloud(html: str) -> str:
    """Return the description of a page and the text of its main part, with the attributes that are read aloud."""
    (description,) = re.findall(r'<meta name="description" content="([^"]*)"', html) or [""]
    main = html.partition("<main")[2]
    attributes = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', main)
    text = re.sub(r"<pre.*?</pre>|<[^>]+>", " ", main, flags=re.DOTALL)
    return " ".join([description, text, *attributes]).lower()


def train(graph: Benchmark, name: str) -> None:
    """Measure a model at two steps of its training."""
    for step in (0, 1000):
        of = make.model(name, step=step, revision=f"step{step}")
        run = make.finished(graph, of=of, settings=graph.settings_with({}).to_json(), settings_digest="5" * 64)
        make.score(run, 0.5, metric="superiority")
        make.score(run, 0.5, "relation", "P30", 60, metric="superiority")


def test_no_page_calls_a_statement_a_question(client: Client, graph: Benchmark, measured: Run) -> None:
    other = make.probed(graph, make.model("org/knows-nothing"), FakeModel(), graph.settings_with({}))
    train(graph, "org/one")
    train(graph, "org/two")
    refresh_standings(graph)
    relation = benchmarks.read(graph).relations[0]
    of_relation = f"{graph.get_absolute_url()}relations/{relation.id}/"
    own, run = f"{graph.get_absolute_url()}items/", measured.get_absolute_url()
    item = f"{own}{relation.id}-0/"
    pages = (graph.get_absolute_url(), of_relation, own, item, f"{item}?run={measured.pk}", run, f"{run}items/")
    trainings = ("/models/org/one/training/", "/models/org/one/training/?with=org/two")
    others = (f"{run}items/?columns=all", f"{own}{relation.id}-99999/", "/search/?search=the+music")
    for address in (*pages, *trainings, f"/compare/?m={measured.pk}&m={other.pk}", *others):
        text = read_aloud(client.get(address).content.decode())
        assert "question" not in text, address
        assert "statement" in text, address


def test_the_files_of_a_graph_that_are_not_here_are_said_to_be_of_statements(client: Client, wn18rr: Benchmark) -> None:
    assert "The statements of WN18RR are not on this site" in client.get("/benchmarks/wn18rr/items/").content.decode()
    assert counts(Benchmark(slug="mine", probe="perplexity", items=1), [])[0] == "1 statement"


def test_the_table_of_ranks_counts_statements(client: Client, graph: Benchmark) -> None:
    settings = graph.settings_with({}).to_json()
    for value in (0.2, 0.4):
        run = make.finished(graph, of=make.model(), settings=settings)
        make.score(run, value, metric="superiority")
        figures = {"value": value, "low": 0.1, "high": 0.9, "n": 90, "best": 1, "worst": 9, "tie_group": 1}
        RunRank.objects.create(run=run, metric="superiority", counted=100, **figures)
    page = client.get(graph.get_absolute_url()).content.decode()
    assert 'data-label="On common statements"' in page
    assert "in 95 of 100 samples of statements;" in page
    run.ranks.update(n=None, value=None, best=None, worst=None)
    make.score(run, 0.5, "relation", "P31", metric="superiority")  # a change of figures: the page is made anew
    assert "shares too few statements" in client.get(graph.get_absolute_url()).content.decode()


def test_a_graph_that_nobody_knows_is_asked_by_perplexity_too() -> None:
    assert benchmarks.install("knowledge_graph", FIXTURES / "graph", "mine")[0].probe == "perplexity"


def test_the_run_page_draws_distributions_and_p_values(client: Client, measured: Run) -> None:
    page = client.get(f"/runs/{measured.pk}/")
    drawn = {name: plotted(chart.figure).data for name, chart in page.context["probe"]["charts"].items()}
    assert {trace.type for trace in drawn["distributions"]} == {"violin"}
    assert [trace.type for trace in drawn["p_values"]] == ["box", "scatter"]
    assert len(drawn["p_values"][1].x) == 5
    assert "Perplexities of true and false statements" in page.content.decode()


def test_perplexities_stand_on_the_page_of_their_run_with_the_reason_why_nowhere_else(
    client: Client, measured: Run
) -> None:
    page = unescape(client.get(f"/runs/{measured.pk}/").content.decode())
    assert TOKENIZER_NOTE in page
    assert page.count('data-column="perplexity_corpus"') == 1
    (corpus,) = measured.scores.filter(metric="perplexity_corpus", dimension="truth", group="true")
    corpus.value = 51123.906
    corpus.save()
    assert ">51,123.9</td>" in client.get(f"/runs/{measured.pk}/").content.decode()
    rows = csv_rows(client, f"/runs/{measured.pk}/", "truth")
    for row in rows:
        for metric in ("perplexity_median", "perplexity_corpus"):
            stored = measured.scores.get(metric=metric, dimension="truth", group=row["group"])
            assert float(row[metric]) == stored.value
    assert [row["group"] for row in rows] == ["true", "false"]


def test_no_list_of_several_models_has_a_perplexity(client: Client, measured: Run, wn18rr: Benchmark) -> None:
    again = make.probed(measured.benchmark, make.model("org/other"), FakeModel(), measured.benchmark.settings_with({}))
    for slug, table in (("graph", ""), ("wn18rr", "published")):
        chosen = "&".join(f"columns={slice}" for slice in offered_slices(Benchmark.objects.get(slug=slug)))
        rows = csv_rows(client, f"/benchmarks/{slug}/?{chosen}", table)
        pages = [f"/benchmarks/{slug}/?{chosen}", f"/benchmarks/{slug}/"]
        assert "perplexity" not in " ".join(rows[0])
        for address in pages:
            columns = re.findall(r'data-column="([^"]*)"', client.get(address).content.decode())
            assert columns
            assert not [name for name in columns if "perplexity" in name]
    address = f"/compare/?m={measured.pk}&m={again.pk}"
    assert not re.findall(r'data-column="[^"]*perplexity', client.get(address).content.decode())


def test_its_tables_are_csv_at_the_same_address(client: Client, measured: Run) -> None:
    rows = csv_rows(client, f"/runs/{measured.pk}/", "p-values")
    assert [row["repetition"] for row in rows] == ["1", "2", "3", "4", "5"]
    stored = measured.scores.get(metric="p_value_welch", dimension="repetition", group="3")
    assert float(rows[2]["p_value_welch"]) == stored.value
    true, false = csv_rows(client, f"/runs/{measured.pk}/", "distributions")
    assert float(true["p50"]) < float(false["p50"])


def test_the_items_show_what_is_stored_of_a_statement(client: Client, measured: Run) -> None:
    page = client.get(f"/runs/{measured.pk}/items/?search=capital")
    assert page.status_code == 200
    rows = csv_rows(client, f"/runs/{measured.pk}/items/")
    assert len(rows) == 915
    assert {"subject", "true", "perplexity", "tokens"} <= rows[0].keys()
    assert {"correct", "prediction"}.isdisjoint(rows[0])
    address = item_url(measured, {**rows[0], "template": 0})
    one = client.get(address)
    assert rows[0]["subject"].split()[-1] in one.content.decode()
    facts = {row["name"]: row["stored"] for row in csv_rows(client, address, "facts")}
    assert facts["True"] in ("true", "false")
    shown = re.findall(r"[−\d][\d.,]+", one.content.decode().split("<table")[1])
    assert not [figure for figure in shown if len(figure.partition(".")[2]) > 2]


def test_the_leaderboard_has_effect_size_and_log_p_beside_the_main_column(client: Client, measured: Run) -> None:
    rows = {row["model"]: row for row in csv_rows(client, "/benchmarks/graph/")}
    for metric in ("superiority", "cohens_d", "log10_p_median"):
        stored = measured.scores.get(metric=metric, dimension="overall")
        assert float(rows["org/knows"][metric]) == stored.value
    assert measured.benchmark.baselines == {"chance": 0.5}


def test_the_benchmark_page_has_the_papers_figures(client: Client, wn18rr: Benchmark) -> None:
    charts = client.get("/benchmarks/wn18rr/").context["probe"]["charts"]
    assert list(charts) == ["p_values"], "one box plot, and no scatter plots of four points each"
    assert sum(trace.type == "box" for trace in plotted(charts["p_values"].figure).data) == 4
    rows = {row["model"]: row for row in csv_rows(client, "/benchmarks/wn18rr/", "p-values")}
    assert float(rows["openai-community/gpt2"]["p_value_median"]) == 1.71e-62


def test_published_median_p_values_stand_in_the_column_of_logarithms(client: Client, wn18rr: Benchmark) -> None:
    rows = {row["model"]: row for row in csv_rows(client, "/benchmarks/wn18rr/", "published")}
    assert float(rows["openai-community/gpt2-large"]["log10_p_median"]) == pytest.approx(-74.89, abs=0.01)


def test_published_figures_stand_by_themselves_once_the_files_are_imported(client: Client, wn18rr: Benchmark) -> None:
    benchmarks.install("knowledge_graph", FIXTURES / "graph", "wn18rr")
    assert csv_rows(client, "/benchmarks/wn18rr/") == []
    rows = csv_rows(client, "/benchmarks/wn18rr/", "published")
    assert "openai-community/gpt2" in {row["model"] for row in rows}
    assert {row["differs"][:34] for row in rows} == {"25 repetitions of 1,000 true and 1"}


def test_the_benchmark_page_says_how_the_sample_was_drawn(client: Client, graph: Benchmark) -> None:
    page = client.get("/benchmarks/graph/").content.decode()
    assert "5 repetitions, each of 100 true and as many false statements" in page


def test_models_are_one_box_plot_and_p_values_have_the_digits_that_are_printed(client: Client) -> None:
    make.published_figures()
    page = client.get("/benchmarks/fb15k237/")
    assert all(text in page.content.decode() for text in ("5.98 × 10⁻⁴", "1.13 × 10⁻⁶", "1.50 × 10⁻²"))
    assert 'data-column="superiority"' not in page.content.decode().split('data-table="p-values"')[0]


def test_the_dots_of_a_relation_are_not_called_shares_of_right_answers(client: Client, measured: Run) -> None:
    assert 'data-label="Probability of superiority"' in client.get("/benchmarks/graph/").content.decode()


@pytest.fixture
def phrased(tmp_path: Path) -> Run:
    """A run on statements in two phrasings, of which the model knows the true ones in the second phrasing only."""

    def words(head: str, relation: str, tail: str) -> list[str]:
        return [f"{head} {relation} {tail}", f"{tail} {relation} {head}"]

    folder = sample_graph(FIXTURES / "graph", tmp_path / "sample", samples=20, repetitions=2, wording=words)
    benchmark = benchmarks.install("knowledge_graph", folder, "phrased")[0]
    items = [item for relation in benchmarks.read(benchmark).relations for item in relation.items]
    true_statements = [item.options[1] for item in items if item.is_true]
    return make.probed(benchmark, make.model("org/one"), FakeModel(knows=true_statements), benchmark.settings_with({}))


def test_a_run_shows_each_phrasing_and_the_mean_the_best_and_the_spread(client: Client, phrased: Run) -> None:
    by_phrasing = csv_rows(client, f"/runs/{phrased.pk}/", "template")
    values = [float(row["value"]) for row in by_phrasing]
    assert [row["group"] for row in by_phrasing] == ["0", "1"]
    assert values[1] == 1.0 > values[0]
    over = dict(phrased.scores.filter(metric__startswith="phrasing").values_list("metric", "value"))
    assert over["phrasing_mean"] == pytest.approx(sum(values) / 2)
    assert over["phrasing_spread"] == pytest.approx(1 - values[0])
    page = client.get(f"/runs/{phrased.pk}/").content.decode()
    assert f"{over['phrasing_mean']:.3f}" in page and "Best phrasing" in page


def test_a_benchmark_compares_models_over_phrasings(client: Client, phrased: Run) -> None:
    (row,) = csv_rows(client, f"/benchmarks/{phrased.benchmark.slug}/", "p-values")
    assert float(row["phrasing_best"]) == 1.0


def test_every_phrasing_is_an_item_of_its_own(client: Client, phrased: Run) -> None:
    rows = csv_rows(client, f"/runs/{phrased.pk}/items/")
    assert {row["template"] for row in rows} == {"0", "1"}
    assert len({row["statement"] for row in rows}) > len(rows) / 2


def run_knowing(on: Benchmark, name: str, every: int) -> Run:
    """A run of a model that knows every so many-th true statement."""
    true = [i.subject for r in benchmarks.read(on).relations for i in r.items if i.is_true]
    model = FakeModel(card=replace(FAKE_CARD, id=name), knows=frozenset(true[::every]))
    return make.probed(on, make.model(name), model, on.settings_with({}))


@pytest.fixture
def runs(graph: Benchmark) -> list[Run]:
    return [
        run_knowing(graph, "org/half", 2),
        run_knowing(graph, "org/third", 3),
        run_knowing(graph, "org/tenth", 10),
    ]


def address(runs: list[Run]) -> str:
    return "/compare/?" + "&".join(f"m={run.pk}" for run in runs)


def test_a_run_of_perplexity_offers_the_comparison(client: Client, runs: list[Run]) -> None:
    assert "Compare with another run" in client.get(f"/runs/{runs[0].pk}/").content.decode()


def test_runs_are_compared_by_their_superiority(client: Client, runs: list[Run]) -> None:
    page = client.get(address(runs))
    assert page.status_code == 200
    html = page.content.decode()
    assert "Probability of superiority" in html
    assert "Where the runs disagree" not in html
    rows = csv_rows(client, address(runs), "runs")
    for row, run in zip(rows, runs, strict=True):
        stored = run.scores.get(metric="superiority", dimension="overall")
        assert float(row["value"]) == pytest.approx(stored.value)
        assert float(row["low"]) == pytest.approx(stored.low)
        assert float(row["high"]) == pytest.approx(stored.high)
    assert float(rows[1]["difference"]) < 0
    assert float(rows[2]["p_holm"]) < 0.05


def test_the_ranks_of_sentences_are_shown_and_not_their_perplexities(client: Client, runs: list[Run]) -> None:
    columns = ["statement", "perplexity"]
    first, second = (item_rows.frame(run, columns) for run in runs[:2])
    (_, summary) = csv_rows(client, address(runs[:2]), "ranks")
    expected = spearmanr(first["perplexity"], second["perplexity"]).statistic
    assert float(summary["correlation"]) == pytest.approx(expected)
    sentences = csv_rows(client, address(runs[:2]), "sentences")
    assert "perplexity" not in sentences[0]
    places = dict(zip(first["statement"], (rankdata(first["perplexity"]) - 1) / (len(first) - 1), strict=True))
    assert all(float(row["first"]) == pytest.approx(places[row["statement"]]) for row in sentences)
    spreads = [float(row["spread"]) for row in sentences]
    assert spreads == sorted(spreads, reverse=True)


def test_no_number_of_the_comparison_changes_with_the_scale_of_the_perplexities(
    client: Client, graph: Benchmark, runs: list[Run]
) -> None:
    """As if the other model had another tokenizer: its perplexities are cubed, its order of sentences is the same."""
    scaled = item_rows.frame(runs[1], item_rows.names(runs[1]))
    same = make.stored_items(make.model("org/cubed"), graph, scaled.assign(perplexity=scaled["perplexity"] ** 3))
    shown = [csv_rows(client, address([runs[0], other]), "differences") for other in (runs[1], same)]
    for one, other in zip(*shown, strict=True):
        names = {"run": "", "name": ""}
        assert {**one, **names} == {**other, **names}
