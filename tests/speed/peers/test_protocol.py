"""The protocol of systems: what is answered to a request, and what is read of the process."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from speed.peers import protocol
from speed.peers.llama_cpp import common_length
from speed.peers.protocol import Item, Job, OfTorch, answer, read_job

ITEMS = [Item("[X] is in [Y].", subject, ["Africa", "Asia"], "", ["a", "b"]) for subject in ("Chad", "Peru", "Japan")]


class Counting:
    """A system whose scores are the lengths of subjects, and that computes one position a text."""

    positions = 5

    def score(self, items: Sequence[Item], batch_size: int) -> list[float | None]:
        self.positions += sum(len(item.texts) for item in items)
        return [float(len(item.subject)) for item in items for _ in item.texts]


def test_an_answer_has_the_scores_and_positions_of_this_request_alone() -> None:
    answers = answer(Counting(), ITEMS, step=2, batch_size=8)
    assert (answers["scores"], answers["positions"]) == ([4.0, 4.0, 5.0, 5.0], 4)
    assert answers["clock"] > 0 and answers["processor"] >= 0


def test_a_job_is_read_as_it_was_written(tmp_path: Path) -> None:
    job = Job("causal", "weights", "model.gguf", 2, ITEMS)
    (tmp_path / "job.json").write_text(json.dumps(job._asdict()))
    assert read_job(tmp_path / "job.json") == job


@pytest.mark.parametrize("by_name", [True, False])
def test_padded_positions_of_a_network_are_counted(by_name: bool) -> None:
    class Network(torch.nn.Module):
        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            return input_ids

    network = Network()
    system, ids = OfTorch(network), torch.zeros(2, 7)
    network(input_ids=ids) if by_name else network(ids)
    assert system.positions == 14


def test_figures_of_the_process_are_read_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "status").write_text("Name:\tpython\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n")
    monkeypatch.setattr(protocol, "PROCESS", tmp_path)
    assert (protocol.status_bytes("VmHWM"), protocol.status_bytes("VmRSS")) == (2048 * 1024, 1024 * 1024)


def test_tokens_in_common_end_where_one_sequence_differs_or_ends() -> None:
    assert common_length([[1, 2, 3], [1, 2, 4], [1, 2, 3, 5]]) == 2
    assert common_length([[1, 2], [1, 2, 3]]) == 2
    assert common_length([[1], [2]]) == 0
