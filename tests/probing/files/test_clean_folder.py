"""The folder from which a model is loaded holds what was checked, and nothing else."""

import json
from pathlib import Path

import pytest

from probing.errors import UnsafeLink
from probing.files.model_files import clean_folder, locate


def test_only_checked_files_and_keys_are_there(tmp_path: Path) -> None:
    for name in ("adapter_config.json", "pytorch_model.bin", "evil.py", "tokenizer.model", "tokenizer.json"):
        (tmp_path / name).write_text("content")
    (tmp_path / "config.json").write_text('{"surprise": 1}')
    (tmp_path / "tokenizer_config.json").write_text('{"auto_map": {"AutoTokenizer": ["x.Y"]}, "bos_token": "<s>"}')
    files = locate(str(tmp_path))
    with clean_folder(files, files.listing(), {"model_type": "gpt2"}) as folder:
        assert {path.name for path in folder.iterdir()} == {"config.json", "tokenizer.json", "tokenizer_config.json"}
        assert json.loads((folder / "config.json").read_text()) == {"model_type": "gpt2"}
        assert json.loads((folder / "tokenizer_config.json").read_text()) == {"bos_token": "<s>"}
        assert (folder / "tokenizer.json").read_text() == "content"
    assert not folder.exists()
    assert json.loads((tmp_path / "config.json").read_text()) == {"surprise": 1}


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "secret").write_text("{}")
    (tmp_path / "model" / "tokenizer.json").symlink_to(tmp_path / "secret")
    files = locate(str(tmp_path / "model"))
    with pytest.raises(UnsafeLink), clean_folder(files, files.listing(), {}):
        pass
