"""Tests of pairs of a finer and a coarser answer: distances, usable pairs, sampling, reader of the format."""

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from probing.curation.facts import Subject
from probing.curation.specificity_pairs import (
    SpecificityPlan,
    candidates,
    curate,
    distances,
    queries,
    read_chains,
    single_token,
)
from probing.errors import BadInput
from probing.formats import FORMATS, format_of
from probing.formats.canary import MANIFEST
from tests.probing.curation.conftest import MadeAlike, Serve, Source
from tests.probing.curation.world import SOMETHING, World
from tests.tiny_models import byte_level_bpe, word_piece


@pytest.fixture
def world() -> World:
    """Three people born in a town, which lies in a county, which lies in a country."""
    world = World()
    for id, name in (("Q1", "Yate"), ("Q2", "Gloucestershire"), ("Q3", "England")):
        world.item(id, name, links=50)
    world.claim("Q1", "P131", "Q2")
    world.claim("Q2", "P131", "Q3")
    world.claim("Q3", "P131", SOMETHING)
    for number in range(3):
        world.item(f"Q{10 + number}", f"Writer {number}", links=30)
        world.claim(f"Q{10 + number}", "P19", "Q1")
    return world


def curated(source: Source, folder: Path, *relations: str, **options: Any) -> Path:
    curate(source.endpoint(), SpecificityPlan(relations or ("P19",), **({"least_sitelinks": 20} | options)), folder)
    return folder


def lines(folder: Path, relation: str = "P19") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "S-TEST" / f"{relation}.jsonl").read_text().splitlines()]


def triple_counts(folder: Path, relation: str = "P19") -> Any:
    return json.loads((folder / MANIFEST).read_text())["triples"][relation]


def test_distances_are_mean_lengths_of_paths_of_at_most_five_steps_without_circles() -> None:
    above = {"Q1": ("Q2", "Q3"), "Q2": ("Q3",), "Q3": ("Q4",)}
    assert distances(Subject("Q9", 1, ("Q1",)), above) == {"Q1": 1, "Q2": 2, "Q3": 2.5, "Q4": 3.5}
    above = {f"Q{number}": (f"Q{number + 1}", "Q1", "Q99") for number in range(1, 9)}
    mean = distances(Subject("Q99", 1, ("Q1",)), above)
    assert mean == {"Q1": 1, "Q2": 2, "Q3": 3, "Q4": 4, "Q5": 5}


def test_answers_of_a_pair_differ_by_one_step_at_least() -> None:
    above = {"Q1": ("Q2", "Q3"), "Q2": ("Q3",)}
    assert candidates(Subject("Q9", 1, ("Q1",)), above) == [
        ("Q9", "Q1", "Q2", 1, 2),
        ("Q9", "Q1", "Q3", 1, 2.5),
    ]


def test_the_files_have_the_format_of_s_test(serve: Serve, world: World, tmp_path: Path) -> None:
    folder = curated(serve(world), tmp_path / "out")
    line = lines(folder)[0]
    assert line["sub_label"] == "Writer 0"
    assert (line["obj_value"], line["obj2_value"]) in [(1, 2), (1, 3), (2, 3)]
    assert len(lines(folder)) == 3
    assert triple_counts(folder) == {
        "triples": {"found": 3, "added": 0, "dropped": {}, "kept": 3},
        "pairs": {"found": 9, "added": 0, "dropped": {"other pairs of the subject were drawn": 6}, "kept": 3},
    }


def test_transitive_relations_start_at_the_subject(serve: Serve, world: World, tmp_path: Path) -> None:
    line = lines(curated(serve(world), tmp_path / "out", "P131"), "P131")[0]
    assert (line["sub_label"], line["obj_label"], line["obj2_label"]) == ("Yate", "Gloucestershire", "England")


def test_occupations_are_followed_to_their_superclasses(serve: Serve, world: World, tmp_path: Path) -> None:
    for id, name in (("Q5", "novelist"), ("Q6", "writer")):
        world.item(id, name)
    world.claim("Q5", "P279", "Q6")
    world.claim("Q10", "P106", "Q5")
    line = lines(curated(serve(world), tmp_path / "out", "P106"), "P106")[0]
    assert (line["obj_label"], line["obj2_label"]) == ("novelist", "writer")


def test_answers_must_be_one_token_of_every_tokenizer(serve: Serve, world: World, tmp_path: Path) -> None:
    byte_level_bpe(vocabulary=500).save_pretrained(tmp_path / "tokenizer")
    world.item("Q1", "Peru")
    world.item("Q3", "Africa")
    folder = curated(serve(world), tmp_path / "out", tokenizers=(str(tmp_path / "tokenizer"),))
    assert {(line["obj_label"], line["obj2_label"]) for line in lines(folder)} == {("Peru", "Africa")}
    assert triple_counts(folder)["pairs"]["dropped"] == {"an answer is more than one token": 6}


def test_pairs_that_cannot_be_asked_are_counted(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q2", "")
    world.item("Q4", "YATE")
    world.claim("Q3", "P131", "Q4")
    folder = curated(serve(world), tmp_path / "out", at_most=2)
    assert triple_counts(folder)["pairs"]["dropped"] == {
        "a name is missing": 9,
        "other pairs of the subject were drawn": 3,
        "both answers have the same name": 3,
        "beyond the sample": 1,
    }


def test_the_sample_follows_from_the_seed(serve: Serve, world: World, tmp_path: Path) -> None:
    for number in range(30):
        world.item(f"Q{100 + number}", f"Poet {number}", links=30)
        world.claim(f"Q{100 + number}", "P19", "Q1")
    source = serve(world)
    samples = [
        lines(curated(source, tmp_path / str(number), seed=seed, at_most=10)) for number, seed in enumerate((1, 1, 2))
    ]
    assert samples[0] == samples[1] != samples[2]
    assert len(samples[0]) == 10


def test_all_pairs_of_a_subject_are_drawn_as_in_the_paper(serve: Serve, world: World, tmp_path: Path) -> None:
    source = serve(world)
    folder = curated(source, tmp_path / "all", pairs_per_subject=0)
    pairs = [(line["sub_label"], line["obj_label"], line["obj2_label"]) for line in lines(folder)]
    assert pairs[:3] == [
        ("Writer 0", "Yate", "Gloucestershire"),
        ("Writer 0", "Yate", "England"),
        ("Writer 0", "Gloucestershire", "England"),
    ]
    assert len(set(pairs)) == 9
    assert triple_counts(folder)["pairs"] == {"found": 9, "added": 0, "dropped": {}, "kept": 9}
    two = triple_counts(curated(source, tmp_path / "two", pairs_per_subject=2))["pairs"]
    assert two == {"found": 9, "added": 0, "dropped": {"other pairs of the subject were drawn": 3}, "kept": 6}


def test_without_a_least_number_of_sitelinks_every_subject_counts(serve: Serve, world: World, tmp_path: Path) -> None:
    world.item("Q20", "Unknown")
    world.claim("Q20", "P19", "Q1")
    source = serve(world)
    known = curated(source, tmp_path / "known", least_sitelinks=1)
    assert "Unknown" not in {line["sub_label"] for line in lines(known)}
    everyone = curated(source, tmp_path / "everyone", least_sitelinks=0)
    assert "Unknown" in {line["sub_label"] for line in lines(everyone)}
    assert "FILTER(?subject_sitelinks" not in next(text for text in source.sparql.requests if "0 sitelinks" in text)


def test_too_many_subjects_of_any_number_of_sitelinks_are_read_in_slices(
    serve: Serve, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        world.item(f"Q{200 + number}", f"Painter {number}", links=number % 3)
        world.claim(f"Q{200 + number}", "P19", "Q1")
    source = serve(world)
    whole = lines(curated(source, tmp_path / "whole", least_sitelinks=0))
    source.forget()
    monkeypatch.setattr("probing.curation.wikidata.PAGE", 3)
    assert lines(curated(source, tmp_path / "sliced", least_sitelinks=0)) == whole
    assert len(whole) == 15
    assert any("VALUES ?subject_sitelinks { 0 }" in text for text in source.sparql.requests)


def test_the_reader_of_the_format_reads_the_folder(serve: Serve, world: World, tmp_path: Path) -> None:
    folder = curated(serve(world), tmp_path / "out", "P19", "P131")
    benchmark = FORMATS[format_of(folder)](folder)
    assert [relation.id for relation in benchmark.relations] == ["P19", "P131"]
    assert all(relation.cascades for relation in benchmark.relations)
    assert benchmark.relations[1].items[0].options == ("England", "Gloucestershire")


def test_the_same_answers_give_the_same_bytes(made_alike: MadeAlike, serve: Serve, world: World) -> None:
    assert made_alike(serve(world), curated)


def test_every_printed_query_is_answered_by_a_real_engine(serve: Serve, world: World) -> None:
    endpoint = serve(world).endpoint()
    assert len([endpoint.rows(query) for query in queries(SpecificityPlan())]) == 5 + 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relations": ("P1",)}, "No relation P1"),
        ({"at_most": 0}, "Give 1 or more"),
        ({"pairs_per_subject": -1}, "Give 1 or more, or 0 for all"),
        ({"least_sitelinks": -1}, "Ask for 0 to 999"),
        ({"relations": ("P361",)}, "No relation has a pair"),
    ],
)
def test_a_bad_plan_is_refused(
    serve: Serve, world: World, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        curate(serve(world).endpoint(), SpecificityPlan(**options), tmp_path / "out")


OWN_CHAIN = """
[P26]
first = "P19"
then = "P131"
name = "birthplace in own words"
template = "[X] first saw the light in [Y]."
cascade = "[X] first saw the light in [Y], a place in [Y]."
"""


def test_a_file_describes_chains_of_ones_own(serve: Serve, world: World, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN_CHAIN)
    plan = SpecificityPlan(own=read_chains(path), least_sitelinks=20)
    assert plan.relations == ("P26",)
    curate(serve(world).endpoint(), plan, tmp_path / "out")
    (relation,) = FORMATS["stest"](tmp_path / "out").relations
    assert relation.templates == ("[X] first saw the light in [Y].",)
    assert len(relation.items) == 3
    assert json.loads((tmp_path / "out" / MANIFEST).read_text())["settings"]["own"]["P26"]["then"] == "P131"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('then = "P131"', 'then = "131"', "'131' is no property of Wikidata"),
        ('then = "P131"', 'than = "P131"', "an entry has the keys first, then, name, template, cascade"),
        (", a place in [Y]", "", "has not the right slots"),
    ],
)
def test_a_chain_at_fault_is_told(before: str, after: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN_CHAIN.replace(before, after))
    with pytest.raises(BadInput, match=message):
        read_chains(path)


PIECES = ("<unk>", "▁", "▁Paris", "▁in", "a", "b")
UNIGRAM = models.Unigram([(piece, -float(rank)) for rank, piece in enumerate(PIECES)], unk_id=0)
BPE = models.BPE({piece: rank for rank, piece in enumerate(PIECES)}, [], unk_token="<unk>", ignore_merges=True)
LLAMA = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])


@pytest.mark.parametrize("place", ["", "tokenizer.json"])
def test_a_word_is_checked_as_it_stands_after_a_space(tmp_path: Path, place: str) -> None:
    byte_level_bpe(vocabulary=500).save_pretrained(tmp_path)
    check = single_token(str(tmp_path / place))
    assert check("Peru")
    assert not check("Gloucestershire")


def with_spaces(model: models.Model) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def with_a_space_of_its_own() -> Tokenizer:
    """Return a tokenizer like Llama's, which does not split the text and puts a space before it."""
    merges = [("▁", "i"), ("▁i", "n"), ("▁", "a"), ("▁a", "b")]
    pieces = ["<unk>", "▁", "i", "n", "a", "b", *("".join(pair) for pair in merges)]
    tokenizer = Tokenizer(models.BPE({piece: rank for rank, piece in enumerate(pieces)}, merges, unk_token="<unk>"))
    tokenizer.normalizer = LLAMA
    return tokenizer


@pytest.mark.parametrize("model", [UNIGRAM, BPE], ids=["unigram", "bpe"])
def test_neither_the_unknown_token_nor_a_separate_space_counts_as_a_word(tmp_path: Path, model: models.Model) -> None:
    with_spaces(model).save(str(tmp_path / "tokenizer.json"))
    check = single_token(str(tmp_path))
    assert check("Paris")
    assert [word for word in ("Łódź", "İzmir", "a", "ab", "Paris a") if check(word)] == []


def test_a_space_that_the_tokenizer_adds_is_not_counted(tmp_path: Path) -> None:
    with_a_space_of_its_own().save(str(tmp_path / "tokenizer.json"))
    check = single_token(str(tmp_path))
    assert check("ab")
    assert not check("ba")


def test_words_unknown_to_wordpiece_are_refused_and_padding_is_not_counted(tmp_path: Path) -> None:
    tokenizer = word_piece(["Peru in"]).backend_tokenizer
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    check = single_token(str(tmp_path))
    assert check("Peru")
    assert not check("Łódź")


def test_a_file_that_is_not_a_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadInput, match="is not a tokenizer"):
        single_token(str(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"has no tokenizer\.json"):
        single_token(str(tmp_path / "empty"))
