"""One fact of a small model is edited by LoRA, and the command says what that did to it and to everything else."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from probing.__main__ import main
from probing.analysis.changed_facts import ELSEWHERE, FACTS, SAME_RELATION
from probing.benchmark import Relation
from probing.catalog import open_benchmark
from probing.template import prompt
from tests.tiny_models import byte_level_bpe

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
