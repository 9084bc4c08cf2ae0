"""Words that are one token of a tokenizer, which is a file, a folder or a hub id."""

from pathlib import Path

import pytest

from probing.curation.single_token import single_token
from probing.errors import BadInput
from tests.tiny_models import byte_level_bpe


@pytest.mark.parametrize("place", ["", "tokenizer.json"])
def test_a_word_is_one_token_as_it_stands_after_a_space(tmp_path: Path, place: str) -> None:
    byte_level_bpe(vocabulary=500).save_pretrained(tmp_path)
    check = single_token(str(tmp_path / place))
    assert check("Peru")
    assert not check("Gloucestershire")


def test_what_is_no_tokenizer_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadInput, match="is no tokenizer"):
        single_token(str(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"has no tokenizer\.json"):
        single_token(str(tmp_path / "empty"))
