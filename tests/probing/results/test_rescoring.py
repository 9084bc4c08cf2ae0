"""Rescoring: stored rows with today's tags give what a new run would give, and rows of other questions are refused."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probing.analysis.paired_tests import score_changes
from probing.baselines import UniformModel
from probing.benchmark import Benchmark, Item, Relation
from probing.catalog import open_benchmark
from probing.errors import OtherQuestions
from probing.formats import bear
from probing.plan import plan, plan_of
from probing.probes import probe_of
from probing.probes.multiple_choice import MultipleChoice
from probing.results.joining import PartResult, joined
from probing.results.rescoring import digests, rescored, with_tags
from probing.results.result import Result
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.few_relations import few_relations
from tests.leaderboard.factories import Skilled

Change = Callable[[Benchmark], Benchmark]
RECORD = {"end": "2026", "start": "2026", "timing": {"load_seconds": 0, "score_seconds": 0}, "peak_memory": {}}
COUNTS = dict.fromkeys(("statements", "positions", "padding", "items_done"), 0)
OPTIONS: dict[str, dict[str, Any]] = {
    "starter": {"templates": [0, 2]},
    "culture": {"language": "en"},
    "pairs": {"prompting": "cascade"},
    "geography": {"closed": True},
    "graph": {},
}


def probed(benchmark: Benchmark, model: Any = None, **options: Any) -> Result:
    """Probe a benchmark as the runner does, without a record of software and device."""
    settings = plan(benchmark, options).settings
    probe = probe_of(settings)
    about = {name: getattr(benchmark, name) for name in ("slug", "version", "digest")}
    facts = {"model": {"id": "fake"}, "benchmark": about, "probe": probe.name, "settings": settings.to_json()}
    measured = {
        part: PartResult(
            probe.frame(list(probe.rows(model or FakeModel(), limited[part.relation], part.template, settings))),
            facts | RECORD | COUNTS | {"batch": {"notes": []}},
        )
        for part in plan_of(benchmark, settings).parts
        for limited in [benchmark.select([part.relation], settings.limit)]
    }
    return joined(measured, plan_of(benchmark, settings))


def stored(result: Result, folder: Path) -> Result:
    """Save and load a result, as a later process finds it."""
    result.save(folder)
    return Result.load(folder)


def retagged(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with a new tag on every relation, another on every third item, and a value changed."""

    def item(content: Item) -> Item:
        marked = {"third": "yes"} if content.index % 3 == 0 else {}
        return replace(content, tags={**content.tags, **marked})

    def relation(number: int, content: Relation) -> Relation:
        tags = {**content.tags, "era": ("old", "new") if number % 2 else ("new",)}
        return replace(content, tags=tags, items=tuple(map(item, content.items)))

    relations = tuple(relation(number, content) for number, content in enumerate(benchmark.relations))
    return replace(benchmark, relations=relations, version="tagged", digest="f" * 64)


def assert_same(first: Result, second: Result, folder: Path) -> None:
    pd.testing.assert_frame_equal(first.scores.reset_index(drop=True), second.scores.reset_index(drop=True))
    once, again = stored(first, folder / "first"), stored(second, folder / "second")
    assert set(once.items) == set(again.items)
    pd.testing.assert_frame_equal(once.items[list(again.items)], again.items)


@pytest.mark.slow
@pytest.mark.parametrize("slug", list(OPTIONS))
def test_old_rows_with_new_tags_give_what_a_new_run_gives(slug: str, tmp_path: Path) -> None:
    benchmark = few_relations(slug)
    options = {"limit": 4, **OPTIONS[slug]} if slug != "graph" else {}
    old, new = (probed(content, **options) for content in (benchmark, retagged(benchmark)))
    again = rescored(stored(old, tmp_path / "old"), retagged(benchmark))
    assert_same(again, new, tmp_path)
    assert {"era", "third"} <= set(again.items)
    assert again.record["tags"] == new.record["tags"] != old.record["tags"]
    assert again.record["questions"] == old.record["questions"]


@pytest.mark.parametrize("slug", ["starter", "culture"])
def test_answers_by_generation_and_similarity_are_rescored_as_well(slug: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"probe": "answering", "language": "en"} if slug == "culture" else {"probe": "similarity"}
    benchmark = few_relations(slug)
    old, new = (probed(content, UniformModel(), limit=3, **options) for content in (benchmark, retagged(benchmark)))
    assert_same(rescored(stored(old, tmp_path / "old"), retagged(benchmark)), new, tmp_path)


def test_crossed_dimensions_follow_changed_tags(tmp_path: Path) -> None:
    benchmark = few_relations("culture")
    renamed = {"Arab": "Arab League", "West": "West"}

    def relation(content: Relation) -> Relation:
        items = tuple(
            replace(item, tags={"culture": renamed.get(item.tags["culture"], item.tags["culture"])})
            for item in content.items
        )
        cultures = tuple({"culture": tuple(renamed.get(c, c) for c in tags["culture"])} for tags in content.answer_tags)
        return replace(content, items=items, answer_tags=cultures)

    today = replace(benchmark, relations=tuple(map(relation, benchmark.relations)), digest="f" * 64)
    options = {"language": "en", "pair": "arab-west"}
    old, new = (probed(content, **options) for content in (benchmark, today))
    again = rescored(stored(old, tmp_path / "old"), today)
    assert_same(again, new, tmp_path)
    crossed = again.scores[again.scores["dimension"] == "culture_pair_language_relation_culture"]["group"]
    assert crossed.str.endswith("Arab League").any() and not crossed.str.endswith(" Arab").any()
    assert "Arab League" in {culture for cultures in again.items["prediction_cultures"] for culture in cultures}


def test_nothing_changes_where_tags_and_metrics_are_the_same(benchmark: Benchmark, tmp_path: Path) -> None:
    result = stored(probed(benchmark), tmp_path / "a")
    assert rescored(result, benchmark) is result


def test_domains_of_a_file_that_has_changed_are_joined(bear_folder: BearFolder, tmp_path: Path) -> None:
    before = bear.read(bear_folder.write())
    result = stored(probed(before), tmp_path / "a")
    bear_folder.domains = {"P30": {"domains": ["Places"]}}
    today = bear.read(bear_folder.write())
    assert today.version != before.version
    again = rescored(result, today)
    domains = again.scores[again.scores["dimension"] == "domain"]
    assert set(domains["group"]) == {"Places"} and set(domains["n"]) == {4}
    assert again.record["benchmark"]["version"] == today.version
    assert again.record["rescored"]["measured_on"]["version"] == before.version
    twice = rescored(again, before)
    assert twice.record["rescored"]["measured_on"]["version"] == before.version
    assert not score_changes(twice.scores, result.scores)


def test_the_tags_of_the_time_of_measuring_are_gone(bear_folder: BearFolder, tmp_path: Path) -> None:
    result = stored(probed(bear.read(bear_folder.write())), tmp_path / "a")
    bear_folder.domains = None
    (bear_folder.path / "relation_info.json").unlink()
    again = rescored(result, bear.read(bear_folder.write()))
    assert "domain" not in again.items
    assert "domain" not in set(again.scores["dimension"])


def relation(change: Callable[[Relation], Relation]) -> Change:
    def changed(benchmark: Benchmark) -> Benchmark:
        first, *rest = benchmark.relations
        return replace(benchmark, relations=(change(first), *rest), version="v2", digest="f" * 64)

    return changed


def item(**fields: Any) -> Change:
    return relation(lambda first: replace(first, items=(replace(first.items[0], **fields), *first.items[1:])))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (item(subject="Mali"), "relation P30, item 0 has another subject"),
        (item(subject_id="Q1"), "relation P30, item 0 has another subject id"),
        (item(answers=(1,)), "relation P30, item 0 has another answers"),
        (item(index=9), "1 of 6 rows are missing, the first is relation P30, template 0, item 9"),
        (relation(lambda first: replace(first, items=first.items[1:])), "6 rows for 5"),
        (relation(lambda first: replace(first, answer_space=(*first.answer_space, "Moon"))), "scores of relation P30"),
        (relation(lambda first: replace(first, answer_space=("Afrika", *first.answer_space[1:]))), "answer label"),
        (relation(lambda first: replace(first, templates=("[X] is in [Y].",) * 3)), "templates or options are other"),
    ],
)
def test_rows_of_other_questions_are_refused(change: Change, reason: str, benchmark: Benchmark, tmp_path: Path) -> None:
    result = stored(probed(benchmark), tmp_path / "a")
    with pytest.raises(OtherQuestions, match=f"do not belong to small v2: .*{reason}") as refusal:
        rescored(result, change(benchmark))
    assert benchmark.version in refusal.value.next_step


def test_a_statement_that_became_true_is_another_question(tmp_path: Path) -> None:
    graph = open_benchmark("graph")
    result = stored(probed(graph), tmp_path / "a")
    first = graph.relations[0].items[0]
    truth = {"true": "false", "false": "true"}[str(first.tags["truth"])]
    with pytest.raises(OtherQuestions):
        rescored(result, item(tags={**first.tags, "truth": truth})(graph))


def test_the_digest_of_tags_is_that_of_one_list(benchmark: Benchmark) -> None:
    tags = [[one.id, one.tags, one.answer_tags, *(item.tags for item in one.items)] for one in benchmark.relations]
    expected = hashlib.sha256(json.dumps(tags, sort_keys=True).encode()).hexdigest()
    assert digests(plan_of(benchmark, Settings()))["tags"] == expected


def test_an_older_result_without_digests_needs_the_same_files(benchmark: Benchmark, tmp_path: Path) -> None:
    result = probed(benchmark)
    for name in ("questions", "tags"):
        del result.record[name]
    again = rescored(result, benchmark)
    assert {name: again.record[name] for name in ("questions", "tags")} == digests(plan_of(benchmark, Settings()))
    with pytest.raises(OtherQuestions, match="does not record what was asked"):
        rescored(result, retagged(benchmark))


def test_questions_that_the_run_was_not_asked_may_change(benchmark: Benchmark, tmp_path: Path) -> None:
    result = stored(probed(benchmark, relations=["P36"]), tmp_path / "a")
    assert rescored(result, item(subject="Mali")(benchmark)).items["subject"].tolist() == ["Norway", "Egypt"]


def test_joining_renews_the_tags_of_parts(benchmark: Benchmark) -> None:
    """A part that was measured before the tags changed has those of all other parts."""
    settings = Settings()
    rows = pd.concat(
        [
            MultipleChoice().frame(list(MultipleChoice().rows(FakeModel(), content[name], 0, settings)))
            for content, name in ((benchmark, "P30"), (retagged(benchmark), "P36"))
        ],
        ignore_index=True,
    )
    assert with_tags(rows, retagged(benchmark), MultipleChoice())["era"].notna().all()


def sixth_of_bear() -> Benchmark:
    """Return 10 relations with 129 items, three templates, and 60 options, a sixth of what BEAR has about."""
    options = tuple(f"Answer {number}" for number in range(60))
    items = tuple(Item(index, f"Subject {index}", (index % 60,), f"Q{index}") for index in range(129))
    templates = ("[X] is [Y].", "[Y] is [X].", "It is [Y] that [X] is.")
    relations = tuple(
        Relation(
            f"P{place}",
            templates,
            options,
            items,
            tags={"cardinality": "single", "domain": ("Arts", "Places")[place % 2]},
        )
        for place in range(10)
    )
    return Benchmark("large", "v1", "0" * 64, relations)


@pytest.mark.slow
def test_a_result_a_sixth_as_large_as_bear_takes_seconds(tmp_path: Path) -> None:
    benchmark = sixth_of_bear()
    model = Skilled(chance=np.random.default_rng(0))
    result = stored(probed(benchmark, model, templates=[]), tmp_path / "a")
    assert len(result.items) == 3 * 10 * 129
    begin = time.process_time()
    assert rescored(result, benchmark) is result
    again = rescored(result, retagged(benchmark))
    assert time.process_time() - begin < 10, "two times a second at most; the limit is for slow machines"
    assert {"old", "new"} <= set(again.scores["group"])
