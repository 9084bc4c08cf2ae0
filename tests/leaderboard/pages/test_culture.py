"""Culture pairs on the site: import, both sides, gaps, languages, predictions, other scripts."""

import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.test import Client

from leaderboard import benchmarks
from leaderboard.exports import BYTE_ORDER_MARK
from leaderboard.models import Benchmark, Run, Score
from leaderboard.published import load
from probing.probes.ranking import Ranking
from probing.runner import probe_part
from probing.settings import Settings, parts
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.probing.formats.dlama_folder import DlamaFolder

pytestmark = pytest.mark.django_db


@pytest.fixture
def culture(tmp_path: Path) -> Benchmark:
    folder = DlamaFolder(tmp_path / "pairs")
    folder.add_arabic()
    return benchmarks.install("dlama", folder.write(), "culture")[0]


def ranked(on: Benchmark, hub_id: str) -> Run:
    """A run of a model that knows some of it, with its items and scores stored."""
    settings = Settings(probe="ranking")
    content = benchmarks.read(on)
    model = FakeModel(knows=["People of Egypt speak Arabic", "People of France speak Dutch"])
    rows = pd.concat([probe_part(model, content, settings, part) for part in parts(content, settings)])
    done = make.run(make.model(hub_id), on, Run.State.FINISHED, settings=settings.to_json())
    done.artefact = f"runs/{done.pk}"
    done.save()
    storages["artefacts"].save(f"{done.artefact}/items.parquet", ContentFile(rows.to_parquet()))
    scores = Ranking().scores(rows.reset_index(drop=True)).astype(object)
    tidy = scores.where(scores.notna(), None).to_dict("records")
    Score.objects.bulk_create(Score(run=done, **score) for score in tidy)
    return done


@pytest.fixture
def measured(culture: Benchmark) -> Run:
    return ranked(culture, "org/one")


@pytest.fixture
def published(culture: Benchmark, measured: Run) -> Run:
    """A paper's figures of the same model."""
    paper = make.run(
        make.model("org/one", commit="", source="published"),
        culture,
        Run.State.FINISHED,
        provenance=Run.Provenance.PUBLISHED,
        settings={"pair": "arab-west", "language": "ar"},
    )
    for group, value in (("Arab", 0.336), ("West", 0.23)):
        make.score(paper, value, "culture", group, metric="p_at_1", low=None, high=None)
    return paper


def table(client: Client, address: str, name: str) -> list[dict[str, str]]:
    answer = client.get(address, {"table": name, "format": "csv"})
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


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
    run = culture.runs.get(provenance=Run.Provenance.BASELINE)
    score = run.scores.get(metric="p_at_1", dimension="overall")
    assert score.value == pytest.approx((2 / 4 + 1 / 4 + 1 / 4 + 2 / 4 + 1 / 4) / 5)


def test_a_run_shows_both_sides_of_every_predicate(client: Client, measured: Run) -> None:
    rows = table(client, f"/runs/{measured.pk}/", "sides-arab-west-en")
    stored = measured.scores.get(
        metric="p_at_1",
        dimension="culture_pair_language_relation_culture",
        group="arab-west en P37 Arab",
    )
    assert [row["relation"] for row in rows] == ["P37"]
    assert float(rows[0]["first"]) == stored.value
    assert float(rows[0]["gap"]) == pytest.approx(float(rows[0]["first"]) - float(rows[0]["second"]))


def test_a_gap_comes_with_its_interval_and_test(client: Client, measured: Run) -> None:
    rows = table(client, f"/runs/{measured.pk}/", "gaps")
    assert [(row["pair"], row["language"]) for row in rows] == [("Arab and West", "ar"), ("Arab and West", "en")]
    for row in rows:
        assert float(row["gap_low"]) <= float(row["gap"]) <= float(row["gap_high"])
        assert 0 <= float(row["p"]) <= 1


def test_languages_stand_side_by_side_with_what_was_published(client: Client, measured: Run, published: Run) -> None:
    rows = table(client, f"/runs/{measured.pk}/", "languages")
    assert {(row["language"], row["provenance"]) for row in rows} == {
        ("ar", "measured here"),
        ("en", "measured here"),
        ("ar", "Published"),
    }
    (paper,) = (row for row in rows if row["provenance"] == "Published")
    assert float(paper["gap"]) == pytest.approx(0.106)
    assert paper["gap_low"] == ""


def test_common_predictions_are_listed_with_their_shares(client: Client, measured: Run) -> None:
    rows = table(client, f"/runs/{measured.pk}/", "predictions")
    of_one = [row for row in rows if (row["language"], row["culture"]) == ("en", "Arab")]
    assert sum(float(row["share"]) for row in of_one) == pytest.approx(1.0)
    assert {row["correct"] for row in of_one} <= {"yes", "no"}


def test_the_benchmark_shows_entropies_and_every_model(client: Client, measured: Run, published: Run) -> None:
    address = "/benchmarks/culture/"
    assert client.get(address).status_code == 200
    entropies = table(client, address, "entropies")
    assert {(row["relation"], row["culture"], row["items"]) for row in entropies} == {
        ("P37", "Arab", "2"),
        ("P37", "West", "3"),
    }
    models = table(client, address, "pairs")
    assert {row["provenance"] for row in models} == {"measured here", "Published"}


def test_a_comparison_shows_both_models_gaps(client: Client, culture: Benchmark, measured: Run) -> None:
    other = ranked(culture, "org/two")
    address = f"/compare/?m={measured.pk}&m={other.pk}"
    answer = client.get(address)
    assert answer.status_code == 200
    assert "Models on each pair" in answer.content.decode()


def test_the_leaderboard_has_columns_for_each_side_and_the_gap(client: Client, measured: Run) -> None:
    columns = ["culture_pair:arab-west", "culture_pair_culture:arab-west Arab", "culture_pair_culture:arab-west West"]
    answer = client.get("/", {"benchmark": "culture", "columns": columns, "format": "csv"})
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    (row,) = (row for row in rows if row["model"] == "org/one")
    gap = measured.scores.get(metric="culture_gap", dimension="culture_pair", group="arab-west")
    assert float(row["culture_gap:arab-west"]) == gap.value
    assert float(row[columns[1]]) - float(row[columns[2]]) == pytest.approx(gap.value)


def test_the_model_page_shows_them_too(client: Client, measured: Run) -> None:
    assert "Prompt languages side by side" in client.get("/models/org/one/").content.decode()


def test_text_of_another_language_says_which_and_finds_its_direction(client: Client, measured: Run) -> None:
    page = client.get(f"/runs/{measured.pk}/items/", {"language": "ar"}).content.decode()
    assert 'lang="ar" dir="auto">العربية</span>' in page
    index = next(item.index for item in benchmarks.read(measured.benchmark)["P37.arab-west.ar"].items)
    item = client.get(f"/runs/{measured.pk}/items/P37/0/{index}/").content.decode()
    assert 'class="statement" lang="ar" dir="auto"' in item
    relation = client.get("/benchmarks/culture/relations/P37.arab-west.ar/").content.decode()
    assert '<ul class="options" lang="ar" dir="auto">' in relation


def test_csv_of_other_scripts_has_the_mark_that_spreadsheets_need(client: Client, measured: Run) -> None:
    address = f"/runs/{measured.pk}/items/"
    arabic = b"".join(client.get(address, {"language": "ar", "format": "csv"}).streaming_content).decode()
    english = b"".join(client.get(address, {"language": "en", "format": "csv"}).streaming_content).decode()
    assert arabic.startswith(BYTE_ORDER_MARK)
    assert "العربية" in arabic
    assert not english.startswith(BYTE_ORDER_MARK)


def test_published_figures_stand_by_themselves_where_no_files_are_here(client: Client) -> None:
    load(Path(__file__).parents[3] / "fixtures" / "published")
    rows = table(client, "/benchmarks/dlama/", "pairs")
    (row,) = (
        row
        for row in rows
        if (row["model"], row["pair"], row["language"], row["objects"])
        == ("google-bert/bert-base-multilingual-cased", "Arab and West", "ar", "augmented")
    )
    assert (row["first"], row["second"]) == ("0.137", "0.151")
    assert float(row["gap"]) == pytest.approx(-0.014)
    run = Run.objects.filter(benchmark__slug="dlama", model__hub_id="UBC-NLP/ARBERT").order_by("pk").first()
    sides = table(client, f"/runs/{run.pk}/", "sides-arab-west-ar")
    assert next(row for row in sides if row["relation"] == "P17")["first"] == "0.499"
