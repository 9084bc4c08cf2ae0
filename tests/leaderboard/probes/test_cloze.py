"""Pages of cloze: fact types by head, examples with the answer marked, encoders beside generators."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Run
from leaderboard.probes.cloze import judged_section
from probing.errors import BadInput
from probing.plan import plan_of
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.probes.cloze_runs import TRIPLES, published_cloze_run

pytestmark = pytest.mark.django_db


def test_a_run_shows_its_fact_types_head_by_head(client: Client, encoder: Run) -> None:
    page = client.get(f"/runs/{encoder.pk}/").content.decode()
    assert 'id="chart-fact_type"' in page
    assert page.index("country of a city") < page.index("continent of a desert")
    assert page.count('id="section-fact_type"') == 1
    assert "Kind of place" in page
    assert ">Head<" not in page
    rows = csv_rows(client, f"/runs/{encoder.pk}/", "fact_type")
    assert [(row["fact_type"], float(row["value"])) for row in rows] == [
        ("country of a city", 0.5),
        ("continent of a desert", 1.0),
        ("countries of a river", 0.5),
    ]


def test_chance_stands_beside_the_figure_only_where_all_questions_of_a_closed_run_were_asked(
    client: Client, encoder: Run
) -> None:
    """Any word may stand at an open blank, so that there is no chance; a few questions have few answers to guess."""
    assert "chance <strong>" not in client.get(f"/runs/{encoder.pk}/").content.decode()
    encoder.scores.create(metric="chance", dimension="overall", group="all", value=0.25, n=4)
    assert "chance <strong>0.250" in client.get(f"/runs/{encoder.pk}/").content.decode()
    encoder.settings["limit"] = 1
    encoder.save()
    assert "chance <strong>" not in client.get(f"/runs/{encoder.pk}/").content.decode()


CHOICES = {"": 20 / 24, "types=major": 20 / 24, "sentences=not-leaky": 16 / 20, "types=major&sentences=not-leaky": 0.8}


@pytest.mark.parametrize("choice", CHOICES)
def test_switches_leave_out_minor_fact_types_and_leaky_sentences(choice: str, client: Client, cities: Run) -> None:
    rows = {row["fact_type"]: row for row in csv_rows(client, f"/runs/{cities.pk}/?{choice}", "fact_type")}
    assert float(rows["country of a city"]["value"]) == pytest.approx(CHOICES[choice])
    assert ("countries of a river" in rows) == ("major" not in choice)
    averages = {row["group"]: row for row in csv_rows(client, f"/runs/{cities.pk}/?{choice}", "head")}
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
    (row, *_) = csv_rows(client, f"/runs/{cities.pk}/?{choice}", "head")
    stored = cities.scores.get(metric="accuracy", dimension=dimension, group=group)
    found = [float(row[name]) for name in ("value", "low", "high", "n")]
    assert found == pytest.approx([stored.value, stored.low, stored.high, stored.n])


def test_a_switch_is_a_link_that_keeps_the_rest_of_the_address(client: Client, cities: Run) -> None:
    page = client.get(f"/runs/{cities.pk}/?types=major&fact_type-sort=-n").content.decode()
    assert 'href="?types=major&amp;fact_type-sort=-n&amp;sentences=not-leaky#section-fact_type"' in page
    assert 'href="?fact_type-sort=-n#section-fact_type"' in page
    assert "Fact types by kind of place, major only" in page
    assert "?types=major&amp;fact_type-sort=-n&amp;format=csv&amp;table=fact_type" in page


def test_where_no_fact_type_is_major_it_says_so(client: Client, encoder: Run) -> None:
    assert "No fact type remains with these choices" in client.get(f"/runs/{encoder.pk}/?types=major").content.decode()


def test_published_figures_have_no_switches(client: Client, geography: Benchmark) -> None:
    assert 'class="switches"' not in client.get(f"/runs/{published_cloze_run(geography).pk}/").content.decode()


def test_the_leaderboard_ranks_both_kinds_with_columns_per_head(client: Client, encoder: Run, generator: Run) -> None:
    rows = {row["model"]: row for row in csv_rows(client, "/benchmarks/geography/")}
    assert float(rows["org/encoder"]["head_natural"]) == 0.75
    assert float(rows["org/generator"]["in_near_15"]) == 0.5
    assert rows["org/encoder"]["in_near_15"] == ""
    assert "major:minor" in client.get("/benchmarks/geography/").content.decode()


def test_they_can_be_compared_on_what_both_were_asked(client: Client, encoder: Run, generator: Run) -> None:
    overall = csv_rows(client, f"/compare/?m={encoder.pk}&m={generator.pk}")[0]
    assert (overall["n"], overall["gained"], overall["lost"]) == ("4.0", "1", "1")


def test_a_comparison_has_the_figures_of_the_same_sentences(client: Client, encoder: Run, generator: Run) -> None:
    overall = csv_rows(client, f"/compare/?m={encoder.pk}&m={generator.pk}")[0]
    sides = csv_rows(client, "/benchmarks/geography/", "sides")
    same = {row["side"]: float(row["value"]) for row in sides}
    assert [float(overall[name]) for name in ("first", "second")] == pytest.approx([same["encoder"], same["generator"]])


def test_published_figures_within_five_stand_beside_measured_ones(client: Client, encoder: Run) -> None:
    run = published_cloze_run(encoder.benchmark)
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "country of a city" in page
    rows = csv_rows(client, "/benchmarks/geography/?columns=fact_type:city_country")
    assert {row["model"]: row["fact_type_city_country"] for row in rows}["org/printed"] == "0.5"


def test_figures_of_no_version_in_particular_are_counted_with_the_current_one(
    client: Client, geography: Benchmark
) -> None:
    published_cloze_run(make.benchmark("geography", version="published", current=False, probe="cloze"))
    published_cloze_run(geography)
    published_cloze_run(geography, "org/other")
    rows = {row["benchmark"]: row["published"] for row in csv_rows(client, "/benchmarks/")}
    assert rows == {"Geography": "2"}, "models are counted, not runs"
    assert "Older versions" not in client.get("/benchmarks/geography/").content.decode()


def test_the_baseline_gives_the_five_commonest_answers_of_a_fact_type(client: Client, geography: Benchmark) -> None:
    run = geography.runs.get()
    assert run.model.hub_id == "baseline/majority-answer"
    shares = []
    for relation in benchmarks.read(geography).relations:
        counts = Counter(relation.options_of(item)[item.answers[0]] for item in relation.items)
        shares.append(sum(count for _, count in counts.most_common(5)) / len(relation.items))
    score = run.scores.get(metric="accuracy", dimension="overall")
    assert score.value == pytest.approx(sum(shares) / len(shares))
    page = client.get("/benchmarks/geography/").content.decode()
    assert "There is no chance, because any word may stand at a blank." in page


def test_a_baseline_that_no_longer_exists_is_removed_when_they_are_stored_again(geography: Benchmark) -> None:
    guessing = make.model("baseline/chance")
    digest = geography.settings_with({}).digest
    run = make.finished(geography, 0.2, guessing, provenance=Run.Provenance.BASELINE)
    Run.objects.filter(pk=run.pk).update(settings_digest=digest)
    benchmarks.store_chance(geography, plan_of(benchmarks.read(geography), geography.settings_with({})))
    assert {run.model.hub_id for run in geography.runs.all()} == {"baseline/majority-answer"}


def test_a_version_says_what_is_left_out(client: Client, tmp_path: Path) -> None:
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in TRIPLES))
    fact_type = TRIPLES[0]["fact_type"]
    (tmp_path / "left_out.json").write_text(
        json.dumps({"templates": {fact_type: ["0"]}, "notes": ["Judges refuse a template."]})
    )
    whole = benchmarks.install("geography", tmp_path, "judged")[0]
    assert fact_type not in {relation.id for relation in benchmarks.read(whole).relations}
    assert "Judges refuse a template." in client.get("/benchmarks/judged/").content.decode()


def test_a_version_says_how_its_sentences_were_judged(client: Client, tmp_path: Path) -> None:
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in TRIPLES))
    leaky = {"sample": "1", "question": "leaky", "judges": 2, "sentences": 225, "yes": 0.058, "agreement": 0.96}
    alone = {"sample": "1", "question": "grammatical", "judges": 1, "sentences": 9, "yes": 1.0, "kappa": None}
    content = {"notes": ["Nothing."], "agreement": [leaky, alone, {"question": "unknown"}]}
    (tmp_path / "left_out.json").write_text(json.dumps(content))
    benchmarks.install("geography", tmp_path, "judged")
    first, second = csv_rows(client, "/benchmarks/judged/", "judged")
    assert first["question"] == "Do the words around the blank give the answer away?"
    assert (first["sentences"], first["yes"], first["agreement"]) == ("225", "0.058", "0.96")
    assert (second["judges"], second["kappa"]) == ("1", "")


def test_a_version_whose_files_could_not_be_read_once_is_read_again(
    geography: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(benchmarks, "read", Mock(side_effect=BadInput("The disk is away.", "Wait.")))
        assert judged_section(geography) == []
    read = Mock(wraps=benchmarks.read)
    monkeypatch.setattr(benchmarks, "read", read)
    judged_section(geography)
    read.assert_called_once()


def test_a_run_without_scores_by_fact_type_has_no_such_section(client: Client, geography: Benchmark) -> None:
    run: Any = make.finished(geography)
    assert "chart-fact_type" not in client.get(f"/runs/{run.pk}/").content.decode()
