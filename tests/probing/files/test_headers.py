"""Headers of safetensors files: intact ones are summarised, lying ones are refused before anything is allocated."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from probing.errors import BadWeights, QuantisedWeights
from probing.files import weights as module
from probing.files.weights import (
    LARGEST_HEADER,
    Tensor,
    WeightSummary,
    joined_headers,
    parse_header,
    read_header,
    summarise,
)


def entry(dtype: Any = "F32", shape: Any = (2, 3), offsets: Any = (0, 24)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def parsed(header: Any, data_size: int = 24) -> dict[str, Tensor]:
    return parse_header("x.safetensors", json.dumps(header).encode(), data_size)


def header_of(path: Path) -> dict[str, Tensor]:
    content = path.read_bytes()
    return read_header(path.name, len(content), lambda start, stop: content[start:stop])


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A file of two float tensors and one of positions."""
    path = tmp_path / "model.safetensors"
    tensors = {"a": np.zeros((2, 3), np.float32), "b": np.zeros(5, np.float32), "positions": np.arange(4)}
    save_file(tensors, path, metadata={"format": "pt"})
    return path


def test_a_file_is_summarised_by_its_header(weights: Path) -> None:
    tensors = header_of(weights)
    assert tensors == {"a": Tensor("F32", (2, 3)), "b": Tensor("F32", (5,)), "positions": Tensor("I64", (4,))}
    assert summarise("org/name", tensors) == WeightSummary(parameters=11, bytes=76, dtype="float32")


def test_only_the_header_of_a_file_is_read(weights: Path) -> None:
    ranges = []

    def read(start: int, stop: int) -> bytes:
        ranges.append((start, stop))
        return weights.read_bytes()[start:stop]

    read_header("model.safetensors", weights.stat().st_size, read)
    length = int.from_bytes(weights.read_bytes()[:8], "little")
    assert ranges == [(0, 8), (8, 8 + length)]


@pytest.mark.parametrize(
    ("dtypes", "dtype"),
    [(("F32", "BF16", "BF16"), "bfloat16"), (("F16", "F32", "F16"), "float16"), (("F64", "I64", "BOOL"), "float32")],
)
def test_the_format_of_a_model_is_that_of_most_of_its_weights(dtypes: tuple[str, ...], dtype: str) -> None:
    tensors = {str(number): Tensor(name, (100,)) for number, name in enumerate(dtypes)}
    assert summarise("org/name", tensors).dtype == dtype


@pytest.mark.parametrize("dtype", ["U8", "I8", "I32", "F8_E4M3"])
def test_quantised_weights_are_refused_and_named(dtype: str) -> None:
    with pytest.raises(QuantisedWeights, match=rf"org/name are quantised \({dtype}\)"):
        summarise("org/name", {"a": Tensor(dtype, (1000,)), "scale": Tensor("F32", (1,))})


@pytest.mark.parametrize("tensors", [{}, {"a": Tensor("F32", (0, 10**9))}, {"a": Tensor("I64", (5,))}])
def test_files_without_weights_are_refused(tensors: dict[str, Tensor]) -> None:
    with pytest.raises(BadWeights, match="hold no weights"):
        summarise("org/name", tensors)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ([], "not a JSON object"),
        ({"a": []}, "does not describe a tensor"),
        ({"a": entry() | {"code": 1}}, "does not describe a tensor"),
        ({"a": entry(dtype="F4")}, "unknown type 'F4'"),
        ({"a": entry(dtype=["F32"])}, "unknown type"),
        ({"a": entry(shape=[2, -3])}, "no list of sizes"),
        ({"a": entry(shape=[2, 3.0])}, "no list of sizes"),
        ({"a": entry(shape=[True, 6])}, "no list of sizes"),
        ({"a": entry(shape=[1] * 100)}, "no list of sizes"),
        ({"a": entry(offsets=[0, 10**30])}, "no list of sizes"),
        ({"a": entry(offsets=[0])}, "no list of sizes"),
        ({"a": entry(shape=[2, 4])}, "shape of 'a' does not fit its bytes"),
        ({"a": entry(shape=[10**9, 10**9])}, "shape of 'a' does not fit its bytes"),
        ({"a": entry(offsets=[4, 28])}, "does not begin where"),
        ({"a": entry(), "b": entry(offsets=[12, 36])}, "'b' does not begin where"),
        ({"a": entry(), "b": entry(offsets=[0, 24])}, "'b' does not begin where"),
        ({"a": entry(), "b": entry(offsets=[30, 54])}, "'b' does not begin where"),
        ({"a": entry(), "b": entry(offsets=[24, 48])}, "48 bytes, but the file has 24"),
        ({}, "take 0 bytes"),
    ],
)
def test_a_lying_header_is_refused(header: Any, words: str) -> None:
    with pytest.raises(BadWeights, match=words):
        parsed(header)


@pytest.mark.parametrize("header", [b"{", b"\xff", b"[" * 100_000, b""])
def test_a_header_that_is_no_json_is_refused(header: bytes) -> None:
    with pytest.raises(BadWeights, match="not valid JSON"):
        parse_header("x.safetensors", header, 0)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: content[:4], "too short"),
        (lambda content: content[:20], "longer than the file"),
        (lambda content: content[:-1], "the file has"),
        (lambda content: content + b"x", "the file has"),
        (lambda content: (10**10).to_bytes(8, "little") + content[8:], "claims 10,000,000,000 bytes"),
        (lambda content: (2**64 - 1).to_bytes(8, "little") + content[8:], "claims 18,446,744,073,709,551,615 bytes"),
        (lambda content: (LARGEST_HEADER).to_bytes(8, "little") + content[8:], "longer than the file"),
    ],
)
def test_a_damaged_file_is_refused(weights: Path, damage: Callable[[bytes], bytes], words: str) -> None:
    weights.write_bytes(damage(weights.read_bytes()))
    with pytest.raises(BadWeights, match=f"^model.safetensors is damaged: .*{words}"):
        header_of(weights)


def test_more_tensors_than_any_model_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TENSORS", 3)
    header = {str(number): entry(shape=[1], offsets=[4 * number, 4 * number + 4]) for number in range(4)}
    with pytest.raises(BadWeights, match="claims 4 tensors"):
        parsed(header, 16)
    halves = [("first", {"a": Tensor("F32", (1,)), "b": Tensor("F32", (1,))})] * 2
    with pytest.raises(BadWeights, match="'a' is in another file too"):
        joined_headers(halves)
    others = {"c": Tensor("F32", (1,)), "d": Tensor("F32", (1,))}
    with pytest.raises(BadWeights, match="more than 3 tensors"):
        joined_headers([halves[0], ("second", others)])
