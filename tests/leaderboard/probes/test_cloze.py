"""Pages of cloze: the facts, their items with the texts that models wrote, both ways of scoring, and T-REx."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.ranks import refresh_standings
from leaderboard.figures.scores import main_scores
from leaderboard.models import Benchmark, Run, Score
from leaderboard.pages.overview_page import all_columns
from leaderboard.probes.cloze import ITEM_COLUMNS, mean_scores, verdict
from leaderboard.probes.items import item_url
from probing.plan import plan_of
from probing.probes.cloze import RANKED, WRITTEN, Cloze
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.probes.cloze_runs import TRIPLES, cloze_run, printed_cloze_row
from tests.probing.formats import test_lama
from tests.probing.formats.mlama_folder import MlamaFolder

pytestmark = pytest.mark.django_db


def test_a_run_shows_its_fact_types(client: Client, encoder: Run) -> None:
    rows = csv_rows(client, f"/runs/{encoder.pk}/", "fact_type")
    shares = {row["group"]: float(row["value"]) for row in rows}
    assert shares == {"desert_continent": 1.0, "city_country": 0.5, "river_countries": 0.5}


@pytest.mark.parametrize("name", ["encoder", "generator"])
def test_the_headline_says_its_averaging_and_its_denominator(
    client: Client, request: pytest.FixtureRequest, name: str
) -> None:
    run: Run = request.getfixturevalue(name)
    rows = item_rows.frame(run, ["relation", "correct"]).dropna()
    shares = rows["correct"].astype(float).groupby(rows["relation"]).mean()
    asked = run.benchmark.items
    counted = f"{len(rows)}" if len(rows) == asked else f"{len(rows)} of {asked}"
    text = " ".join(re.sub(r"<[^>]+>", " ", client.get(run.get_absolute_url()).content.decode()).split())
    assert f"{shares.mean():.3f}" in text
    assert f"Accuracy: mean of {len(shares)} fact type" in text
    assert f", {counted} questions" in text


def test_chance_stands_beside_the_figure_of_a_closed_run(client: Client, encoder: Run) -> None:
    """Any word may stand at an open blank, which has no chance; that of a run on a few questions is of all of them."""
    assert "chance <strong>" not in client.get(f"/runs/{encoder.pk}/").content.decode()
    encoder.scores.create(metric="chance", dimension="overall", group="all", value=0.25, n=4)
    assert "chance <strong>0.250" in client.get(f"/runs/{encoder.pk}/").content.decode()
    encoder.settings["limit"] = 1
    encoder.save()
    assert "chance <strong>0.250" in client.get(f"/runs/{encoder.pk}/").content.decode()


ALL, MAJOR = "all fact types", "major fact types"
CHOICES = {  # by what a mean is over: the accuracy on cities, and the stored score of the same sentences
    ALL: (20 / 24, ("overall", "all")),
    f"{ALL}, without leaky sentences": (16 / 20, ("leak", "not leaky")),
    MAJOR: (20 / 24, ("major", "major")),
    f"{MAJOR}, without leaky sentences": (16 / 20, None),
}


def test_averages_leave_out_minor_fact_types_and_leaky_sentences(client: Client, cities: Run) -> None:
    rows = {row["choice"]: row for row in csv_rows(client, cities.get_absolute_url(), "averages")}
    assert list(rows) == list(CHOICES)
    page = " ".join(re.sub(r"<[^>]+>", " ", client.get(cities.get_absolute_url()).content.decode()).split())
    for choice, (on_cities, stored) in CHOICES.items():
        row = rows[choice]
        if choice.startswith(MAJOR):
            assert (row["fact_types"], float(row["value"])) == ("1", pytest.approx(on_cities))
        if stored:
            score = cities.scores.get(metric="accuracy", dimension=stored[0], group=stored[1])
            found = [float(row[name]) for name in ("value", "low", "high", "n")]
            assert found == pytest.approx([score.value, score.low, score.high, score.n])
        assert f"{choice} {row['fact_types']} {float(row['value']):.3f}" in page


def test_the_leaderboard_ranks_both_kinds_with_columns_per_head(client: Client, encoder: Run, generator: Run) -> None:
    rows = {row["model"]: row for row in csv_rows(client, "/benchmarks/geography/")}
    assert float(rows["org/encoder"]["head_natural"]) == 0.75
    assert float(rows["org/generator"]["in_near_15"]) == 0.5
    assert rows["org/encoder"]["in_near_15"] == ""
    assert "major:minor" in client.get("/benchmarks/geography/").content.decode()


def test_both_kinds_have_the_figures_of_the_same_sentences_in_a_comparison_and_side_by_side(
    client: Client, encoder: Run, generator: Run
) -> None:
    overall = csv_rows(client, f"/compare/?m={encoder.pk}&m={generator.pk}")[0]
    assert (overall["n"], overall["gained"], overall["lost"]) == ("4.0", "1", "1")
    sides = csv_rows(client, "/benchmarks/geography/", "sides")
    assert {(row["side"], row["n"]) for row in sides} == {("encoder", "4.0"), ("generator", "4.0")}
    same = {row["side"]: float(row["value"]) for row in sides}
    assert [float(overall[name]) for name in ("first", "second")] == pytest.approx([same["encoder"], same["generator"]])


def test_published_figures_within_five_stand_beside_measured_ones(client: Client, encoder: Run) -> None:
    printed_cloze_row(encoder.benchmark)
    (row,) = csv_rows(client, "/benchmarks/geography/?columns=fact_type:city_country", "published")
    assert (row["model"], row["fact_type_city_country"]) == ("org/printed", "0.5")


def test_figures_of_no_version_in_particular_are_counted_with_the_current_one(
    client: Client, geography: Benchmark
) -> None:
    printed_cloze_row(make.benchmark("geography", version="published", current=False, probe="cloze"))
    printed_cloze_row(geography)
    printed_cloze_row(geography, "org/other")
    rows = {row["benchmark"]: row["published"] for row in csv_rows(client, "/benchmarks/")}
    assert rows == {"Geography": "2"}, "models are counted, not runs"
    assert "Older versions" not in client.get("/benchmarks/geography/").content.decode()


def test_the_baseline_gives_the_five_commonest_answers_of_a_fact_type(client: Client, geography: Benchmark) -> None:
    shares = []
    for relation in benchmarks.read(geography).relations:
        counts = Counter(relation.options_of(item)[item.answers[0]] for item in relation.items)
        shares.append(sum(count for _, count in counts.most_common(5)) / len(relation.items))
    assert geography.baselines == {"majority_answer": pytest.approx(sum(shares) / len(shares))}
    page = client.get("/benchmarks/geography/").content.decode()
    assert "There is no chance, because any word may stand at a blank." in page


def test_a_baseline_that_no_longer_exists_is_removed_when_they_are_stored_again(geography: Benchmark) -> None:
    make.baseline(geography, 0.2)
    benchmarks.store_baselines(geography, plan_of(benchmarks.read(geography), geography.settings_with({})))
    assert list(geography.baselines) == ["majority_answer"]


def test_a_version_says_how_its_sentences_were_judged_and_what_is_left_out(client: Client, tmp_path: Path) -> None:
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in TRIPLES))
    leaky = {"sample": "1", "question": "leaky", "judges": 2, "sentences": 225, "yes": 0.058, "agreement": 0.96}
    alone = {"sample": "1", "question": "grammatical", "judges": 1, "sentences": 9, "yes": 1.0, "kappa": None}
    fact_type = TRIPLES[0]["fact_type"]
    content = {
        "templates": {fact_type: ["0"]},
        "notes": ["Judges refuse a template."],
        "agreement": [leaky, alone, {"question": "unknown"}],
    }
    (tmp_path / "left_out.json").write_text(json.dumps(content))
    judged, _ = benchmarks.install("geography", tmp_path, "judged")
    assert fact_type not in {relation.id for relation in benchmarks.read(judged).relations}
    assert "Judges refuse a template." in client.get("/benchmarks/judged/").content.decode()
    first, second = csv_rows(client, "/benchmarks/judged/", "judged")
    assert first["question"] == "Do the words around the blank give the answer away?"
    assert (first["sentences"], first["yes"], first["agreement"]) == ("225", "0.058", "0.96")
    assert (second["judges"], second["kappa"]) == ("1", "")


def test_items_of_a_generator_say_what_it_wrote_and_what_was_not_asked(client: Client, generator: Run) -> None:
    rows = {row["subject"]: row["correct"] for row in csv_rows(client, f"/runs/{generator.pk}/items/")}
    assert rows == {"Paris": "true", "Cairo": "false", "Inn": "", "Sahara": ""}
    page = client.get(f"/runs/{generator.pk}/items/").content.decode()
    assert "Within 5 tokens" in page
    assert "Continuation" in page
    response = client.get(item_url(generator, {"relation": "desert_continent", "template": 0, "index": 0}))
    assert "The model was not asked" in response.content.decode()


def test_items_have_their_sentence_and_say_what_counts_as_right(client: Client, encoder: Run) -> None:
    page = client.get(f"/runs/{encoder.pk}/items/").content.decode().replace("\N{NO-BREAK SPACE}", " ")
    heads = dict(re.findall(r'data-column="(\w+)"[^>]*>\s*<span class="column-head">\s*([^<]+?)\s*<', page))
    assert (heads["correct"], heads["prediction"], heads["rank"]) == (
        "In top 5",
        "Ranked first",
        "Rank of answer",
    )
    assert "The Inn river flows through ____." in page
    assert "the answer is among the 5 most probable words at the blank" in page


def test_a_column_that_is_empty_throughout_is_not_shown(client: Client, encoder: Run) -> None:
    def shown(address: str) -> bool:
        return 'data-column="margin"' in client.get(address).content.decode()

    assert not shown(f"/runs/{encoder.pk}/items/")
    assert not shown(f"/runs/{encoder.pk}/items/?columns=all")
    assert "margin" in csv_rows(client, f"/runs/{encoder.pk}/items/")[0]


def test_the_csv_of_items_has_what_the_file_has(client: Client, encoder: Run) -> None:
    rows = csv_rows(client, f"/runs/{encoder.pk}/items/")
    stored = set(item_rows.names(encoder)) - {"answer_label", "prediction_label", *ITEM_COLUMNS.file_only}
    assert stored <= rows[0].keys()
    inn = next(row for row in rows if row["subject"] == "Inn")
    assert (inn["predictions"], inn["leak"], inn["one_token"]) == ("Egypt; Austria; Africa", "not leaky", "true")


def test_one_item_shows_its_ranking_and_says_in_words_what_is_stored(client: Client, encoder: Run) -> None:
    address = item_url(encoder, {"relation": "river_countries", "template": 0, "index": 0})
    page = client.get(address).content.decode()
    assert "The Inn river flows through <span" in page
    assert "Right: the answer is in place 2 (the first 5 places count)." in page
    assert "<mark>Austria</mark>" in page
    ranked = [(row["place"], row["word"], row["right"]) for row in csv_rows(client, address, "ranking")]
    assert ranked == [("1", "Egypt", "false"), ("2", "Austria", "true"), ("3", "Africa", "false")]
    values = {fact["name"]: fact["stored"] for fact in csv_rows(client, address, "facts")}
    assert values["One token"] == "true"
    assert not {"", "None", "True"} & set(values.values())
    assert not {"Margin", "Continuation", "Subject id"} & values.keys()


@pytest.mark.parametrize(
    ("row", "explanation"),
    [
        ({"method": "", "correct": None, "rank": None}, "not asked"),
        ({"method": "top", "correct": False, "rank": 7}, "Wrong: the answer is in place 7"),
        ({"method": "top", "correct": False, "rank": None}, "Wrong: the answer is not a single token"),
        ({"method": "near", "correct": True, "rank": 2}, "Right: the answer is complete after token 2"),
        ({"method": "near", "correct": False, "rank": None}, "Wrong: the answer does not occur in the continuation"),
    ],
)
def test_the_verdict_says_whether_and_why_the_answer_is_right(row: dict[str, Any], explanation: str) -> None:
    assert explanation in verdict(row, 5)


def test_one_item_shows_how_a_generator_goes_on(client: Client, generator: Run) -> None:
    page = client.get(item_url(generator, {"relation": "city_country", "template": 0, "index": 0})).content.decode()
    assert "The model wrote" in page
    assert "<mark>France</mark> and Austria." in page
    assert "Further details" in page
    assert "<dt>Kind of place</dt>" not in page, "as the details have the tags"
    assert "<dt>Kind of place</dt>" in client.get("/benchmarks/geography/items/city_country-0/").content.decode()


def test_a_comparison_shows_an_encoders_words_as_far_as_the_answer(
    client: Client, encoder: Run, generator: Run
) -> None:
    rows = csv_rows(client, f"/compare/?m={encoder.pk}&m={generator.pk}", "disagreements")
    assert rows
    for row in rows:
        assert (row["answer"] in row["first"].split(" · ")) == ("first" in row["right"])


CITIES, RIVERS = "city_country", "river_countries"


def test_means_have_both_intervals_and_those_of_one_fact_type_only_the_first() -> None:
    types = {key: {"accuracy": Score(metric="accuracy", value=0.5, n=10)} for key in (CITIES, RIVERS)}
    whole, alone = (mean_scores(of)["accuracy"] for of in (list(types.values()), [types[CITIES]]))
    assert whole.cluster_low < whole.low < 0.5 < whole.high < whole.cluster_high
    assert (alone.cluster_low, alone.cluster_high) == (None, None)


def test_means_are_those_of_all_their_fact_types_or_are_left_out(client: Client, cities: Run) -> None:
    row = csv_rows(client, cities.get_absolute_url(), "averages")[0]
    cities.scores.filter(metric="accuracy", dimension="fact_type", group=RIVERS).delete()
    cities.scores.filter(metric="in_top_1", dimension="fact_type", group=CITIES).delete()
    without = csv_rows(client, cities.get_absolute_url(), "averages")[0]
    assert int(without["fact_types"]) == int(row["fact_types"]) - 1
    assert (row["in_top_1"] != "", without.get("in_top_1", "")) == (True, "")


def test_encoders_and_models_that_write_are_ranked_apart_and_pages_say_why(
    client: Client, encoder: Run, generator: Run
) -> None:
    make.restore_figures(encoder.benchmark)
    refresh_standings(encoder.benchmark)
    assert {run.ranks.get(metric="accuracy").rank_range for run in (encoder, generator)} == {"1"}
    rows = client.get("/benchmarks/geography/").context["leaderboard"]["file"]
    headings = {row["standing"]["run"]: row["heading"] for row in rows}
    assert headings == {encoder: f"Right: {RANKED.format(k=5)}", generator: f"Right: {WRITTEN.format(k=5)}"}
    assert WRITTEN.format(k=5) in client.get(generator.get_absolute_url()).content.decode()
    assert client.get(encoder.get_absolute_url()).context["headline"]["rank"] == "", "one model alone has no rank"


def test_models_that_rank_the_same_answers_are_one_group() -> None:
    assert {Cloze.way(kind, {"closed": True}) for kind in ("masked", "causal")} == {""}
    assert Cloze.way("masked", {}) != Cloze.way("causal", {}) == Cloze.way("encoder-decoder", {})


def test_a_kind_of_model_has_its_own_look(client: Client, encoder: Run, generator: Run) -> None:
    chart = client.get("/benchmarks/geography/").context["probe"]["charts"]["sides"]
    looks = {trace["name"]: (trace["marker"]["symbol"], trace["marker"]["color"]) for trace in chart.figure.data}
    assert looks == {"encoders": ("diamond", "var(--series-1)"), "generators": ("circle", "var(--series-2)")}


# Imported folders in the formats of LAMA and mLAMA: T-REx beside a paper's figures, and languages without cultures.


@pytest.fixture(params=["published first", "imported first", "imported alone"])
def measured(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """A measured run on an imported folder with two relations, one of which the model knows in part."""
    if request.param == "published first":
        make.published_figures()
    folder = test_lama.write(tmp_path / "files")
    line = {"sub_label": "Nile treaty", "obj_label": "Egypt"}
    (folder / "P1001.jsonl").write_text(json.dumps(line) + "\n")
    trex, _ = benchmarks.install("lama", folder, "trex")
    shutil.rmtree(folder)
    if request.param == "imported first":
        make.published_figures()
    assert benchmarks.current("trex") == trex
    run = cloze_run(trex, make.model("org/measured", kind="masked"))
    make.restore_figures(trex)
    refresh_standings(trex)
    return run


def test_it_has_its_score_on_all_pages_and_a_rank(measured: Run, client: Client) -> None:
    (row,) = [row for row in csv_rows(client, "/benchmarks/trex/") if row["model"] == "org/measured"]
    assert (row["rank"], float(row["accuracy"])) == ("1", 0.5)
    board = client.get("/benchmarks/trex/").content.decode()
    assert '<figure class="curve"' in board and measured.get_absolute_url() in board
    html = client.get(measured.get_absolute_url()).content.decode()
    assert '<div class="headline">' in html
    assert 'data-table="breakdown"' in html
    rows = csv_rows(client, measured.get_absolute_url(), "relation")
    assert [(row["group"], float(row["value"])) for row in rows] == [("P1001", 1), ("P36", 0)]
    (row,) = csv_rows(client, measured.model.get_absolute_url())
    assert (row["metric"], float(row["score"])) == ("Accuracy", 0.5)


def test_figures_relative_to_the_model_before_training_are_no_standings(client: Client) -> None:
    make.published_figures()
    assert csv_rows(client, "/benchmarks/trex/") == []
    published = csv_rows(client, "/benchmarks/trex/", "published")
    assert "google-bert/bert-base-cased" in {row["model"] for row in published}
    assert "0.7237" in client.get("/papers/bear/").content.decode()


@pytest.mark.usefixtures("data")
def test_every_page_of_a_ranking_benchmark_without_cultures_is_shown(tmp_path: Path, client: Client) -> None:
    on, _ = benchmarks.install("mlama", MlamaFolder(tmp_path / "mlama1.1").write(), "mlama", "mLAMA")
    model = FakeModel(knows=["Lima lies in Peru", "Cusco lies in Peru", "Oslo lies in Norway"])
    runs = [make.probed(on, make.model(f"org/{name}"), model, on.settings_with({})) for name in ("one", "two")]
    of_spanish = runs[0].scores.get(metric="p_at_1", dimension="language_relation", group="es P17")
    assert (of_spanish.n, of_spanish.value < 1) == (2, True)
    pages = [
        "/",
        "/benchmarks/mlama/",
        "/benchmarks/mlama/relations/P17/",
        "/benchmarks/mlama/relations/P17.es/",
        "/benchmarks/mlama/items/",
        f"/runs/{runs[0].pk}/",
        f"/runs/{runs[0].pk}/items/",
        f"/compare/?runs={runs[0].pk},{runs[1].pk}",
        "/submit/?benchmark=mlama",
        "/models/org/one/",
    ]
    in_english = runs[0].scores.get(metric="p_at_1", dimension="language", group="en").value
    pooled = runs[0].scores.get(metric="p_at_1", dimension="overall").value
    assert in_english != pooled
    assert main_scores(runs[:1])[runs[0].pk].value == in_english
    assert client.get(f"/runs/{runs[0].pk}/").context["headline"]["part"] == "Asked in English"
    ((column,), _) = all_columns()
    assert column.title == "mLAMA, in English"
    assert {figure.value for figure in column.figures.values()} == {in_english}
    for part, value in (("", in_english), ("?part=es", of_spanish.value)):
        rows = csv_rows(client, f"/benchmarks/mlama/{part}")
        (shown,) = {float(row["p_at_1"]) for row in rows if row["model"] == "org/one"}
        assert shown == pytest.approx(value, abs=5e-4)
    answers = {page: client.get(page, follow=True).status_code for page in pages}
    assert answers == dict.fromkeys(pages, 200)
    assert "Noruega" in client.get(f"/runs/{runs[0].pk}/items/").content.decode()
