"""Charts of figures with their intervals, as figures of Plotly and as files."""

from pathlib import Path

import pandas as pd
import pytest

from probing import extras
from probing.dot_charts import dot_figure, write_dots
from probing.errors import BadInput, MissingPackage

TABLE = pd.DataFrame(
    {"value": [0.5, 0.25], "low": [0.4, 0.1], "high": [0.6, 0.5]}, index=["Arts & <crafts>", "costs $5 to $9"]
)
BEGINNINGS = {"chart.png": b"\x89PNG", "chart.svg": b"<?xml", "chart.pdf": b"%PDF", "CHART.HTML": b"<!doctype html>"}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_file_is_of_the_kind_that_its_name_says_and_the_same_each_time(name: str, tmp_path: Path) -> None:
    write_dots(TABLE, "accuracy", "a model on $ & <b>", tmp_path / name)
    content = (tmp_path / name).read_bytes()
    assert content.startswith(BEGINNINGS[name])
    write_dots(TABLE, "accuracy", "a model on $ & <b>", tmp_path / name)
    if name != "CHART.HTML":  # its element has a random id
        assert (tmp_path / name).read_bytes() == content


def test_a_picture_has_a_mark_and_an_interval_for_each_group_under_its_name(tmp_path: Path) -> None:
    write_dots(TABLE, "accuracy", "title", tmp_path / "chart.svg")
    text = (tmp_path / "chart.svg").read_text()
    assert "<!-- Arts &amp; &lt;crafts&gt; -->" in text
    assert "<!-- costs $5 to $9 -->" in text
    assert text.count('id="LineCollection') == 1


def test_a_line_at_zero_is_drawn_for_differences_alone() -> None:
    differences = TABLE.assign(low=[-0.1, 0.1])
    assert dot_figure(differences, "difference").layout.xaxis.zeroline is True
    assert dot_figure(TABLE, "accuracy").layout.xaxis.zeroline is False


def test_another_ending_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"chart\.gif is no picture\. Name a file that ends in \.html, \.png, \.svg"):
        write_dots(TABLE, "accuracy", "title", tmp_path / "chart.gif")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_one_sentence_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"needs the package matplotlib.*\[plot\]"):
        write_dots(TABLE, "accuracy", "title", tmp_path / "chart.png")
