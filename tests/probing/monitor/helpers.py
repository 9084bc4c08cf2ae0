"""What tests of the monitor share: a training of a tiny network with dropout, the same every time."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    Trainer,
    TrainingArguments,
    default_data_collator,
    set_seed,
)

from tests.tiny_models import SENTENCES

STEPS = 20


def examples(folder: Path) -> list[dict[str, list[int]]]:
    """Return tokenized sentences of one length, so that no collator is needed."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = [tokenizer(sentence).input_ids[:12] for sentence in SENTENCES]
    return [{"input_ids": row, "labels": row} for row in ids]


def trainer_of(folder: Path, output: Path, network: Any = None, **arguments: Any) -> Trainer:
    """Make a trainer of a tiny GPT-2 with dropout, from a fixed seed."""
    set_seed(0)
    network = network or AutoModelForCausalLM.from_pretrained(folder)
    settings = {
        "max_steps": STEPS,
        "per_device_train_batch_size": 2,
        "logging_steps": 1,
        "learning_rate": 1e-2,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
        "use_cpu": True,
    }
    data = examples(folder)
    return Trainer(
        model=network,
        args=TrainingArguments(output_dir=str(output), **settings | arguments),
        train_dataset=data,
        eval_dataset=data[:2],
        processing_class=AutoTokenizer.from_pretrained(folder),
        data_collator=default_data_collator,
    )


def losses(trainer: Trainer) -> list[tuple[int, float, float]]:
    """Return step, loss and norm of the gradient of each step, as they were logged."""
    return [
        (entry["step"], entry["loss"], entry["grad_norm"]) for entry in trainer.state.log_history if "loss" in entry
    ]


def measured(trainer: Trainer, figure: str = "eval_small_multiple_choice_accuracy") -> dict[int, float]:
    """Return a figure of the callback by step."""
    return {entry["step"]: entry[figure] for entry in trainer.state.log_history if figure in entry}


def weights(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}
