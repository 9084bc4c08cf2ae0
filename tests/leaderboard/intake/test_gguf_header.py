"""What the checks read from the header of a GGUF file, and files whose header is broken or lies."""

from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFWriter

from leaderboard.intake.hub import gguf_config
from probing.errors import BadWeights


def test_a_gguf_file_states_its_number_format(smollm2: Path) -> None:
    config = gguf_config(smollm2, "")
    assert (config["model_type"], config["quantisation"], config["parameters"]) == ("llama", "Q4_1", 134_515_008)
    tokens = config["special_tokens"]
    assert (config["tokenizer"], tokens.bos, tokens.eos) == (True, "<|im_start|>", "<|im_end|>")


@pytest.mark.parametrize("length", [4, 30, 120, 5000])
def test_a_gguf_file_that_ends_early_is_refused(length: int, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(gguf_file(tmp_path)[:length])
    with pytest.raises(BadWeights, match=r"x\.gguf is not a valid GGUF file"):
        gguf_config(tmp_path / "x.gguf", str(length))


@pytest.mark.parametrize("lie", [b"\xff" * 8, (2**40).to_bytes(8, "little")])
def test_lengths_that_a_gguf_file_lies_about_take_no_memory(lie: bytes, tmp_path: Path) -> None:
    content = gguf_file(tmp_path)
    for key, skipped in ((b"tokenizer.ggml.tokens", 8), (b"tokenizer.ggml.token_type", 8), (b"general.name", 4)):
        place = content.index(key) + len(key) + skipped
        (tmp_path / "x.gguf").write_bytes(content[:place] + lie + content[place + 8 :])
        with pytest.raises(BadWeights):
            gguf_config(tmp_path / "x.gguf", f"{key!r} {lie!r}")


def gguf_file(folder: Path) -> bytes:
    """A small GGUF file with all that the checks read."""
    writer = GGUFWriter(folder / "small.gguf", "llama")
    writer.add_name("Small")
    writer.add_token_list([f"token {number}" for number in range(500)])
    writer.add_token_types([1] * 500)
    writer.add_bos_token_id(1)
    writer.add_tensor("weight", np.zeros((4, 8), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return (folder / "small.gguf").read_bytes()
