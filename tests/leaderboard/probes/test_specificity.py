"""Pages of the specificity probe: measured runs on the starter pairs, and the paper's rows."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks, item_rows, outcomes
from leaderboard.figures.item_rows import ItemFilter
from leaderboard.figures.ranks import refresh_ranks
from leaderboard.models import Benchmark, Run, Score
from leaderboard.models.printed import printed_rows
from leaderboard.probes.items import item_url
from probing.analysis.specificity_metrics import common_answers, common_pairs, unified_scores
from probing.plan import plan
from probing.probes import probe_of
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.ui.charts.plotted import plotted

FIRST_ITEM = {"relation": "lies_in", "template": 0, "index": 0}
pytestmark = pytest.mark.django_db
FIXTURES = Path(__file__).parents[3] / "fixtures"
Measure = Callable[..., Run]


@pytest.fixture
def measure(pairs: Benchmark) -> Measure:
    """A finished run of a model with a prompting, and perhaps other options."""

    def run(model: str, prompting: str, **more: int) -> Run:
        settings = plan(benchmarks.read(pairs), pairs.settings_with({"prompting": prompting, **more})).settings
        of = make.Model.objects.filter(hub_id=model).first() or make.model(model)
        return make.probed(pairs, of, FakeModel(), settings)

    return run


@pytest.fixture
def paper() -> Benchmark:
    make.published_figures()
    return Benchmark.objects.get(slug="stest")


def with_ten_answers(run: Run) -> Run:
    """Store a run's rows again, each with ten answers more among its best words."""
    rows = item_rows.frame(run, item_rows.names(run))
    more = list(dict.fromkeys(rows["answer_label"]))[:10]
    rows["best"] = [[*best, *more] for best in rows["best"]]
    return make.stored_items(make.model(), run.benchmark, rows, settings=run.settings)


def test_compared_runs_have_acc_at_10_among_their_common_answers(client: Client, measure: Measure) -> None:
    runs = {
        str(run.pk): run for run in map(with_ten_answers, (measure("org/a", "vanilla"), measure("org/b", "cascade")))
    }
    address = f"/compare/?m={'&m='.join(runs)}"
    lines = csv_rows(client, address, "common_answers")
    rows = {name: item_rows.frame(run, item_rows.names(run)) for name, run in runs.items()}
    answers = common_answers(rows)
    table = unified_scores(common_pairs(rows, next(iter(answers.values()))), answers)
    overall = table[table["dimension"] == "overall"].set_index(["result", "metric"])
    for name, line in zip(runs, lines, strict=True):
        for metric in ("specificity", "acc_at_10_either", "acc_at_10_fine"):
            assert float(line[metric]) == pytest.approx(overall.loc[(name, metric), "value"])
            assert float(line[f"{metric}_n"]) == overall.loc[(name, metric), "n"]
    page = client.get(address).content.decode()
    assert 'data-column="acc_at_10_fine_n"' in page, "how many pairs count stands beside the figure"
    name, first = next(iter(runs.items()))
    too_few = rows[name].assign(best=[["x"]] * len(rows[name]))
    unknown = make.stored_items(make.model(), first.benchmark, too_few, settings=first.settings)
    _, line = csv_rows(client, f"/compare/?m={first.pk}&m={unknown.pk}", "common_answers")
    assert (line["acc_at_10_fine"], line["acc_at_10_fine_n"]) == ("", "")


def test_a_run_stands_beside_its_models_other_promptings(client: Client, measure: Measure) -> None:
    vanilla, few_shot = measure("org/a", "vanilla"), measure("org/a", "few-shot")
    measure("org/b", "vanilla")
    lines = csv_rows(client, f"/runs/{few_shot.pk}/", "promptings")
    assert [line["relation"] for line in lines] == ["lies_in", "born_in", "profession", "kind_of", "part_of", "mean"]
    for run, title in ((vanilla, "vanilla"), (few_shot, "few-shot")):
        score = run.scores.get(metric="specificity", dimension="overall")
        assert float(lines[-1][title]) == pytest.approx(score.value)
        assert float(lines[-1][f"{title}_n"]) == score.n
    assert len(lines[0]) == 1 + 2 * 6, "no column for other models"


def test_factors_stand_beside_specificity(client: Client, measure: Measure) -> None:
    run = measure("org/a", "vanilla")
    (*_, mean) = csv_rows(client, f"/runs/{run.pk}/", "factors")
    for metric in ("specificity", "naturalness", "relatedness"):
        assert float(mean[metric]) == pytest.approx(run.scores.get(metric=metric, dimension="overall").value)


def test_the_benchmark_has_naturalness_and_relatedness_by_relation(client: Client, measure: Measure) -> None:
    run = measure("org/a", "vanilla")
    measure("org/a", "cascade")
    rows = csv_rows(client, run.benchmark.get_absolute_url(), "factors_by_relation")
    assert [(row["model"], row["factor"]) for row in rows] == [("org/a", "Naturalness"), ("org/a", "Relatedness")]
    for row, metric in zip(rows, ("naturalness", "relatedness"), strict=True):
        for column, group in (("born_in", "born_in"), ("mean", "all")):
            assert float(row[column]) == pytest.approx(run.scores.get(metric=metric, group=group).value)


def test_naturalness_and_relatedness_stand_side_by_side_by_prompting(client: Client, measure: Measure) -> None:
    runs = {name: measure("org/a", name) for name in ("vanilla", "few-shot")}
    measure("org/b", "vanilla")
    lines = csv_rows(client, "/benchmarks/pairs/", "factor_promptings")
    assert [(line["model"], line["prompting"]) for line in lines] == [("org/a", "vanilla"), ("org/a", "few-shot")]
    for line in lines:
        for metric in ("specificity", "naturalness", "relatedness", "acc_at_10_fine"):
            score = runs[line["prompting"]].scores.get(metric=metric, dimension="overall")
            assert float(line[metric]) == pytest.approx(score.value)


def test_promptings_of_a_model_that_differ_in_more_are_not_side_by_side(client: Client, measure: Measure) -> None:
    measure("org/a", "vanilla")
    measure("org/a", "few-shot", sample=20)
    assert "factor_promptings" not in client.get("/benchmarks/pairs/").context["probe"]["files"]


def test_the_papers_table_9_and_its_changes_come_out(client: Client, paper: Benchmark) -> None:
    lines = csv_rows(client, "/benchmarks/stest/", "factor_promptings")
    table = {(line["model"], line["prompting"]): line for line in lines}
    assert len(table) == 15
    large = [table["FacebookAI/roberta-large", name] for name in ("vanilla", "few-shot", "cascade")]
    assert [float(line["naturalness"]) for line in large] == pytest.approx([0.3732, 0.4996, 0.5769])
    assert [float(line["specificity"]) for line in large] == pytest.approx([0.5936, 0.6427, 0.7483])
    assert float(large[2]["acc_at_10_fine_change"]) == pytest.approx(0.0077)


def test_two_runs_are_compared_on_common_pairs(client: Client, measure: Measure) -> None:
    first, second = measure("org/a", "vanilla"), measure("org/a", "few-shot")
    at = f"/compare/?m={first.pk}&m={second.pk}"
    mean, *relations = csv_rows(client, at, "differences")
    before, after = (run.scores.get(metric="specificity", dimension="overall") for run in (first, second))
    assert [float(mean[name]) for name in ("first", "second")] == pytest.approx([before.value, after.value])
    assert float(mean["n"]) == before.n == sum(float(row["n"]) for row in relations)
    page = client.get(at).content.decode()
    assert f"Specificity, the mean of {len(relations)} relations, on the {before.n:.0f} " in page
    assert all(row["group"] in page for row in relations)


def test_an_answer_is_right_where_it_is_specific(client: Client, measure: Measure) -> None:
    first, second = measure("org/a", "vanilla"), measure("org/a", "few-shot")
    at = f"/compare/?m={first.pk}&m={second.pk}"
    right = sum(len(csv_rows(client, f"{at}&right={pattern}", "disagreements")) for pattern in ("11", "01"))
    assert right == sum(
        bool(row["specific"])
        for row in item_rows.rows(second, item_rows.find(second, ItemFilter()), ["specific"])
        if row["specific"] is not None
    )


def test_chance_is_said_below_the_standings_and_people_stand_among_the_published_figures(
    client: Client, paper: Benchmark, pairs: Benchmark
) -> None:
    sentence = "Reached without a model: Chance takes every option to be as likely as the next (0.500)."
    assert client.get("/benchmarks/pairs/").context["leaderboard"]["baselines"] == sentence
    assert pairs.baselines == {"chance": 0.5}
    published = {row["model"]: row["specificity"] for row in csv_rows(client, "/benchmarks/stest/", "published")}
    assert (published["Human"], published["Freq"]) == ("0.9705", "0.6693")
    make.finished(paper)
    assert client.get("/benchmarks/stest/").context["curve"]["chance"] is None


def test_rows_of_a_model_are_told_apart_by_their_prompting(paper: Benchmark, measure: Measure) -> None:
    rows = printed_rows(paper.printed.filter(model__hub_id="openai-community/gpt2"))
    assert sorted(row.variant for row in rows) == ["", "prompting cascade", "prompting few-shot"]
    few_shot = measure("org/a", "few-shot")
    assert (few_shot.variant, few_shot.name) == ("prompting few-shot", "org/a (prompting few-shot)")


def test_a_coarser_answer_is_not_called_wrong(client: Client, measure: Measure) -> None:
    page = client.get(f"/runs/{measure('org/a', 'vanilla').pk}/").content.decode()
    assert "Coarser answer, preferred most" in page
    assert "Both answers are true." in page
    assert "Wrong, and sure of it" not in page


def test_items_name_both_answers_and_say_which_rule_counts(client: Client, measure: Measure) -> None:
    run = measure("org/a", "few-shot")
    lines = csv_rows(client, f"/runs/{run.pk}/items/", "items")
    assert len(lines) == 217
    lyon = next(line for line in lines if line["subject"] == "Lyon")
    assert float(lyon["fine_log_prob"]) < 0 > float(lyon["coarse_log_prob"])
    assert (lyon["answer"], lyon["coarse_label"], lyon["prompting"]) == ("France", "Europe", "few-shot")
    cusco = next(line for line in lines if line["subject"] == "Cusco")
    assert (cusco["coarse_log_prob"], cusco["specific"]) == ("", ""), "South America is two tokens"
    assert cusco["correct"] in ("true", "false")
    html = client.get(f"/runs/{run.pk}/items/").content.decode()
    assert "Specific, all pairs" in html
    assert "counts the pairs that have a yes or no there" in html
    assert 'name="best"' not in html and 'name="demonstrations"' not in html, "they are no filters"


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_items_are_found_by_the_rule_that_the_headline_follows(client: Client, measure: Measure, answer: str) -> None:
    run = measure("org/a", "vanilla")
    every, lines = (csv_rows(client, f"/runs/{run.pk}/items/{query}", "items") for query in ("", f"?specific={answer}"))
    assert lines == [line for line in every if line["specific"] == {"yes": "true", "no": "false"}[answer]]
    assert len(lines) < len(every)


def test_a_run_says_how_many_pairs_count_and_why_the_others_do_not(client: Client, measure: Measure) -> None:
    run = measure("org/a", "vanilla")
    names = ("specificity", "specificity_all_pairs")
    counted, asked = (run.scores.get(metric=name, dimension="overall").n for name in names)
    assert counted < asked
    text = f"mean of 5 relations, {counted:.0f} of {asked:.0f} pairs (the others are not single tokens)"
    assert text in client.get(f"/runs/{run.pk}/").content.decode()
    (line,) = [line for line in csv_rows(client, "/benchmarks/pairs/", "leaderboard") if line["model"] == "org/a"]
    assert float(line["n"]) == counted


def test_every_page_says_which_prompting_a_run_had(client: Client, measure: Measure) -> None:
    vanilla, few_shot = measure("org/a", "vanilla"), measure("org/a", "few-shot")
    Run.objects.filter(pk=few_shot.pk).update(state=Run.State.QUEUED)
    assert "prompting few-shot" in client.get("/queue/").content.decode()
    Run.objects.filter(pk=few_shot.pk).update(state=Run.State.FINISHED)
    for address in (
        "/benchmarks/pairs/",
        "/models/org/a/",
        f"/compare/?m={vanilla.pk}&m={few_shot.pk}",
        "/benchmarks/pairs/",
        "/benchmarks/pairs/relations/lies_in/",
        f"/runs/{few_shot.pk}/",
        f"/runs/{few_shot.pk}/items/",
        item_url(few_shot, FIRST_ITEM),
    ):
        assert "prompting few-shot" in client.get(address).content.decode(), address


def test_runs_of_one_prompting_are_told_apart(client: Client, measure: Measure) -> None:
    measure("org/a", "few-shot", shots=3)
    one, again = measure("org/a", "few-shot"), measure("org/a", "few-shot")
    chart = client.get(one.get_absolute_url()).context["probe"]["charts"]["promptings"]
    plot = plotted(chart.figure)
    assert {(tick.name, tick.x0) for tick in plot.layout.shapes} == {("chance", 0.5)}
    assert [trace.name for trace in plot.data] == [
        "few-shot, shots 3",
        f"few-shot, run {one.pk}",
        f"few-shot, run {again.pk}",
    ]


@pytest.mark.parametrize(
    ("prompting", "demonstrations", "after"),
    [("vanilla", 0, "."), ("few-shot", 10, "."), ("cascade", 0, ", which lies in ….")],
)
def test_an_item_shows_what_the_model_was_asked(
    client: Client, measure: Measure, prompting: str, demonstrations: int, after: str
) -> None:
    context = client.get(item_url(measure("org/a", prompting), FIRST_ITEM)).context["answer"]["context"]
    assert context["statement"] == ("The city of Lyon lies in ", "France", after)
    assert context["shown"].count(" lies in ") == demonstrations
    assert context["shown"] + "".join(context["chosen"]) == context["row"]["statement"]


def with_pairs(run: Run, share: float) -> None:
    """Let only the first pairs of each relation be single tokens of the run's model, the first of them specific."""
    rows = make.stored_rows(run)
    place = rows.groupby("relation")["index"].rank(pct=True)
    rows["specific"] = (place < share / 2).astype("boolean").where(place <= share)
    make.replace_rows(run, rows)
    run.scores.all().delete()
    scores = probe_of(Settings.from_json(run.settings)).scores(rows).astype(object)
    for tidy in scores.where(scores.notna(), None).to_dict("records"):
        Score.objects.create(run=run, **tidy)


def test_models_are_ranked_on_the_pairs_that_are_single_tokens_for_all(
    client: Client, measure: Measure, pairs: Benchmark
) -> None:
    shares = {"org/whole": 1.0, "org/most": 0.8, "org/few": 0.1}
    for name, share in shares.items():
        with_pairs(measure(name, "vanilla"), share)
    make.restore_figures(pairs)
    refresh_ranks(pairs)
    rows = {row["model"]: row for row in csv_rows(client, "/benchmarks/pairs/") if row["model"] in shares}
    common = float(rows["org/most"]["specificity_common_n"])
    assert common == float(rows["org/most"]["n"]) == float(rows["org/whole"]["specificity_common_n"])
    assert common < float(rows["org/whole"]["n"])
    own, on_common = (float(rows["org/most"][name]) for name in ("specificity", "specificity_common"))
    assert own == pytest.approx(on_common)
    assert float(rows["org/whole"]["specificity_common"]) > float(rows["org/whole"]["specificity"])
    assert rows["org/whole"]["rank"] and rows["org/whole"]["acc_at_10_either_common"] != ""
    assert (rows["org/few"]["rank"], rows["org/few"]["specificity_common"]) == ("", "")
    assert "shares too few questions" in client.get("/benchmarks/pairs/").content.decode()


def counted(run: Run) -> Run:
    """Count the answers of a run, as the worker does when it has finished."""
    outcomes.store_outcomes(run, make.stored_rows(run))
    outcomes.refresh_counts(run.benchmark)
    return run


def shown_text(client: Client, address: str) -> str:
    """Return the words of the main part of a page, without those of its charts and lists of suggestions."""
    main = client.get(address).content.decode().partition("<main")[2].partition("</main>")[0]
    return " ".join(re.sub(r"<(option|script).*?</\1>|<[^>]+>", " ", main, flags=re.DOTALL).split())


def test_no_page_calls_a_true_answer_right_or_wrong(client: Client, measure: Measure) -> None:
    first, second = counted(measure("org/a", "vanilla")), counted(measure("org/b", "few-shot"))
    of_item = item_url(first, FIRST_ITEM)
    addresses = (
        *("/benchmarks/pairs/", "/benchmarks/pairs/items/", of_item, of_item.partition("?")[0]),
        *("/benchmarks/pairs/relations/lies_in/", f"/runs/{first.pk}/", f"/runs/{first.pk}/items/"),
        f"/compare/?m={first.pk}&m={second.pk}",
    )
    for address in addresses:
        text = shown_text(client, address)
        named = re.findall(r".{0,40}(?:✓|✗|\b(?:right|wrong|knows)\b).{0,40}", text, re.IGNORECASE)
        assert named == [], address
        assert re.search(r"\b(?:finer|coarser|specific)", text, re.IGNORECASE), address


def test_answers_to_a_pair_are_called_finer_or_coarser(client: Client, measure: Measure) -> None:
    rows = make.stored_rows(counted(measure("org/a", "vanilla"))).to_dict("records")
    by_word = {row["specific"]: row for row in rows if row["relation"] == "lies_in"}
    for word, row in (("finer", by_word[True]), ("coarser", by_word[False])):
        text = shown_text(client, f"/benchmarks/pairs/items/lies_in-{row['index']}/")
        assert f"{row['prediction_label']} ({word})" in text
        assert f"The only model that was asked prefers the {word} answer." in text
