"""The parts that a run covers: each relation with each template, without what the probe cannot ask."""

from dataclasses import replace

import pytest

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.plan import Part, Skipped, plan_of, template_counts
from probing.settings import Settings


def test_parts_cover_each_relation_with_each_template(benchmark: Benchmark) -> None:
    all_parts = plan_of(benchmark, Settings(templates=(), limit=3)).parts
    assert list(all_parts) == [Part("P30", t, 3) for t in range(3)] + [Part("P36", t, 2) for t in range(3)]


def test_the_numbers_of_templates_are_those_of_the_relations_that_are_asked(benchmark: Benchmark) -> None:
    first, second = benchmark.relations
    uneven = replace(benchmark, relations=(first, replace(second, templates=second.templates[:1])))
    assert template_counts(benchmark, Settings()) == {3}
    assert template_counts(uneven, Settings()) == {1, 3}
    assert template_counts(uneven, Settings(relations=("P36",))) == {1}


def test_a_template_that_a_relation_lacks_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match=r"P30 has no template 3.*0 to 2"):
        plan_of(benchmark, Settings(templates=(3,)))


def versions_of(benchmark: Benchmark, **options: str) -> set[tuple[object, ...]]:
    settings = Settings(probe="ranking", language=options.pop("language", ""), options=options)
    chosen = [benchmark[part.relation].tags for part in plan_of(benchmark, settings).parts]
    return {(tags["culture_pair"], tags["language"], tags["objects"]) for tags in chosen}


def test_pair_language_and_objects_choose_what_is_asked(pairs: Benchmark) -> None:
    everything = {(pair, language, "augmented") for pair in ("arab-west", "other-west") for language in ("en", "ar")}
    assert versions_of(pairs) == everything
    assert versions_of(pairs, pair="arab-west", language="ar") == {("arab-west", "ar", "augmented")}
    assert versions_of(pairs, pair="arab-west", language="ar", objects="raw") == {("arab-west", "ar", "raw")}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pair": "east-west"}, "no culture pair 'east-west'. Choose from: arab-west, other-west"),
        ({"language": "fr"}, "no language 'fr'. Choose from: ar, en"),
        ({"objects": "cooked"}, "no objects 'cooked'. Choose from: augmented, raw"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(pairs: Benchmark, options: dict[str, str], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        versions_of(pairs, **options)
    assert words in str(caught.value)


def test_what_is_not_there_beside_another_choice_is_named_with_it(pairs: Benchmark) -> None:
    arabic = {"culture_pair": "other-west", "language": "ar"}
    left = tuple(relation for relation in pairs.relations if not arabic.items() <= relation.tags.items())
    with pytest.raises(BadInput, match=r"no culture pair 'other-west' with language 'ar'. Choose from: arab-west"):
        versions_of(replace(pairs, relations=left), pair="other-west", language="ar")


def test_relations_that_the_probe_cannot_ask_are_skipped_with_the_reason(pairs: Benchmark) -> None:
    settings = Settings(probe="answering", relations=("P37.arab-west.en", "P37.arab-west.ar"), limit=2)
    assert plan_of(pairs, settings).skipped == (Skipped("P37.arab-west.ar", 2, "no question in ar"),)
    assert [part.relation for part in plan_of(pairs, settings).parts] == ["P37.arab-west.en"]


def test_relations_of_which_none_can_be_asked_are_refused_with_the_reason(pairs: Benchmark) -> None:
    with pytest.raises(BadInput, match=r"relations can be asked: no question in ar\. Choose other relations"):
        plan_of(pairs, Settings(probe="answering", language="ar"))


def test_a_negative_template_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match=r"P30 has no template -1"):
        plan_of(benchmark, Settings(templates=(-1,)))


def test_the_usual_tags_of_a_benchmark_hold_where_the_settings_choose_none(benchmark: Benchmark) -> None:
    versions = tuple(
        replace(relation, tags={"size": size}) for relation, size in zip(benchmark.relations, "SL", strict=True)
    )
    sized = replace(benchmark, relations=versions, usual_tags={"size": "L"})
    assert [relation.id for relation in plan_of(sized, Settings()).benchmark.relations] == ["P36"]


def test_the_probes_choice_of_a_tag_goes_before_the_usual_one(pairs: Benchmark) -> None:
    usual_pair = replace(pairs, usual_tags={"culture_pair": "arab-west"})
    settings = Settings(probe="ranking", options={"pair": "other-west"})
    assert {relation.tags["culture_pair"] for relation in plan_of(usual_pair, settings).benchmark.relations} == {
        "other-west"
    }
