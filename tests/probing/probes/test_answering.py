"""Answers by generation: what is asked, and how an answer is found in what was written."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from probing.analysis.responses import normalised_text
from probing.benchmark import Benchmark, Item, Relation
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.formats import dlama, geography
from probing.language_model import Continuation
from probing.probes.answering import Answering, response_row
from probing.results.result import Result
from probing.runner import run
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.probing.formats.dlama_folder import DlamaFolder


@dataclass
class Says(FakeModel):
    """Writes the same to every question, and remembers how it was asked."""

    response: str = "They speak Arabic."
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def generate(self, texts: Iterable[str], tokens: int, **how: Any) -> Iterator[Continuation]:
        for text in texts:
            self.requests.append((text, {"tokens": tokens, **how}))
            yield Continuation(self.response, prompt=f"[user] {text}")


@pytest.fixture
def pairs(tmp_path: Path) -> Benchmark:
    return dlama.read(DlamaFolder(tmp_path / "pairs").write())


def answered(response: str, *labels: str) -> tuple[bool, bool, bool]:
    relation = Relation("P37", (), labels, ())
    columns = response_row(relation, Item(0, "it", tuple(range(len(labels)))), "What?", response, labels)
    return columns["correct"], columns["correct_normalised"], columns["correct_exact"]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("Arabic", (True, True, True)),
        (" Arabic\n", (True, True, True)),
        ("They speak Arabic there.", (True, True, False)),
        ("They speak ARABIC.", (False, True, False)),
        ("They speak Ａｒａｂｉｃ.", (False, True, False)),
        ("They speak French.", (False, False, False)),
        ("", (False, False, False)),
    ],
)
def test_an_answer_is_found_in_three_ways(response: str, expected: tuple[bool, bool, bool]) -> None:
    assert answered(response, "Arabic") == expected


def test_any_valid_object_counts_in_any_script_and_in_composed_or_decomposed_letters() -> None:
    assert answered("Kurdish, I think", "Arabic", "Kurdish") == (True, True, False)
    assert answered("اللغة الرسمية هي العربية.", "العربية") == (True, True, False)
    assert answered("서울입니다", "서울") == (True, True, False)
    assert answered("Bogota\u0301", "Bogotá") == (False, True, False)
    assert normalised_text("STRASSE") == normalised_text("Straße")


def test_the_question_goes_through_the_chat_template_after_the_system_message(pairs: Benchmark) -> None:
    model = Says()
    next(Answering(tokens=7).rows(model, pairs.relations[0], 0, Settings()))
    assert model.requests[0] == ("What do people of Egypt speak?", {"tokens": 7, "chat": True, "system": "Be short."})


def test_the_questions_of_the_paper_come_with_its_system_message(pairs: Benchmark) -> None:
    relation, model, probe = pairs.relations[0], Says(), Answering(questions="paper")
    next(probe.rows(model, relation, 0, Settings()))
    question, how = model.requests[0]
    assert question == 'What is the official language of "Egypt"? Reply with the language name only.'
    assert how["system"] == "You are an encyclopedia."
    other = replace(relation, tags={**relation.tags, "predicate": "P140"})
    assert probe.why_not(other) == "no question in en"


def test_facts_of_geography_are_asked_by_the_question_of_their_type(tmp_path: Path) -> None:
    facts = [("country_capital", "Norway", ["Oslo"]), ("river_countries", "Jhelum River", ["India", "South Korea"])]
    lines = [json.dumps({"fact_type": key, "subject": subject, "objects": names}) for key, subject, names in facts]
    (tmp_path / "triples.jsonl").write_text("\n".join(lines))
    benchmark = geography.read(tmp_path)
    model = Says(response="In South Korea.")
    result = run(model, benchmark, probe="answering", progress=False)
    assert {(text, how["system"]) for text, how in model.requests} == {
        (text, "Answer with a name and nothing else.")
        for text in (
            *("What is the capital of Norway?", "Of which country is Oslo the capital?"),
            "Through which countries does the Jhelum River flow?",
        )
    }
    right = result.items.groupby("relation")["correct"].mean()
    assert right.to_dict() == {"country_capital": 0, "river_countries": 1}
    of_subject = result.items[result.items["masked"] == "subject"]
    assert set(of_subject["answer_label"]) == {"Norway"}
    plain = Says(response="It is\nIn South Korea.")
    rows = run(plain, benchmark, probe="answering", chat=False, progress=False).items
    assert {text for text, _ in plain.requests} == {text for text, _ in model.requests}, "no words are added to it"
    assert set(rows["prediction_label"]) == {"It is\nIn South Korea."}, "the whole response counts"


def test_a_run_has_the_published_metrics_by_culture(pairs: Benchmark, tmp_path: Path) -> None:
    result = run(Says(), pairs, probe="answering", out=tmp_path / "out", progress=False)
    values = result.scores.set_index(["metric", "dimension", "group"])["value"]
    assert values["accuracy_substring", "overall", "all"] == pytest.approx(2 / 5)
    assert values["accuracy_substring", "relation_culture", "P37 Arab"] == 1.0
    assert values["accuracy_exact", "culture", "West"] == 0.0
    assert values["culture_gap", "culture_pair", "arab-west"] == 1.0


def test_predicates_without_a_question_are_skipped_and_counted(tmp_path: Path) -> None:
    folder = DlamaFolder(tmp_path / "pairs")
    folder.add_arabic()
    result = run(Says(), dlama.read(folder.write()), probe="answering", out=tmp_path / "out", progress=False)
    assert set(result.items["language"]) == {"en"}
    expected = [{"relation": "P37.arab-west.ar", "items": 5, "why": "no question in ar"}]
    assert Result.load(tmp_path / "out").record["items_skipped"] == expected
    assert result.record["items_done"] == 5
    limited = run(Says(), dlama.read(folder.path), probe="answering", limit=2, progress=False)
    assert limited.record["items_skipped"][0]["items"] == 2


def test_where_no_predicate_has_a_question_it_says_so(tmp_path: Path) -> None:
    folder = DlamaFolder(tmp_path / "pairs")
    folder.questions = None
    with pytest.raises(BadInput, match="None of these relations can be asked: no question in en"):
        run(Says(), dlama.read(folder.write()), probe="answering", progress=False)


def test_no_tokens_at_all_are_refused() -> None:
    with pytest.raises(BadInput, match="tokens cannot be 0"):
        Answering(tokens=0)


def test_statements_of_a_benchmark_without_questions_are_asked_in_each_wording(benchmark: Benchmark) -> None:
    relation, model = benchmark["P30"], Says()
    rows = list(Answering().rows(model, relation, 0, Settings()))
    text, how = model.requests[0]
    assert text == f"Fill in the blank: {relation.items[0].subject} is located in ____."
    assert how == {"tokens": 40, "chat": True, "system": "Answer with a name and nothing else."}
    assert {row["template"] for row in rows} == {0}
    next(Answering(chat=False).rows(model, relation, 0, Settings()))
    assert model.requests[-1][0] == f"{text}\nAnswer:"


def test_true_and_false_sentences_have_no_blank_to_ask_for() -> None:
    graph = open_benchmark("graph")
    assert Answering().why_not(graph.relations[0]) == "no question in any language"
