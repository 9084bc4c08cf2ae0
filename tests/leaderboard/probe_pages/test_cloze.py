"""Pages of cloze: fact types by head, examples with the answer marked, encoders beside generators."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.test import Client

from leaderboard.intake import queue
from leaderboard.intake.submissions import submit
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.probe_pages.cloze_items import verdict
from leaderboard.stored import benchmarks, item_rows
from leaderboard.worker.jobs import probe_run
from probing.language_model import BlankDistribution, Continuation, Request
from probing.probes.cloze import Cloze
from probing.settings import Settings
from tests.fakes import FAKE_CARD, FakeModel
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db

TRIPLES = [
    {"fact_type": "city_country", "subject": "Paris", "objects": ["France"]},
    {"fact_type": "city_country", "subject": "Cairo", "objects": ["Egypt"]},
    {"fact_type": "river_countries", "subject": "Inn", "objects": ["Austria", "Germany"]},
    {"fact_type": "desert_continent", "subject": "Sahara", "objects": ["Africa"]},
]


class Answers(FakeModel):
    """Ranks three tokens, or writes them one after the other."""

    def fill(self, asked: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        for _, options in asked:
            tokens, logs = ("Egypt", "Austria", "Africa"), np.array([-1.0, -2.0, -3.0])
            yield BlankDistribution(tokens, logs, np.full(len(options), np.nan), np.zeros(len(options), int))

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        return (Continuation(" France and Austria.", [7, 11, 19, 20]) for _ in texts)


def measured(on: Benchmark, of: Model) -> Run:
    """A finished run with its items, as a worker would leave it."""
    probe, content = Cloze(), benchmarks.read(on)
    asked = Answers(card=FAKE_CARD.__class__(**{**vars(FAKE_CARD), "kind": of.kind}))
    rows = probe.frame([row for each in content.relations for row in probe.rows(asked, each, 0, Settings())])
    done = make.run(
        of, on, Run.State.FINISHED, started=make.DAY, finished=make.DAY, settings=Settings("cloze").to_json()
    )
    done.artefact = f"runs/{done.pk}"
    storages["artefacts"].save(f"{done.artefact}/items.parquet", ContentFile(rows.to_parquet()))
    done.save()
    Score.objects.bulk_create(Score(run=done, **score) for score in probe.scores(rows).to_dict("records"))
    return done


@pytest.fixture
def geography(tmp_path: Path) -> Benchmark:
    folder = tmp_path / "triples"
    folder.mkdir()
    (folder / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in TRIPLES))
    return benchmarks.install("geography", folder, "geography")[0]


@pytest.fixture
def cities(tmp_path: Path) -> Run:
    """A major fact type with 24 sentences, of which 4 are leaky, and the two minor ones of before."""
    named = [("City", "Egypt", 16), ("Egypt Town", "Egypt", 4), ("Village", "France", 4)]
    triples = [
        {"fact_type": "city_country", "subject": f"{name} {number}", "objects": [country]}
        for name, country, many in named
        for number in range(many)
    ]
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in [*triples, *TRIPLES[2:]]))
    return measured(benchmarks.install("geography", tmp_path, "cities")[0], make.model("org/encoder", kind="masked"))


@pytest.fixture
def encoder(geography: Benchmark) -> Run:
    return measured(geography, make.model("org/encoder", kind="masked"))


@pytest.fixture
def generator(geography: Benchmark) -> Run:
    return measured(geography, make.model("org/generator", kind="causal"))


def published(geography: Benchmark, model: str = "org/printed") -> Run:
    of = make.model(model, kind="masked", source=Model.Source.PUBLISHED)
    run = make.run(of, geography, Run.State.FINISHED, provenance=Run.Provenance.PUBLISHED, reference="Table 4")
    for metric in ("in_top_5", "accuracy"):
        make.score(run, 0.5, "fact_type", "city_country", 0, metric=metric, low=None, high=None)
    return run


def table(client: Client, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(address).getvalue().decode("utf-8-sig"))))


def test_a_run_shows_its_fact_types_head_by_head(client: Client, encoder: Run) -> None:
    page = client.get(f"/runs/{encoder.pk}/").content.decode()
    assert 'id="chart-fact_type"' in page
    assert page.index("country of a city") < page.index("continent of a desert")
    assert page.count('id="section-fact_type"') == 1
    rows = table(client, f"/runs/{encoder.pk}/?format=csv&table=fact_type")
    assert [(row["fact_type"], float(row["value"])) for row in rows] == [
        ("country of a city", 0.5),
        ("continent of a desert", 1.0),
        ("countries of a river", 0.5),
    ]


CHOICES = {"": 20 / 24, "types=major": 20 / 24, "sentences=not-leaky": 16 / 20, "types=major&sentences=not-leaky": 0.8}


@pytest.mark.parametrize("choice", CHOICES)
def test_switches_leave_out_minor_fact_types_and_leaky_sentences(choice: str, client: Client, cities: Run) -> None:
    rows = {row["fact_type"]: row for row in table(client, f"/runs/{cities.pk}/?{choice}&format=csv&table=fact_type")}
    assert float(rows["country of a city"]["value"]) == pytest.approx(CHOICES[choice])
    assert ("countries of a river" in rows) == ("major" not in choice)
    averages = {row["group"]: row for row in table(client, f"/runs/{cities.pk}/?{choice}&format=csv&table=head")}
    values = [float(row["value"]) for row in rows.values()]
    assert float(averages["All fact types"]["value"]) == pytest.approx(sum(values) / len(values))
    assert averages["All fact types"]["fact_types"] == str(len(rows))


@pytest.mark.parametrize(
    ("choice", "dimension", "group"),
    [("", "overall", "all"), ("types=major", "major", "major"), ("sentences=not-leaky", "leak", "not leaky")],
)
def test_macro_averages_are_those_that_are_stored(
    choice: str, dimension: str, group: str, client: Client, cities: Run
) -> None:
    (row, *_) = table(client, f"/runs/{cities.pk}/?{choice}&format=csv&table=head")
    stored = cities.scores.get(metric="accuracy", dimension=dimension, group=group)
    found = [float(row[name]) for name in ("value", "low", "high", "n")]
    assert found == pytest.approx([stored.value, stored.low, stored.high, stored.n])


def test_a_switch_is_a_link_that_keeps_the_rest_of_the_address(client: Client, cities: Run) -> None:
    page = client.get(f"/runs/{cities.pk}/?types=major&fact_type-sort=-n").content.decode()
    assert 'href="?types=major&amp;fact_type-sort=-n&amp;sentences=not-leaky#section-fact_type"' in page
    assert 'href="?fact_type-sort=-n#section-fact_type"' in page
    assert "Fact types by head, major only" in page
    assert "?types=major&amp;fact_type-sort=-n&amp;format=csv&amp;table=fact_type" in page


def test_the_difficulty_of_fact_types_follows_the_switches(client: Client, cities: Run) -> None:
    rows = table(client, "/benchmarks/cities/?types=major&sentences=not-leaky&format=csv&table=difficulty")
    assert [(row["fact_type"], float(row["encoders"])) for row in rows] == [("country of a city", 0.8)]


def test_where_no_fact_type_is_major_it_says_so(client: Client, encoder: Run) -> None:
    assert "No fact type remains with these choices" in client.get(f"/runs/{encoder.pk}/?types=major").content.decode()


def test_published_figures_have_no_switches(client: Client, geography: Benchmark) -> None:
    assert 'class="switches"' not in client.get(f"/runs/{published(geography).pk}/").content.decode()


def test_its_examples_mark_the_answer_in_the_top_ten(client: Client, encoder: Run) -> None:
    page = client.get(f"/runs/{encoder.pk}/").content.decode()
    assert "Egypt · <mark>Austria</mark> · Africa" in page
    assert "The Inn river flows through ____." in page


def test_a_continuation_has_the_answer_marked(client: Client, generator: Run) -> None:
    page = client.get(f"/runs/{generator.pk}/").content.decode()
    assert "<mark>France</mark> and Austria." in page


def test_a_sentence_that_was_not_asked_is_neither_right_nor_wrong(client: Client, generator: Run) -> None:
    rows = {row["subject"]: row["correct"] for row in table(client, f"/runs/{generator.pk}/items/?format=csv")}
    assert rows == {"Paris": "yes", "Cairo": "no", "Inn": "", "Sahara": ""}
    assert client.get(f"/runs/{generator.pk}/items/desert_continent/0/0/").status_code == 200


def test_items_have_their_sentence_and_say_what_counts_as_right(client: Client, encoder: Run) -> None:
    page = client.get(f"/runs/{encoder.pk}/items/").content.decode()
    heads = dict(re.findall(r'data-column="(\w+)"[^>]*>\s*([^<]+?)\s*</th>', page))
    assert (heads["correct"], heads["prediction"], heads["rank"]) == (
        "In top 5",
        "Ranked first",
        "Rank of answer",
    )
    assert "The Inn river flows through ____." in page
    assert "the answer is among the 5 most probable words at the blank" in page


def test_items_of_a_generator_say_what_it_wrote(client: Client, generator: Run) -> None:
    page = client.get(f"/runs/{generator.pk}/items/").content.decode()
    assert "Within 5 tokens" in page
    assert "Continuation" in page


def test_a_column_that_is_empty_throughout_is_not_shown(client: Client, encoder: Run) -> None:
    def shown(address: str) -> bool:
        return 'data-column="margin"' in client.get(address).content.decode()

    assert not shown(f"/runs/{encoder.pk}/items/")
    assert shown(f"/runs/{encoder.pk}/items/?columns=all")


def test_the_csv_of_items_has_what_the_file_has(client: Client, encoder: Run) -> None:
    rows = table(client, f"/runs/{encoder.pk}/items/?format=csv")
    stored = set(item_rows.names(encoder)) - {"answer_label", "prediction_label", *item_rows.PER_OPTION}
    assert stored <= rows[0].keys()
    inn = next(row for row in rows if row["subject"] == "Inn")
    assert (inn["predictions"], inn["leak"], inn["one_token"]) == ("Egypt; Austria; Africa", "not leaky", "yes")


def test_one_item_shows_its_ranking(client: Client, encoder: Run) -> None:
    address = f"/runs/{encoder.pk}/items/river_countries/0/0/"
    page = client.get(address).content.decode()
    assert "The Inn river flows through <span" in page
    assert "Right: the answer is in place 2 (the first 5 places count)." in page
    assert "<mark>Austria</mark>" in page
    ranked = [(row["place"], row["word"], row["right"]) for row in table(client, f"{address}?format=csv")]
    assert ranked == [("1", "Egypt", "no"), ("2", "Austria", "yes"), ("3", "Africa", "no")]


def test_one_item_says_in_words_what_is_stored(client: Client, encoder: Run) -> None:
    facts = table(client, f"/runs/{encoder.pk}/items/river_countries/0/0/?format=csv&table=facts")
    values = {fact["name"]: fact["value"] for fact in facts}
    assert values["One token"] == "yes"
    assert not {"", "None", "True"} & set(values.values())
    assert not {"Margin", "Continuation", "Subject id"} & values.keys()


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"method": "", "correct": None, "rank": None}, "not asked"),
        ({"method": "top", "correct": False, "rank": 7}, "Wrong: the answer is in place 7"),
        ({"method": "top", "correct": False, "rank": None}, "Wrong: the answer is not a single token"),
        ({"method": "near", "correct": True, "rank": 2}, "Right: the answer is complete after token 2"),
        ({"method": "near", "correct": False, "rank": None}, "Wrong: the answer does not occur in the continuation"),
    ],
)
def test_what_became_of_the_answer_is_verdict(row: dict[str, Any], told: str) -> None:
    assert told in verdict(row, 5)


def test_one_item_shows_how_a_generator_goes_on(client: Client, generator: Run) -> None:
    page = client.get(f"/runs/{generator.pk}/items/city_country/0/0/").content.decode()
    assert "The model continues" in page
    assert "<mark>France</mark> and Austria." in page


def test_the_benchmark_compares_the_two_kinds_by_fact_type(client: Client, encoder: Run, generator: Run) -> None:
    published(encoder.benchmark)
    page = client.get("/benchmarks/geography/").content.decode()
    assert 'id="chart-difficulty"' in page and 'id="chart-sides"' in page
    rows = {row["fact_type"]: row for row in table(client, "/benchmarks/geography/?format=csv&table=difficulty")}
    city = rows["country of a city"]
    assert (city["encoders"], city["encoders_models"], city["generators"]) == ("0.5", "1", "0.5")
    assert city["encoders_published_models"] == "1", "figures of other sentences are not averaged with measured ones"
    assert rows["continent of a desert"]["generators"] == ""


def test_both_kinds_stand_side_by_side_on_the_same_sentences(client: Client, encoder: Run, generator: Run) -> None:
    rows = table(client, "/benchmarks/geography/?format=csv&table=sides")
    assert {(row["side"], row["n"]) for row in rows} == {("encoder", "4.0"), ("generator", "4.0")}


def test_the_leaderboard_ranks_both_kinds_with_columns_per_head(client: Client, encoder: Run, generator: Run) -> None:
    rows = {row["model"]: row for row in table(client, "/?benchmark=geography&format=csv")}
    assert float(rows["org/encoder"]["head:Natural"]) == 0.75
    assert float(rows["org/generator"]["in_near_15"]) == 0.5
    assert rows["org/encoder"]["in_near_15"] == ""
    assert "major:minor" in client.get("/?benchmark=geography").content.decode()


def test_they_can_be_compared_on_what_both_were_asked(client: Client, encoder: Run, generator: Run) -> None:
    overall = table(client, f"/compare/?m={encoder.pk}&m={generator.pk}&format=csv")[0]
    assert (overall["n"], overall["gained"], overall["lost"]) == ("4.0", "1", "1")


def test_a_comparison_has_the_figures_of_the_same_sentences(client: Client, encoder: Run, generator: Run) -> None:
    overall = table(client, f"/compare/?m={encoder.pk}&m={generator.pk}&format=csv")[0]
    sides = table(client, "/benchmarks/geography/?format=csv&table=sides")
    same = {row["side"]: float(row["value"]) for row in sides}
    assert [float(overall[name]) for name in ("first", "second")] == pytest.approx([same["encoder"], same["generator"]])


def test_a_comparison_shows_an_encoders_words_as_far_as_the_answer(
    client: Client, encoder: Run, generator: Run
) -> None:
    rows = table(client, f"/compare/?m={encoder.pk}&m={generator.pk}&format=csv&table=disagreements")
    assert rows
    for row in rows:
        assert (row["answer"] in row["first"].split(" · ")) == ("first" in row["right"])


def test_published_figures_within_five_stand_beside_measured_ones(client: Client, encoder: Run) -> None:
    run = published(encoder.benchmark)
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "country of a city" in page
    rows = table(client, "/?benchmark=geography&columns=fact_type:city_country&format=csv")
    assert {row["model"]: row["fact_type:city_country"] for row in rows}["org/printed"] == "0.5"


def test_figures_of_no_version_in_particular_are_counted_with_the_current_one(
    client: Client, geography: Benchmark
) -> None:
    published(make.benchmark("geography", version="published", current=False, probe="cloze"))
    published(geography)
    published(geography, "org/other")
    rows = {row["benchmark"]: row["published"] for row in table(client, "/benchmarks/?format=csv")}
    assert rows == {"Geography": "2"}, "models are counted, not runs"
    assert "Older versions" not in client.get("/benchmarks/geography/").content.decode()


def test_nothing_can_be_guessed_so_there_is_no_baseline(geography: Benchmark) -> None:
    assert not geography.runs.exists()


def test_a_run_without_scores_by_fact_type_has_no_such_section(client: Client, geography: Benchmark) -> None:
    run: Any = make.finished(geography)
    assert "chart-fact_type" not in client.get(f"/runs/{run.pk}/").content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("hub_id", "method"), [("org/masked", "in_top_10"), ("org/causal", "in_near_15")])
def test_a_worker_measures_it(
    hub_id: str, method: str, geography: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    Benchmark.objects.update(settings={"options": {"instruction": 0}})
    monkeypatch.setattr(queue, "enqueue", lambda run_id: True)
    run = submit(hub_id, Benchmark.objects.get(slug="geography")).run
    probe_run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.message) == (Run.State.FINISHED, "")
    assert run.scores.filter(metric=method, dimension="head").exists()
