"""What a change of some facts did to a model: against slow counts, and of one fact that is edited by LoRA."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from probing.__main__ import main
from probing.analysis.changed_facts import (
    ELSEWHERE,
    FACTS,
    OTHER_WORDINGS,
    SAME_RELATION,
    SAME_SUBJECT,
    changes_by_nearness,
    read_facts,
)
from probing.analysis.intervals import wilson
from probing.analysis.option_scores import OPTIONS
from probing.analysis.paired_tests import holm
from probing.benchmark import Relation
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.template import prompt
from tests.tiny_models import byte_level_bpe

SUBJECTS = {"P30": ["Chad", "Egypt", "Japan", "Norway"], "P36": ["Norway", "Egypt", "Chile"], "P38": ["Chile", "Peru"]}
RIGHT = "right"


def rows(**wrong: str) -> pd.DataFrame:
    """Rows of two wordings of each item; all predictions are right but those that are named, such as `P30_0_1`."""
    table = [
        {"relation": relation, "template": template, "index": index, "subject": subject}
        for relation, subjects in SUBJECTS.items()
        for template in (0, 1)
        for index, subject in enumerate(subjects)
    ]
    frame = pd.DataFrame(table)
    names = [f"{relation}_{template}_{index}" for relation, template, index in frame.iloc[:, :3].to_numpy()]
    frame["prediction_label"] = [wrong.get(name, RIGHT) for name in names]
    frame["correct"] = frame["prediction_label"] == RIGHT
    return frame


def facts(*lines: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame(lines)


EDITED = facts({"relation": "P30", "subject": "Norway", "answer": "Asia"})
# The edit reaches its own wording, one neighbour in the relation, and another fact about Norway.
AFTER = rows(P30_0_3="Asia", P30_1_3="Africa", P30_0_0="Asia", P36_1_0="Paris")


def test_each_row_counts_in_the_nearest_group() -> None:
    table = changes_by_nearness(rows(), AFTER, EDITED).set_index("group")
    assert table["n"].to_dict() == {FACTS: 1, OTHER_WORDINGS: 1, SAME_SUBJECT: 1, SAME_RELATION: 3, ELSEWHERE: 4}
    assert table["first"].tolist() == [1] * 5
    assert table["second"].to_dict() == pytest.approx(
        {FACTS: 0, OTHER_WORDINGS: 0, SAME_SUBJECT: 1 / 2, SAME_RELATION: 5 / 6, ELSEWHERE: 1}
    )
    assert table["unchanged"].to_dict() == pytest.approx(
        {FACTS: 0, OTHER_WORDINGS: 0, SAME_SUBJECT: 1 / 2, SAME_RELATION: 5 / 6, ELSEWHERE: 1}
    )
    assert table["new_answer"].dropna().to_dict() == {FACTS: 1, OTHER_WORDINGS: 0}
    assert table["p_holm"].tolist() == holm(table["p"]).tolist()
    assert (table["low"] <= table["difference"]).all() and (table["difference"] <= table["high"]).all()


def test_every_share_has_its_number_its_interval_and_chance() -> None:
    before, after = (table.assign(answers=[[0]] * 18, scores=[[0.0] * 4] * 18) for table in (rows(), AFTER))
    table = changes_by_nearness(before, after, EDITED).set_index("group")
    assert table["chance"].tolist() == [1 / 4] * 5
    counted = before.assign(**{OPTIONS: 4}).drop(columns="scores")
    assert changes_by_nearness(counted, after, EDITED)["chance"].tolist() == [1 / 4] * 5, "condensed rows are enough"
    neighbours = table.loc[SAME_RELATION]
    for name in ("first", "second", "unchanged"):
        assert neighbours[[f"{name}_low", f"{name}_high"]].tolist() == list(wilson(neighbours[name], 3)), name
    assert neighbours["unchanged_n"] == 3
    assert table.loc[FACTS, ["new_answer_n", "new_answer_low"]].tolist() == [1, wilson(1, 1)[0]]
    assert changes_by_nearness(rows(), AFTER, EDITED)["chance"].isna().all(), "these rows have no options"


def test_the_wording_of_the_change_may_be_named_and_groups_without_rows_are_left_out() -> None:
    every_index = [(name, index) for name, subjects in SUBJECTS.items() for index in range(len(subjects))]
    everything = facts(*({"relation": name, "index": index, "template": 1} for name, index in every_index))
    table = changes_by_nearness(rows(), AFTER, everything).set_index("group")
    assert list(table.index) == [FACTS, OTHER_WORDINGS]
    assert table["second"].to_dict() == pytest.approx({FACTS: 7 / 9, OTHER_WORDINGS: 7 / 9})
    assert "new_answer" not in table


def test_a_fact_that_was_not_asked_is_refused() -> None:
    other = facts({"relation": "P30", "subject": "Norway"}, {"relation": "P99", "subject": "Peru"})
    with pytest.raises(BadInput, match=r"1 of 2 facts were not asked, such as 'Peru' in P99\."):
        changes_by_nearness(rows(), AFTER, other)


def test_facts_are_read_from_csv_and_json_lines(tmp_path: Path) -> None:
    lines = tmp_path / "facts.jsonl"
    lines.write_text(json.dumps(EDITED.iloc[0].to_dict()) + "\n\n")
    EDITED.to_csv(tmp_path / "facts.csv", index=False)
    for path in (lines, tmp_path / "facts.csv"):
        pd.testing.assert_frame_equal(
            changes_by_nearness(rows(), AFTER, read_facts(path)), changes_by_nearness(rows(), AFTER, EDITED)
        )


@pytest.mark.parametrize("text", ["", "[1, 2]\n", '{"relation": "P30"}\n', "no json\n", '"text"\n'])
def test_a_file_without_facts_is_refused_with_what_to_write(text: str, tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text(text)
    with pytest.raises(BadInput, match=r'Write lines such as \{"relation": "P36", "subject": "France"\}'):
        read_facts(tmp_path / "facts.jsonl")
    with pytest.raises(BadInput, match="cannot be read as a list of facts"):
        read_facts(tmp_path / "missing.csv")


RELATIONS = ("country_capital", "instrument_family")
ITEMS = 8  # of each relation, which keeps the training short


def statements(relation: Relation) -> Iterator[str]:
    for item in relation.items[:ITEMS]:
        for template in relation.templates:
            yield prompt(template, item.subject).fill(relation.answer_space[item.answers[0]]).text


def learn(network: torch.nn.Module, tokenizer: PreTrainedTokenizerFast, texts: list[str], steps: int) -> None:
    """Train on all texts at once, each behind the start token that it is scored with."""
    batch = tokenizer([tokenizer.bos_token + text for text in texts], padding=True, return_tensors="pt")
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    optimizer = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], lr=5e-3)
    for _ in range(steps):
        torch.autograd.backward(network(**batch, labels=labels).loss)
        optimizer.step()
        optimizer.zero_grad()


@pytest.mark.slow  # trains a model for some seconds
def test_an_edit_by_lora_changes_its_fact_and_hardly_anything_elsewhere(tmp_path: Path) -> None:
    relations = [relation for relation in open_benchmark("starter").relations if relation.id in RELATIONS]
    texts = [text for relation in relations for text in statements(relation)]
    tokenizer = byte_level_bpe(vocabulary=600, sentences=texts)
    tokenizer.pad_token = tokenizer.eos_token
    torch.manual_seed(0)
    sizes = {"vocab_size": len(tokenizer), "n_positions": 48, "n_embd": 64, "n_layer": 2, "n_head": 4}
    network = GPT2LMHeadModel(GPT2Config(**sizes, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))
    learn(network, tokenizer, texts, steps=160)
    network.save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")

    capitals = next(relation for relation in relations if relation.id == "country_capital")
    item, new_answer = capitals.items[0], capitals.answer_space[capitals.items[1].answers[0]]
    edited = get_peft_model(network, LoraConfig(r=4, lora_alpha=8, target_modules=["c_fc"], fan_in_fan_out=True))
    learn(edited, tokenizer, [prompt(capitals.templates[0], item.subject).fill(new_answer).text], steps=8)
    edited.save_pretrained(tmp_path / "edit")

    for model, out in ((f"{tmp_path}/base", "before"), (f"{tmp_path}/base+{tmp_path}/edit", "after")):
        options = ["--relation", *RELATIONS, "--limit", str(ITEMS), "--device", "cpu", "--out", str(tmp_path / out)]
        assert main(["run", model, "--benchmark", "starter", *options]) == 0
    fact = {"relation": capitals.id, "subject": item.subject, "answer": new_answer}
    (tmp_path / "facts.jsonl").write_text(json.dumps(fact))
    files = [str(tmp_path / name) for name in ("before", "after")]
    options = ["--facts", str(tmp_path / "facts.jsonl"), "--csv", str(tmp_path / "changes.csv")]
    assert main(["compare", *files, *options]) == 0
    groups = pd.read_csv(tmp_path / "changes.csv").set_index("group")
    assert groups.loc[FACTS, ["first", "second", "new_answer"]].tolist() == [1, 0, 1]
    assert groups.loc[ELSEWHERE, "first"] > 0.9
    assert groups.loc[ELSEWHERE, "unchanged"] > 0.9
    assert 0 < groups.loc[SAME_RELATION, "unchanged"] < groups.loc[ELSEWHERE, "unchanged"]
