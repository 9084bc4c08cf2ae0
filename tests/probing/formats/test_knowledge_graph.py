"""Knowledge graphs: the two that are distributed, the general form, stored samples, and faults named by their place."""

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from probing.errors import BadBenchmark
from probing.formats import format_of
from probing.formats.knowledge_graph import plain_id, read, read_graph, read_sampling, store
from probing.statements.graph_statements import Sampling, draw
from tests.probing.formats.graph_folder import GraphFolder, fault
from tests.real_data import real_data


@pytest.fixture
def graph(tmp_path: Path) -> GraphFolder:
    return GraphFolder(tmp_path / "capitals")


@pytest.fixture
def wordnet(graph: GraphFolder) -> GraphFolder:
    """As WN18RR is distributed."""
    graph.files = {
        "relation_mapping.json": json.dumps({"_hypernym": "The word {HEAD} is a kind of {TAIL}"}),
        "train.txt": "land_reform.n.01\t_hypernym\treform.n.01\n",
        "valid.txt": "oak.n.01\t_hypernym\ttree.n.01\n",
        "test.txt": "st._louis.n.01\t_hypernym\tcity.n.01\noak.n.01\t_hypernym\ttree.n.01\n",
    }
    return graph


@pytest.fixture
def freebase(graph: GraphFolder) -> GraphFolder:
    """As FB15k-237 is distributed, without its train split."""
    graph.files = {
        "relation_mapping.json": json.dumps(
            {"/film/film/genre": "{HEAD} is a {TAIL}", "/medal": "A {TAIL} was won at the {TAIL}"}
        ),
        "valid.txt": "/m/1\t/film/film/genre\t/m/2\n/m/1\t/film/film/genre\t/m/9\n",
        "test.txt": "/m/2\t/film/film/genre\t/m/3\n/m/1\t/medal\t/m/2\n/m/1\t/unknown\t/m/2\n",
        "entity2wikidata.json": json.dumps({"/m/1": {"label": "Alien"}, "/m/2": {"label": "Film"}, "/m/3": {}}),
    }
    return graph


def test_it_reads_triples_names_templates_and_categories(graph: GraphFolder) -> None:
    parsed = read_graph(graph.write())
    assert parsed.sentences(parsed.triples[0])[0] == "The capital of Norway is Oslo"
    assert parsed.categories["pe"] == ("country", "andean")
    assert "osl" not in parsed.categories


def test_it_reads_commas_as_well_as_tabs(graph: GraphFolder) -> None:
    tabs = read_graph(graph.write())
    for name in ("triples", "entities"):
        text = (graph.path / f"{name}.tsv").read_text(encoding="utf-8")
        (graph.path / f"{name}.csv").write_text(text.replace("\t", ","), encoding="utf-8")
        (graph.path / f"{name}.tsv").unlink()
    commas = read_graph(graph.path)
    assert (commas.triples, commas.names, commas.categories) == (tabs.triples, tabs.names, tabs.categories)


def test_a_name_in_quotes_may_hold_a_comma(graph: GraphFolder) -> None:
    del graph.files["entities.tsv"]
    graph.files["entities.csv"] = 'no,"Norway, kingdom of"\nke,Kenya\npe,Peru\nosl,Oslo\nnai,Nairobi\nlim,Lima\n'
    assert read_graph(graph.write()).names["no"] == "Norway, kingdom of"


@pytest.mark.parametrize("line", ['no,"Norway', "no,Norway\rke,Kenya"])
def test_a_line_that_is_not_comma_separated_is_named(line: str, graph: GraphFolder) -> None:
    del graph.files["entities.tsv"]
    graph.files["entities.csv"] = f"osl,Oslo\n{line}\n"
    fault(graph, "entities.csv, line 2: not comma-separated")


def test_a_benchmark_has_the_statements_of_its_sample_as_items(graph: GraphFolder) -> None:
    benchmark = read(graph.write())
    relation = benchmark["capital"]
    assert (relation.name, relation.templates) == ("The capital of {HEAD} is {TAIL}", ("[Y]",))
    true = [item for item in relation.items if item.is_true]
    assert {item.options[0] for item in true} >= {"The capital of Norway is Oslo", "The capital of Peru is Lima"}
    assert {item.tags["repetitions"] for item in true} == {("1", "2")}
    assert {item.subject_id for item in true} == {"no capital osl", "ke capital nai", "pe capital lim"}
    assert [item.index for item in relation.items] == list(range(len(relation.items)))


def test_the_benchmark_says_how_it_was_drawn(graph: GraphFolder) -> None:
    notes = read(graph.write()).notes
    assert notes == (
        "The facts are those of triples.tsv.",
        "2 repetitions, each of 3 true and as many false statements. A false one is a fact of which 3 of 3 parts were "
        "drawn again at random, with seed 0.",
    )


def test_the_sample_is_part_of_the_version(graph: GraphFolder) -> None:
    first = read(graph.write())
    graph.files["sampling.json"] = json.dumps({"samples": 3, "repetitions": 2, "seed": 1})
    other = read(graph.write())
    assert first.digest != other.digest
    assert first.version != other.version


def test_a_gzipped_copy_is_the_same_benchmark(graph: GraphFolder, tmp_path: Path) -> None:
    plain = read(graph.write())
    packed = tmp_path / "packed"
    packed.mkdir()
    for path in graph.path.iterdir():
        (packed / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed).digest == plain.digest


def test_it_finds_the_graph_in_the_only_folder_that_has_one(graph: GraphFolder, tmp_path: Path) -> None:
    inner = tmp_path / "archive" / "data" / "graph"
    shutil.copytree(graph.write(), inner)
    assert read(tmp_path / "archive").digest == read(graph.path).digest
    shutil.copytree(graph.path, tmp_path / "archive" / "other")
    with pytest.raises(BadBenchmark, match="holds several graphs"):
        read(tmp_path / "archive")


@pytest.mark.parametrize("shape", ["plain", "gzipped", "unpacked archive"])
def test_a_folder_with_relation_templates_is_known_as_a_graph(shape: str, graph: GraphFolder, tmp_path: Path) -> None:
    mapping = graph.write() / "relation_mapping.json"
    if shape == "gzipped":
        mapping.with_name("relation_mapping.json.gz").write_bytes(gzip.compress(mapping.read_bytes()))
        mapping.unlink()
    if shape == "unpacked archive":
        graph.path = shutil.copytree(graph.path, tmp_path / "llmkg" / "data" / "graph" / "text").parents[2]
    assert format_of(graph.path) == "knowledge_graph"
    assert read(graph.path).probe == "perplexity"


def test_wordnet_synsets_name_themselves(wordnet: GraphFolder) -> None:
    parsed = read_graph(wordnet.write())
    assert parsed.names["land_reform.n.01"] == "land reform"
    assert parsed.names["st._louis.n.01"] == "st"  # as published: the part before the first full stop


def test_all_splits_are_merged_and_repeated_triples_counted(wordnet: GraphFolder) -> None:
    parsed = read_graph(wordnet.write())
    assert len(parsed.triples) == 3
    assert parsed.notes == (
        "The facts are those of train.txt, valid.txt, test.txt.",
        "Triples left out: 1: it is there twice.",
    )


def test_a_graph_without_all_its_splits_says_so_in_its_version(wordnet: GraphFolder) -> None:
    assert "+" not in read(wordnet.write()).version
    (wordnet.path / "train.txt").unlink()
    (wordnet.path / "test.txt").write_text("elm.n.01\t_hypernym\ttree.n.01\nthorn.n.01\t_hypernym\tpart.n.01\n")
    assert read(wordnet.path).version.startswith("valid+test+")


def test_freebase_triples_that_cannot_be_said_are_counted_by_reason(freebase: GraphFolder) -> None:
    parsed = read_graph(freebase.write())
    assert [parsed.sentences(triple)[0] for triple in parsed.triples] == ["Alien is a Film"]
    assert parsed.notes[1] == (
        "Triples left out: 2: an entity has no name, 1: the relation's template has not each slot once, "
        "1: the relation has no template."
    )


def test_a_relation_path_becomes_a_plain_id() -> None:
    assert plain_id("/people/person/born./place") == "people.person.born..place"
    assert plain_id("_hypernym") == "_hypernym"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no\tcapital\tbergen\n", "line 4: an entity has no name (no, capital, bergen)"),
        ("no\truler\tosl\n", "line 4: the relation has no template (no, ruler, osl)"),
        ("no\tcapital\n", "line 4: head, relation or tail is missing"),
    ],
)
def test_a_line_that_is_no_triple_of_known_names_is_a_fault(graph: GraphFolder, line: str, message: str) -> None:
    graph.files["triples.tsv"] += line
    fault(graph, f"triples.tsv, {message}")


def test_entities_that_are_no_synsets_need_names(wordnet: GraphFolder) -> None:
    wordnet.files["train.txt"] = "Q20\t_hypernym\tQ585\n"
    fault(wordnet, "train.txt, line 1: an entity has no name (Q20, _hypernym, Q585)")


@pytest.mark.parametrize("template", ["The capital is {TAIL}", "{HEAD} {HEAD} {TAIL}", "nothing"])
def test_a_template_without_each_slot_once_is_a_fault(graph: GraphFolder, template: str) -> None:
    graph.files["relation_mapping.json"] = json.dumps({"capital": template})
    fault(graph, "relation_mapping.json: the template of 'capital' must have {HEAD} and {TAIL} once")


def test_an_empty_graph_is_a_fault(graph: GraphFolder, freebase: GraphFolder) -> None:
    freebase.files["valid.txt"] = "/m/8\t/medal\t/m/9\n"
    freebase.files["test.txt"] = ""
    fault(freebase, "No triple can be used (1: an entity has no name)")


def test_missing_files_are_named(graph: GraphFolder) -> None:
    triples = graph.files.pop("triples.tsv")
    fault(graph, "There are no triples in")
    graph.files["triples.tsv"] = triples
    graph.write()
    (graph.path / "relation_mapping.json").unlink()
    with pytest.raises(BadBenchmark, match=r"relation_mapping\.json is missing"):
        read(graph.path)
    with pytest.raises(BadBenchmark, match="is not a folder"):
        read(graph.path / "nothing")


def test_an_entity_listed_twice_or_without_a_name_is_a_fault(graph: GraphFolder) -> None:
    entities = graph.files["entities.tsv"]
    graph.files["entities.tsv"] = entities + "no\tNorge\n"
    fault(graph, "entities.tsv, line 7: 'no' occurs twice")
    graph.files["entities.tsv"] = entities + "se\n"
    fault(graph, "entities.tsv, line 7: no id or no name")


def test_a_broken_archive_is_a_fault(graph: GraphFolder) -> None:
    graph.write()
    (graph.path / "triples.tsv").unlink()
    (graph.path / "triples.tsv.gz").write_bytes(gzip.compress(b"no\tcapital\tosl\n")[:-9])
    with pytest.raises(BadBenchmark, match=r"triples\.tsv\.gz is not a whole gzip file"):
        read(graph.path)


@pytest.fixture(scope="module")
def real() -> Path:
    return real_data("kg")


def test_it_reads_the_whole_of_wn18rr(real: Path) -> None:
    parsed = read_graph(real / "wn18rr")
    assert (len(parsed.triples), len(parsed.names), len(parsed.phrasings)) == (93_003, 41_105, 11)
    assert Counter(triple.relation for triple in parsed.triples)["_hypernym"] == 37_221
    assert parsed.notes == ("The facts are those of train.txt, valid.txt, test.txt.",)


def test_it_reads_what_there_is_of_fb15k237(real: Path) -> None:
    """37,016 triples have names at both ends; 28 of them have the one faulty template."""
    parsed = read_graph(real / "fb15k237")
    assert len(parsed.triples) == 17_087 + 19_929 - 28
    assert "985: an entity has no name, 28: the relation's template" in parsed.notes[1]
    assert read(real / "fb15k237").version.startswith("valid+test+")


def test_relations_whose_plain_ids_are_equal_are_a_fault(graph: GraphFolder) -> None:
    mapping = {"capital of": "The capital of {HEAD} is {TAIL}", "capital/of": "{HEAD} is ruled from {TAIL}"}
    graph.files["relation_mapping.json"] = json.dumps(mapping)
    graph.files["triples.tsv"] = "no\tcapital of\tosl\nke\tcapital/of\tnai\nno\tcapital/of\tlim\nke\tcapital of\tlim\n"
    fault(graph, "Two relations differ only in characters that addresses cannot have")


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"sample": 3}, "sampling.json: 'sample' is unknown"),
        ({"samples": "3"}, "sampling.json: samples cannot be '3'"),
        ({"within_category": 1}, "sampling.json: within_category cannot be 1"),
    ],
)
def test_a_wrong_plan_is_a_fault(graph: GraphFolder, plan: dict[str, object], message: str) -> None:
    graph.files["sampling.json"] = json.dumps(plan)
    fault(graph, message)


def test_a_stored_sample_is_the_same_items(graph: GraphFolder, tmp_path: Path) -> None:
    benchmark = read(graph.write())
    content, sampling = read_graph(graph.path), Sampling(3, 2)
    store(tmp_path / "stored", content, draw(content, sampling), sampling, ["Drawn for a test."])
    stored = read(tmp_path / "stored")
    assert stored.relations == benchmark.relations
    assert stored.notes == ("The facts are those of triples.tsv.", "Drawn for a test.", benchmark.notes[1])
    assert read_sampling(tmp_path / "stored") == (sampling, stored.notes[:2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"true": "yes"}, "line 1: 'true' must be true or false"),
        ({"repetitions": []}, "line 1: 'repetitions' is not a list of whole numbers"),
        ({"repetitions": [True]}, "line 1: 'repetitions' is not a list of whole numbers"),
        ({"text": ""}, "line 1: 'text' holds ''"),
        ({"relation": "ruler"}, "relation_mapping.json: the field 'ruler' is missing"),
    ],
)
def test_a_wrong_stored_sentence_is_a_fault(graph: GraphFolder, change: dict[str, object], message: str) -> None:
    line = {"text": "Oslo", "head": "a", "relation": "capital", "tail": "b", "true": True, "repetitions": [1]}
    graph.files["sentences.jsonl"] = json.dumps(line | change) + "\n"
    fault(graph, message)
