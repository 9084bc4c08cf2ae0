"""What is asked, part by part, and settings in one spelling: equal ones have one digest, idle ones are refused."""

from dataclasses import replace
from typing import Any

import pytest

from probing.benchmark import Benchmark, Relation
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.plan import Part, plan, plan_of, template_counts
from probing.probes.cloze import Cloze
from probing.runner import run
from probing.settings import Settings
from tests.fakes import FakeModel


def test_parts_cover_each_relation_with_each_template(benchmark: Benchmark) -> None:
    all_parts = plan_of(benchmark, Settings(templates=(), limit=3)).parts
    assert list(all_parts) == [Part("P30", t, 3) for t in range(3)] + [Part("P36", t, 2) for t in range(3)]


def test_the_numbers_of_templates_are_those_of_the_relations_that_are_asked(benchmark: Benchmark) -> None:
    first, second = benchmark.relations
    uneven = replace(benchmark, relations=(first, replace(second, templates=second.templates[:1])))
    assert template_counts(benchmark, Settings()) == {3}
    assert template_counts(uneven, Settings()) == {1, 3}
    assert template_counts(uneven, Settings(relations=("P36",))) == {1}


@pytest.mark.parametrize("number", [3, -1])
def test_a_template_that_a_relation_lacks_is_refused(benchmark: Benchmark, number: int) -> None:
    with pytest.raises(BadInput, match=rf"P30 has no template {number}.*0 to 2"):
        plan_of(benchmark, Settings(templates=(number,)))


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
    assert plan_of(pairs, settings).skipped == {"P37.arab-west.ar": "no question in ar"}
    assert [part.relation for part in plan_of(pairs, settings).parts] == ["P37.arab-west.en"]


def test_relations_of_which_none_can_be_asked_are_refused_with_the_reason(pairs: Benchmark) -> None:
    with pytest.raises(BadInput, match=r"relations can be asked: no question in ar\. Choose other relations"):
        plan_of(pairs, Settings(probe="answering", language="ar"))


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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"language": "de"}, "no language 'de'. It has none"),
        ({"probe": "ranking", "pair": "arab-west"}, "no culture pair 'arab-west'. It has none"),
        ({"probe": "ranking", "objects": "raw"}, "no objects 'raw'. It has none"),
    ],
)
def test_no_version_is_chosen_without_any(change: dict, words: str, benchmark: Benchmark, model: FakeModel) -> None:
    with pytest.raises(BadInput, match=words):
        run(model, benchmark, progress=False, **change)
    assert run(model, benchmark, probe="ranking", objects="augmented", progress=False).record["items_done"] == 6


@pytest.mark.parametrize(
    ("probe", "choice", "words"),
    [
        ("answering", {"decide": True}, "answering leaves no choice of decide: it is False. Leave it out"),
        ("cloze", {"decide": True}, "no choice of decide"),
        ("cloze", {"reduction": "mean"}, "no choice of reduction: it is sum"),
        ("perplexity", {"decide": True}, "no choice of decide"),
        ("perplexity", {"pll": "sentence_l2r"}, "no choice of pll: it is original"),
        ("similarity", {"decide": True}, "no choice of decide"),
        ("similarity", {"pll": "original"}, "no choice of pll: it is within_word_l2r"),
        ("specificity", {"decide": True}, "no choice of decide"),
    ],
)
def test_a_setting_that_a_probe_ignores_is_refused(probe: str, choice: dict, words: str, benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match=words):
        plan(benchmark, Settings(probe=probe, **choice))


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"sample": 2, "prompting": "few-shot", "shots": 2}, "lies_in has 2 items, too few to show 2 others"),
        ({"prompting": "shared-few-shot", "shots": 60}, "too few items to show 60 others"),
    ],
)
def test_a_prompting_that_a_relation_does_not_allow_is_refused_before_a_model_is_loaded(
    chosen: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        plan(open_benchmark("pairs"), chosen)
    plan(open_benchmark("pairs"), chosen | {"sample": 3, "shots": 2})


def test_a_cascade_that_is_missing_is_refused_before_a_model_is_loaded(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match="no cascade for template 0"):
        plan(benchmark, {"probe": "specificity", "prompting": "cascade"})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(probe="guess"), "No probe is called"),
        (Settings(pll="guess"), "pll cannot be 'guess'"),  # type: ignore[arg-type]
        (Settings(reduction="max"), "reduction cannot be 'max'"),  # type: ignore[arg-type]
        (Settings(options={"k": 1}), "no option 'k'"),
    ],
)
def test_bad_settings_are_refused_before_loading(benchmark: Benchmark, settings: Settings, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        plan(benchmark, settings)


def test_settings_that_mean_the_same_have_the_same_digest(benchmark: Benchmark) -> None:
    one = plan(benchmark, Settings(relations=("P36", "P30", "P36"), templates=(1, 0, 1))).settings
    other = plan(benchmark, Settings(relations=("P30", "P36"), templates=(0, 1))).settings
    assert one.digest == other.digest


def test_all_templates_are_numbered_where_all_relations_have_as_many(benchmark: Benchmark) -> None:
    assert plan(benchmark, Settings(templates=())).settings.templates == (0, 1, 2)
    first, second = benchmark.relations
    uneven = replace(benchmark, relations=(first, replace(second, templates=second.templates[:2])))
    assert plan(uneven, Settings(templates=())).settings.templates == ()
    assert plan(uneven, Settings(templates=(), relations=("P36",))).settings.templates == (0, 1)


def test_the_start_token_has_one_spelling(benchmark: Benchmark) -> None:
    assert plan(benchmark, Settings(start=" EOS ")).settings.start == "eos"
    assert plan(benchmark, Settings(start="eos")).settings.digest != plan(benchmark, Settings()).settings.digest
    with pytest.raises(BadInput, match="start token cannot be 'cls'"):
        plan(benchmark, {"start": "cls"})
    with pytest.raises(BadInput, match="start cannot be 5"):
        plan(benchmark, {"start": 5})


def test_the_protocol_of_the_harness_asks_all_templates(benchmark: Benchmark) -> None:
    settings = plan(benchmark, Settings(protocol="lm-eval")).settings
    assert settings.templates == (0, 1, 2)
    assert settings.digest != plan(benchmark, Settings(templates=(0, 1, 2))).settings.digest


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"probe": "cloze"}, "lm-eval is not one of the probe cloze"),
        ({"templates": (1,)}, "no choice of templates"),
        ({"reduction": "mean"}, "no choice of reduction"),
        ({"dtype": "bfloat16"}, "no choice of dtype"),
        ({"start": "none"}, "always has a start token"),
    ],
)
def test_what_contradicts_the_harnesss_protocol_is_refused(change: dict, words: str, benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match=words):
        plan(benchmark, Settings(**{"protocol": "lm-eval", **change}))


def test_the_mean_over_rows_needs_as_many_templates_of_each_relation(benchmark: Benchmark) -> None:
    first, second = benchmark.relations
    uneven = replace(benchmark, relations=(first, replace(second, templates=second.templates[:2])))
    with pytest.raises(BadInput, match="differ in their number of templates"):
        plan(uneven, Settings(protocol="lm-eval"))


def test_a_masked_model_has_neither_start_token_nor_the_protocol_of_the_harness(benchmark: Benchmark) -> None:
    masked = FakeModel(card=replace(FakeModel().card, kind="masked"))
    with pytest.raises(BadInput, match="no start token to choose"):
        run(masked, benchmark, start="eos", progress=False)
    with pytest.raises(BadInput, match="takes causal models only"):
        run(masked, benchmark, protocol="lm-eval", progress=False)


def test_options_with_their_default_values_are_left_out(benchmark: Benchmark) -> None:
    assert plan(benchmark, Settings(probe="cloze", options={"k": Cloze.k, "closed": False})).settings.options == {}
    assert plan(benchmark, Settings(probe="cloze", options={"k": 3})).settings.options == {"k": 3}


def test_relations_come_in_the_order_of_the_benchmark(benchmark: Benchmark) -> None:
    assert plan(benchmark, Settings(relations=("P36", "P30", "P36"))).settings.relations == ("P30", "P36")
    assert plan(benchmark, Settings()).settings.relations == ()


def test_the_fixed_settings_of_a_probe_are_written_into_the_settings(benchmark: Benchmark) -> None:
    assert plan(benchmark, Settings(probe="cloze")).settings.reduction == "sum"
    assert plan(open_benchmark("graph"), Settings(probe="perplexity")).settings.pll == "original"


def test_values_are_divided_into_settings_and_options_of_the_probe(benchmark: Benchmark) -> None:
    settings = plan(benchmark, {"probe": "cloze", "k": 3, "limit": 2}).settings
    assert (settings.probe, settings.limit, settings.options) == ("cloze", 2, {"k": 3})


def test_the_probe_is_that_of_the_benchmark_if_none_is_chosen(benchmark: Benchmark) -> None:
    of_cloze = replace(benchmark, probe="cloze")
    assert plan(of_cloze, {}).settings.probe == plan(of_cloze, {"probe": ""}).settings.probe == "cloze"


@pytest.mark.parametrize("names", [("relation", "template"), ("relations", "templates")])
def test_both_names_of_a_setting_make_the_same_plan(names: tuple[str, str], benchmark: Benchmark) -> None:
    chosen = dict(zip(names, ("P30", 1), strict=True))
    settings = plan(benchmark, chosen).settings
    assert (settings.relations, settings.templates) == (("P30",), (1,))
    assert settings.digest == Settings(relations=("P30",), templates=(1,)).digest


def test_a_benchmark_of_which_all_items_are_left_out_is_refused_with_the_reason() -> None:
    relation = Relation("P36", ("[X] is governed from [Y].",), ("Oslo", "Lima"), ())
    benchmark = Benchmark("empty", "1", "0", (relation,), notes=("Items left out, as their subject has no label: 6.",))
    with pytest.raises(BadInput, match=r"empty has no items to ask\.") as caught:
        plan(benchmark, {})
    assert caught.value.next_step == "Items left out, as their subject has no label: 6."
