"""mLAMA's folder: a folder for each language, with templates and one list of triples for each predicate."""

from pathlib import Path

import pytest

from probing.baselines import UniformModel
from probing.benchmark import Relation
from probing.catalog import open_benchmark
from probing.errors import BadBenchmark
from probing.formats import format_of, mlama
from probing.runner import run
from tests.probing.formats.mlama_folder import ENGLISH, SPANISH, MlamaFolder, triple


@pytest.fixture
def folder(tmp_path: Path) -> MlamaFolder:
    return MlamaFolder(tmp_path / "mlama1.1")


def relations(folder: MlamaFolder) -> dict[str, Relation]:
    return {relation.id: relation for relation in mlama.read(folder.write()).relations}


def test_candidates_are_the_objects_of_the_language(folder: MlamaFolder) -> None:
    by_id = relations(folder)
    assert by_id["P17.en"].answer_space == ("Norway", "Peru")
    assert by_id["P17.es"].answer_space == ("Noruega", "Perú")
    assert by_id["P17.en"].answer_ids == by_id["P17.es"].answer_ids == ("Q20", "Q419")
    assert by_id["P17.es"].templates == ("[X] queda en [Y].",)


def test_items_of_a_predicate_have_different_numbers_in_every_language(folder: MlamaFolder) -> None:
    by_id = relations(folder)
    assert [item.index for id in ("P17.en", "P17.es") for item in by_id[id].items] == [0, 1, 2, 3, 4]
    assert [relation.label for relation in by_id.values()] == ["P17", "P17"]


def test_it_is_asked_with_the_probe_and_the_language_option_of_dlama(folder: MlamaFolder) -> None:
    result = run(UniformModel(), open_benchmark(folder.write()), language="es", progress=False)
    assert set(result.items["language"]) == {"es"}
    assert set(result.items["subject"]) == {"Oslo", "Lima"}
    scores = result.scores.set_index(["metric", "dimension"])["value"]
    assert scores["chance", "overall"] == 0.5
    assert "p_at_1" in scores.index.get_level_values("metric")
    assert "culture_gap" not in scores.index.get_level_values("metric")


@pytest.mark.parametrize("place", ["mlama1.1", "mlama1.1/TREx"])
def test_it_is_recognised_as_published_and_with_the_lists_in_a_folder_trex(tmp_path: Path, place: str) -> None:
    MlamaFolder(tmp_path / place).write()
    assert format_of(tmp_path / "mlama1.1") == "mlama"
    assert mlama.read(tmp_path / "mlama1.1").size == 5


def test_other_lists_and_languages_without_templates_are_passed_over(folder: MlamaFolder) -> None:
    folder.lists |= {"en/date_of_birth": [triple(9, "Ibsen", "1828", "1828")], "nn/P17": ENGLISH}
    assert list(relations(folder)) == ["P17.en", "P17.es"]


def test_what_cannot_be_asked_is_left_out_and_counted(folder: MlamaFolder) -> None:
    folder.lists["en/P17"] += [triple(4, "", "Q20", "Norway"), triple(5, "Bergen", "Q20", "") | {"obj_label": None}]
    folder.lists |= {"en/P36": ENGLISH, "es/P36": SPANISH}
    folder.templates["en"].append({"relation": "P36", "template": "The capital of [X] is."})
    benchmark = mlama.read(folder.write())
    assert benchmark.size == 5
    assert benchmark.notes == (
        "Items left out, a label is missing: 2.",
        "Items left out, no template with both slots in en: 3.",
        "Items left out, no template with both slots in es: 2.",
    )


def test_a_fault_is_named_with_language_file_and_line(folder: MlamaFolder) -> None:
    del folder.lists["es/P17"][1]["obj_uri"]
    with pytest.raises(BadBenchmark, match=r"es/P17\.jsonl, line 2: the field 'obj_uri' is missing"):
        mlama.read(folder.write())
    folder.lists["es/P17"][1]["obj_url"] = "Q419"
    with pytest.raises(BadBenchmark, match="Did you mean 'obj_uri'"):
        mlama.read(folder.write())


def test_a_folder_without_triples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match=r"holds no triples of mLAMA.*<language>/P17\.jsonl"):
        mlama.read(tmp_path)


def test_a_changed_template_or_triple_is_another_version_and_a_copy_is_not(folder: MlamaFolder, tmp_path: Path) -> None:
    first = mlama.read(folder.write()).digest
    copy = MlamaFolder(tmp_path / "copy")
    assert mlama.read(copy.write()).digest == first
    copy.lists["es/P17"].reverse()
    assert mlama.read(copy.write()).digest != first
    copy.lists["es/P17"].reverse()
    copy.templates["en"][0]["template"] = "[Y] has [X]."
    assert mlama.read(copy.write()).digest != first
