"""DLAMA folders and archives: every shape that has been released, and every fault named."""

import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from probing.catalog import open_benchmark
from probing.errors import BadBenchmark, BadInput
from probing.formats import dlama, format_of
from probing.formats.dlama import common_name, read_merged
from probing.plan import plan
from probing.settings import Settings
from tests.probing.formats.dlama_folder import DlamaFolder, fact

ARAB = "arab-west/dlama/en/P37_general_ARAB_REGION.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> DlamaFolder:
    return DlamaFolder(tmp_path / "pairs")


def test_it_reads_a_predicate_with_the_candidates_of_both_cultures(folder: DlamaFolder) -> None:
    benchmark = dlama.read(folder.write())
    (relation,) = benchmark.relations
    assert benchmark.notes == ()
    assert relation.answer_space == ("Arabic", "English", "French", "Kurdish")
    assert relation.answer_ids == ("Q13955", "Q1860", "Q150", "Q36368")
    assert [tags["culture"] for tags in relation.answer_tags] == [("Arab",), ("West",), ("West",), ("Arab",)]
    assert (relation.id, relation.label) == ("P37.arab-west.en", "P37")
    assert relation.templates == ("People of [X] speak [Y].",)
    iraq = next(item for item in relation.items if item.subject == "Iraq")
    assert [relation.answer_space[answer] for answer in iraq.answers] == ["Arabic", "Kurdish"]
    tags = relation.tags_of(iraq)
    named = [tags[name] for name in ("culture", "culture_pair", "language", "predicate")]
    assert named == ["Arab", "arab-west", "en", "P37"]
    assert [item.subject for item in relation.items] == ["Egypt", "France", "Iraq", "Canada", "Britain"]
    assert [item.index for item in relation.items] == [0, 2, 1, 3, 4]
    assert (relation.questions, relation.system) == (("What do people of [X] speak?",), "Be short.")


def test_items_of_one_predicate_have_different_numbers_in_every_version(folder: DlamaFolder) -> None:
    folder.add_arabic()
    folder.facts |= {name.replace("/dlama/", "/dlama_raw/"): lines for name, lines in folder.facts.items()}
    relations = dlama.read(folder.write()).relations
    versions = {(relation.tags["language"], relation.tags["objects"]) for relation in relations}
    assert versions == {(language, objects) for language in ("en", "ar") for objects in ("augmented", "raw")}
    numbers = [item.index for relation in relations for item in relation.items]
    assert sorted(numbers) == list(range(20))


def test_a_predicate_without_a_template_is_left_out_and_counted(folder: DlamaFolder) -> None:
    cities = [fact(1, "Cairo", {"Q79": "Egypt"}), fact(2, "Tunis", {"Q948": "Tunisia"})]
    folder.facts["arab-west/dlama/en/P17_general_ARAB_REGION.jsonl"] = cities[:1]
    folder.facts["arab-west/dlama/ja/P17_general_ARAB_REGION.jsonl"] = cities
    benchmark = dlama.read(folder.write())
    assert [relation.label for relation in benchmark.relations] == ["P37"]
    assert benchmark.notes == ("Items left out, no template in en: 1.", "Items left out, no template in ja: 2.")


@pytest.mark.parametrize("name", ["southamerica-west", "south_america_west", "South-America-West"])
def test_a_pair_has_one_spelling(folder: DlamaFolder, name: str) -> None:
    folder.facts = {f"{name}/dlama/en/P37.jsonl": [fact(1, "There", {"Q2": "That"}, "SOUTH_AMERICA")]}
    benchmark = dlama.read(folder.write())
    assert benchmark.relations[0].tags["culture_pair"] == "south-america-west"
    normalised_settings = [
        plan(benchmark, Settings(probe="ranking", options={"pair": pair})) for pair in (name, "south-america-west")
    ]
    assert normalised_settings[0] == normalised_settings[1]
    assert dlama.pair_named("north_south") == "north-south", "a pair of one's own keeps its name"


@pytest.mark.parametrize(
    ("region", "culture"),
    [
        ("ARAB_REGION", "Arab"),
        ("SOUTH_AMERICA", "South America"),
        ("EASTERN_ASIA", "Asia"),
        ("JAPAN", "Asia"),
        ("CHINA", "Asia"),
        ("NORTH_AMERICA_AND_AUSTRALIA", "West"),
    ],
)
def test_the_culture_is_that_of_the_region_in_the_uuid(folder: DlamaFolder, region: str, culture: str) -> None:
    folder.facts = {"some_pair/cultlama/en/P37.jsonl": [fact(1, "There", {"Q2": "That"}, region)]}
    (relation,) = dlama.read(folder.write()).relations
    assert relation.items[0].tags["culture"] == culture
    assert relation.tags["culture_pair"] == "some-pair"


def test_a_single_object_may_be_a_plain_string(folder: DlamaFolder) -> None:
    folder.facts[ARAB][0] |= {"obj_uri": "Q13955", "obj_label": "Arabic"}
    (relation,) = dlama.read(folder.write()).relations
    assert relation.answer_space[relation.items[0].answers[0]] == "Arabic"


@pytest.mark.parametrize("change", [{"sub_label": None}, {"sub_label": ""}, {"obj_label": [""]}, {"obj_label": None}])
def test_a_line_without_a_label_is_left_out(folder: DlamaFolder, change: dict[str, Any]) -> None:
    folder.facts[ARAB][0] |= change
    benchmark = dlama.read(folder.write())
    assert "Egypt" not in {item.subject for item in benchmark.relations[0].items}
    assert benchmark.notes == ("Items left out, a label or the culture is missing: 1.",)


@pytest.mark.parametrize("uuid", [None, "", "2", "P37_general_3", "3b241101-e2bb-4255-8caf-4136c566a962"])
@pytest.mark.parametrize("file", ["P37", "P37_general"])
def test_a_line_of_no_known_culture_is_left_out_and_counted(folder: DlamaFolder, file: str, uuid: str | None) -> None:
    lines = [fact(1, "There", {"Q2": "That"}), fact(85, "Cairo", {"Q2": "That"}) | {"uuid": uuid}]
    folder.facts = {f"some_pair/cultlama/en/{file}.jsonl": lines}
    benchmark = dlama.read(folder.write())
    assert [item.subject for item in benchmark.relations[0].items] == ["There"]
    assert benchmark.notes == ("Items left out, a label or the culture is missing: 1.",)


def test_a_stated_culture_comes_before_a_files_region_and_that_before_a_lines_uuid(folder: DlamaFolder) -> None:
    lines = [fact(1, "There", {"Q2": "That"}, "WESTERN_COUNTRIES") | {"uuid": "1"}, fact(2, "Here", {"Q2": "That"})]
    lines.append(fact(3, "North", {"Q2": "That"}) | {"uuid": None, "culture": "Nordic"})
    folder.facts = {"some_pair/dlama/en/P37_sister_cities_JAPAN.jsonl": lines}
    (relation,) = dlama.read(folder.write()).relations
    cultures = {item.subject: item.tags["culture"] for item in relation.items}
    assert cultures == {"There": "Asia", "Here": "Asia", "North": "Nordic"}


def test_an_archive_is_the_same_benchmark_as_its_folder(folder: DlamaFolder) -> None:
    unpacked = dlama.read(folder.write())
    other = DlamaFolder(folder.path.parent / "other")
    archive = other.pack()
    for path in (archive, archive.parent):
        packed = dlama.read(path)
        assert (packed.digest, packed.relations) == (unpacked.digest, unpacked.relations)


def test_what_a_mac_or_an_attacker_adds_to_an_archive_is_passed_over(folder: DlamaFolder, tmp_path: Path) -> None:
    plain = dlama.read(folder.write()).digest
    names = ["arab-west/dlama/en/._P37_general_ARAB_REGION.jsonl", ".DS_Store", "../../outside.jsonl", "/etc/P1.jsonl"]
    members = [tarfile.TarInfo(name) for name in names]
    link = tarfile.TarInfo("arab-west/dlama/en/P36_general_ARAB_REGION.jsonl")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    for member in members:
        member.size = 5
    archive = DlamaFolder(tmp_path / "deep" / "er" / "packed").pack(link, *members)
    before = set(tmp_path.rglob("*"))
    assert dlama.read(archive).digest == plain
    assert set(tmp_path.rglob("*")) == before


def test_an_archive_or_folder_of_too_much_is_refused(folder: DlamaFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dlama, "LARGEST_RELEASE", 100)
    with pytest.raises(BadBenchmark, match="larger than 100 bytes"):
        dlama.read(folder.write())
    with pytest.raises(BadBenchmark, match="unpacks to more than 100 bytes"):
        dlama.read(folder.pack())


def test_a_broken_archive_is_told_as_such(folder: DlamaFolder) -> None:
    archive = folder.pack()
    archive.write_bytes(archive.read_bytes()[:200])
    with pytest.raises(BadBenchmark, match="cannot be unpacked"):
        dlama.read(archive)


def test_two_templates_of_a_predicate_and_a_file_of_no_predicate_are_refused(folder: DlamaFolder) -> None:
    folder.templates["en"].append({"relation": "P37", "template": "In [X] they speak [Y]."})
    fault(folder, "templates/en/templates.jsonl, line 2: relation 'P37' occurs twice")
    folder.templates["en"].pop()
    folder.facts["arab-west/dlama/en/P37-copy.jsonl"] = folder.facts[ARAB]
    with pytest.raises(BadBenchmark, match=r"P37-copy\.jsonl is not a file of DLAMA\. Name it <pair>/dlama/"):
        dlama.read(folder.write())


def test_templates_may_lie_beside_the_folder(folder: DlamaFolder) -> None:
    path = folder.write()
    digest = dlama.read(path).digest
    (path / "templates").rename(path.parent / "templates")
    assert dlama.read(path).digest == digest


def fault(folder: DlamaFolder, *expected: str) -> None:
    with pytest.raises(BadBenchmark) as caught:
        dlama.read(folder.write())
    assert all(words in caught.value.message for words in expected), caught.value.message
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"obj_label": ["Arabic", "Kurdish"]}, "1 obj_uri but 2 obj_label"),
        ({"sub_uri": None}, "'sub_uri' holds None"),
        ({"sub_label": 7}, "'sub_label' holds 7"),
        ({"obj_label": [7]}, "'obj_label' holds 7"),
        ({"cultur": "Arab"}, "the key 'cultur' is not known"),
    ],
)
def test_a_bad_line_is_named_with_its_file(folder: DlamaFolder, change: dict[str, Any], words: str) -> None:
    folder.facts[ARAB][0] |= change
    fault(folder, f"{ARAB}, line 1", words)


@pytest.mark.parametrize("template", ["It speaks [Y].", "[X] speaks.", "[X] speaks [Y], [Y]."])
def test_a_template_without_its_slots_is_named(folder: DlamaFolder, template: str) -> None:
    folder.templates["en"][0]["template"] = template
    fault(folder, "templates/en/templates.jsonl, line 1", "the template must have")


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        ({"questions": {"P37": {"en": "What?"}}}, "the question of P37 must have {} once"),
        ({"questions": {"P37": "What do people of {} speak?"}}, "questions.json, P37: not a JSON object"),
        ({"question": {}}, "the key 'question' is not known"),
        ({"questions": []}, "'questions' is not a JSON object"),
        ({"system_message": {"en": 3}}, "'en' holds 3"),
    ],
)
def test_bad_questions_are_named(folder: DlamaFolder, questions: Any, words: str) -> None:
    folder.questions = questions
    fault(folder, words)


def test_no_templates_no_facts_and_nothing_in_common_are_faults(folder: DlamaFolder) -> None:
    folder.templates["en"][0]["relation"] = "P1"
    fault(folder, "no predicate has a template")
    folder.path = folder.path.with_name("bare")
    folder.templates, folder.questions = {}, None
    fault(folder, "There are no templates")
    with pytest.raises(BadBenchmark, match="holds no facts"):
        dlama.read(folder.path.parent)


def test_folders_and_archives_are_recognised(folder: DlamaFolder) -> None:
    assert format_of(folder.write()) == "dlama"
    archive = DlamaFolder(folder.path.parent / "other").pack()
    assert format_of(archive) == format_of(archive.parent) == "dlama"
    assert open_benchmark(archive).probe == "ranking"


@pytest.mark.slow
def test_it_reads_the_real_archive(real_dlama: Path) -> None:
    benchmark = dlama.read(real_dlama / "cultlama_v1.tar.gz")
    facts: Counter[tuple[object, ...]] = Counter()
    for relation in benchmark.relations:
        if relation.tags["language"] == "en":
            culture = [str(item.tags["culture"]) for item in relation.items]
            facts.update((relation.tags["objects"], relation.tags["culture_pair"], name) for name in culture)
    assert facts == {
        (objects, *rest): count
        for objects in ("augmented", "raw")
        for rest, count in {
            ("arab-west", "Arab"): 5140,
            ("arab-west", "West"): 5340,
            ("asia-west", "Asia"): 4959,
            ("asia-west", "West"): 5339,
        }.items()
    }
    assert {relation.tags["language"] for relation in benchmark.relations} == {"en", "ar", "ko"}
    assert benchmark.notes == tuple(f"Items left out, no template in {name}: 20,596." for name in ("ja", "zh"))


def test_it_reads_the_real_sample(real_dlama: Path) -> None:
    benchmark = dlama.read(real_dlama / "sample")
    assert benchmark.size == 234
    pairs = {relation.tags["culture_pair"] for relation in benchmark.relations}
    assert pairs == {"arab-west", "asia-west", "south-america-west"}


def test_ids_and_labels_have_a_common_name_whatever_their_case(tmp_path: Path) -> None:
    path = tmp_path / "faiths.toml"
    path.write_text('Islam = ["Q432", "Muslim"]\n"Greek faith" = ["Q1"]\n')
    merged = read_merged(path)
    assert [common_name(merged, *answers) for answers in (("Q432",), ("", "MUSLIM "), ("islam",), ("Q2", "x"))] == [
        "Islam",
        "Islam",
        "Islam",
        None,
    ]
    assert common_name(merged, "Q1") == "Greek faith"


def test_an_editors_mark_in_front_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "faiths.toml").write_text('Islam = ["Q432"]\n', encoding="utf-8-sig")
    assert common_name(read_merged(tmp_path / "faiths.toml"), "Q432") == "Islam"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Islam = [", "is not TOML"),
        ('Islam = "Q432"', "Islam is no list of texts"),
        ("Islam = [432]", "Islam is no list of texts"),
        ("Islam = []", "Islam is no list of texts"),
        ('Islam = ["Q1"]\nFaith = ["q1"]', "'q1' counts as Islam and as Faith"),
        ("\udcff", "is not TOML"),
    ],
)
def test_a_fault_is_named_with_what_to_write(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "faiths.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=fault):
        read_merged(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot be read.*Write lines such as"):
        read_merged(tmp_path / "none.toml")
