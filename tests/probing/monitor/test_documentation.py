"""The examples of docs/training.md run as they stand there."""

import re
from pathlib import Path

import pytest
import torch
from transformers import default_data_collator

from tests.probing.monitor.helpers import measured, trainer_of

PAGE = (Path(__file__).parents[3] / "docs" / "training.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.splitlines()[0])
def test_an_example_runs(example: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # an example writes a file
    trainer = trainer_of(folder, tmp_path, max_steps=2)
    examples = trainer.train_dataset
    names = {
        "trainer": trainer,
        "network": trainer.model,
        "tokenizer": trainer.processing_class,
        "optimizer": torch.optim.AdamW(trainer.model.parameters()),
        "batches": [default_data_collator(examples[:2])] * 2,
    }
    exec(example.replace("sample=5", "sample=1, relations=['country_continent']"), names)
    if "KnowledgeCallback" in names:
        assert list(measured(trainer, "eval_starter_multiple_choice_accuracy")) == [0, 2]
