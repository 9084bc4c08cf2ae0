"""Files with the scores of tokens: written in pieces of whole items, joined without holding them, read again."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from probing.errors import BadInput
from probing.probes.choices import ItemTokens
from probing.results import token_scores as stored
from probing.results.token_scores import join_tokens, read_tokens, write_tokens


def answer(index: int, count: int = 3) -> tuple[dict[str, object], ItemTokens]:
    row = {"relation": "P30", "template": 1, "index": index}
    places = np.arange(count)
    return row, ItemTokens(np.zeros(count, int), places, ["é"] * count, ["answer"] * count, -0.5 * places)


def test_tokens_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = write_tokens(tmp_path / "part", [answer(0), answer(4, 2)])
    assert [row["index"] for row in rows] == [0, 4]
    (table,) = read_tokens(tmp_path / "part")
    assert table["index"].tolist() == [0, 0, 0, 4, 4]
    assert table["log_prob"].tolist() == [0, -0.5, -1, 0, -0.5]
    assert set(table["token"]) == {"é"}
    assert list(table.columns) == ["relation", "template", "index", "option", "position", "token", "role", "log_prob"]


def test_pieces_hold_whole_items_and_parts_are_joined_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "TOKENS_PER_PIECE", 5)
    for name, indices in (("a", range(4)), ("b", range(4, 5))):
        write_tokens(tmp_path / name, map(answer, indices))
    join_tokens([tmp_path / "a", tmp_path / "b"], tmp_path / "joined")
    assert [sorted(set(piece["index"])) for piece in read_tokens(tmp_path / "joined")] == [[0, 1], [2, 3], [4]]
    whole = pq.read_table(tmp_path / "joined").to_pandas()
    pd.testing.assert_frame_equal(whole, pd.concat(read_tokens(tmp_path / "joined"), ignore_index=True))


def test_a_file_of_a_part_that_fails_is_absent(tmp_path: Path) -> None:
    def interrupted():
        yield answer(0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_tokens(tmp_path / "part", interrupted())
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_token_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokens.parquet").write_text("nothing")
    with pytest.raises(BadInput, match=r"tokens.parquet cannot be read"):
        list(read_tokens(tmp_path / "tokens.parquet"))
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(BadInput, match=r"its columns are not relation, template"):
        list(read_tokens(tmp_path / "other.parquet"))
