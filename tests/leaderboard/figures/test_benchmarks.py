"""Benchmarks on the site: imported versions, and what is reached on them without a model."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark
from probing.catalog import EMBEDDED
from probing.errors import BadBenchmark, BadInput
from probing.plan import plan_of
from tests.conftest import BearFolder
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db


def test_it_copies_the_files_of_every_version(bear_folder: BearFolder, data: Path) -> None:
    first, new = benchmarks.install("bear", bear_folder.write(), "small", "Small")
    bear_folder.lines["P36"].pop()
    second, also_new = benchmarks.install("bear", bear_folder.write(), "small", "Small")
    assert (new, also_new) == (True, True)
    assert benchmarks.current("small") == second
    assert list(Benchmark.objects.filter(current=True)) == [second]
    assert [benchmarks.read(version).size for version in (first, second)] == [6, 5]
    assert (data / first.path / "P36.jsonl").exists()


def test_the_same_files_again_change_nothing(bear_folder: BearFolder) -> None:
    first, _ = benchmarks.install("bear", bear_folder.write(), "small")
    assert benchmarks.install("bear", bear_folder.path, "small") == (first, False)


def test_an_older_version_can_become_current_again(bear_folder: BearFolder) -> None:
    first, _ = benchmarks.install("bear", bear_folder.write(), "small")
    line = bear_folder.lines["P36"].pop()
    benchmarks.install("bear", bear_folder.write(), "small")
    bear_folder.lines["P36"].append(line)
    again, new = benchmarks.install("bear", bear_folder.write(), "small")
    assert (again, new, again.current) == (first, True, True)


def test_a_known_benchmark_has_the_facts_of_the_catalog(bear_folder: BearFolder) -> None:
    benchmark, _ = benchmarks.install("bear", bear_folder.write(), "bear")
    assert (benchmark.title, benchmark.settings_with({}).templates) == ("BEAR", (0, 1, 2))
    assert "wiland2024bear" in benchmark.citation


def test_a_benchmark_with_no_blank_at_the_end_of_a_sentence_is_imported(tmp_path: Path) -> None:
    triple = '{"fact_type": "country_continent", "subject": "Kenya", "objects": ["Africa"]}\n'
    (tmp_path / "triples.jsonl").write_text(triple)
    benchmark, new = benchmarks.install("geography", tmp_path, "continents")
    assert (new, benchmark.items) == (True, 1)


def test_a_spoilt_folder_is_refused_and_leaves_no_trace(bear_folder: BearFolder, data: Path) -> None:
    bear_folder.write()
    (bear_folder.path / "P30.jsonl").write_text("{\n")
    with pytest.raises(BadBenchmark, match=r"P30\.jsonl"):
        benchmarks.install("bear", bear_folder.path, "small")
    assert not Benchmark.objects.exists()
    assert not (data / "benchmarks").exists()


def test_an_unknown_format_is_refused(bear_folder: BearFolder) -> None:
    with pytest.raises(BadInput, match="no format 'xml'"):
        benchmarks.install("xml", bear_folder.write())


def test_a_benchmark_without_files_takes_no_runs(small: Benchmark) -> None:
    Benchmark.objects.update(path="")
    with pytest.raises(BadInput, match="no benchmark 'small'"):
        benchmarks.current("small")


def test_files_with_other_content_than_when_they_were_imported_are_refused(small: Benchmark, data: Path) -> None:
    (data / small.path / "P36.jsonl").write_text((data / small.path / "P36.jsonl").read_text().replace("Oslo", "Rome"))
    benchmarks._read_files.cache_clear()
    with pytest.raises(BadInput, match=r"The files of small in small@\w+ were changed\. Import the benchmark again"):
        benchmarks.read(small)


def test_an_imported_folder_is_asked_all_templates_unless_its_plan_says_otherwise(bear_folder: BearFolder) -> None:
    without, _ = benchmarks.install("bear", bear_folder.write(), "without")
    bear_folder.plan = {"title": "Planned", "settings": {"templates": [0, 2], "pll": "original"}}
    planned, _ = benchmarks.install("bear", bear_folder.write(), "planned")
    assert (without.title, without.settings_with({}).templates) == ("without", (0, 1, 2))
    assert (planned.title, planned.settings_with({}).templates, planned.settings_with({}).pll) == (
        "Planned",
        (0, 2),
        "original",
    )
    assert planned.digest == without.digest, "the plan is no content"


def test_relations_with_different_numbers_of_templates_are_asked_all_of_theirs(bear_folder: BearFolder) -> None:
    bear_folder.metadata["P36"]["templates"].pop()
    benchmark, _ = benchmarks.install("bear", bear_folder.write(), "uneven")
    assert benchmark.settings_with({}).templates == ()
    assert benchmarks.templates_to_choose(benchmark) == range(2)


def test_a_title_that_the_caller_gives_comes_before_that_of_the_plan(bear_folder: BearFolder) -> None:
    bear_folder.plan = {"title": "Planned"}
    assert benchmarks.install("bear", bear_folder.write(), "small", "Given")[0].title == "Given"


def test_a_fault_in_the_plan_leaves_no_trace(bear_folder: BearFolder, data: Path) -> None:
    bear_folder.plan = {"settings": {"pll": "best"}}
    with pytest.raises(BadBenchmark, match=r"clozeboard\.json: 'settings\.pll'"):
        benchmarks.install("bear", bear_folder.write(), "small")
    assert not Benchmark.objects.exists()
    assert not (data / "benchmarks").exists()


@pytest.mark.parametrize("plan", [None, {"settings": {"templates": [1], "reduction": "mean"}}])
def test_a_version_keeps_the_settings_of_its_first_import(bear_folder: BearFolder, plan: dict | None) -> None:
    first, _ = benchmarks.install("bear", bear_folder.write(), "small")
    Benchmark.objects.filter(pk=first.pk).update(settings={})  # as versions before plans were stored: template 0 only
    bear_folder.plan = plan
    same, new = benchmarks.install("bear", bear_folder.write(), "small")
    assert (same.settings, new) == ({}, False)
    line = bear_folder.lines["P36"].pop()
    second, _ = benchmarks.install("bear", bear_folder.write(), "small")
    bear_folder.lines["P36"].append(line)
    again, new = benchmarks.install("bear", bear_folder.write(), "small")
    assert (again.pk, again.settings, new) == (first.pk, {}, True), "runs of that version were made with these"
    assert again.settings_with({}).templates == (0,)
    assert second.settings_with({}).templates == ((1,) if plan else (0, 1, 2)), "a new version has a plan of its own"


def test_a_version_that_only_published_figures_have_named_gets_its_plan(bear_folder: BearFolder) -> None:
    version = benchmarks.install("bear", bear_folder.write(), "other")[0].version
    Benchmark.objects.create(slug="small", version=version, title="Small", probe="multiple_choice", path="")
    benchmark, _ = benchmarks.install("bear", bear_folder.path, "small")
    assert benchmark.settings_with({}).templates == (0, 1, 2)


def test_templates_of_a_benchmark_whose_files_are_gone_cannot_be_chosen(small: Benchmark, data: Path) -> None:
    assert benchmarks.templates_to_choose(small) == range(3)
    (data / small.path / "metadata_relations.json").unlink()
    benchmarks._read_files.cache_clear()
    assert benchmarks.templates_to_choose(small) == range(0)


# Baselines, as a column of each benchmark.


def test_guessing_and_answers_that_are_right_most_often_are_stored_with_the_import(small: Benchmark) -> None:
    assert small.baselines == {
        "chance": pytest.approx((4 / 3 + 2 / 2) / 6),
        "majority_answer": pytest.approx(3 / 6),
        "most_frequent_answer": pytest.approx(3 / 6),
    }
    assert not small.runs.exists()


def test_a_baseline_that_cannot_be_computed_is_none(pairs: Benchmark) -> None:
    assert pairs.baselines == {"chance": 0.5}


def test_the_rarer_answer_is_stored_with_the_import_that_names_a_list(pairs: Benchmark, tmp_path: Path) -> None:
    counts = {"France": 3, "Europe": 9, "Japan": 5, "Asia": 2}
    (tmp_path / "words.txt").write_text("".join(f"{word} {count}\n" for word, count in counts.items()))
    options = ["--slug", pairs.slug, "--frequencies", str(tmp_path / "words.txt")]
    printed = output_of("import_benchmark", "stest", str(EMBEDDED / "pairs"), *options)
    shares = []
    for relation in benchmarks.read(pairs).relations:
        rarer = [counts.get(item.options[1], 0) < counts.get(item.options[0], 0) for item in relation.items]
        shares.append(sum(rarer) / len(rarer))
    reached = sum(shares) / len(shares)
    assert 0 < reached < 1
    pairs.refresh_from_db()
    assert pairs.baselines == {"chance": 0.5, "rarer_answer": pytest.approx(reached)}
    assert f"Always choosing the answer that is rarer in words.txt reaches {reached:.3f}." in printed
    benchmarks.store_baselines(pairs, plan_of(benchmarks.read(pairs), pairs.settings_with({})))
    assert "rarer_answer" in pairs.baselines, "it needs the counts, which are not there any more"


def test_word_frequencies_are_refused_for_other_benchmarks(small: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("France 3\n")
    counts = {"frequencies": str(tmp_path / "words.txt")}
    with pytest.raises(CommandError, match="no pairs of answers"):
        call_command("import_benchmark", "bear", benchmarks.folder_of(small), slug="small", **counts)
