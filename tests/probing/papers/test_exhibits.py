"""The tables of a paper: printed figures, measured ones and their differences, in the paper's form."""

import pandas as pd
import pytest

from probing.papers.declarations import printed_figures, read_paper
from probing.papers.exhibits import all_figures, as_latex, beside, in_unit, paper_table, remarks

PAPER = read_paper("s-test")
TABLE_2 = next(exhibit for exhibit in PAPER.exhibits if exhibit.number == "Table 2")
GPT2 = "openai-community/gpt2"


@pytest.fixture
def cells() -> pd.DataFrame:
    """The printed Table 2, with two measured figures of GPT-2 and one of another model."""
    key = {"way": "vanilla", "metric": "specificity", "low": 0.59, "high": 0.61, "n": 4000.0}
    measured = pd.DataFrame(
        [
            {**key, "model": GPT2, "dimension": "relation", "group": "P19", "value": 0.6},
            {**key, "model": GPT2, "dimension": "overall", "group": "all", "value": 0.5682},
            {**key, "model": "mine", "dimension": "overall", "group": "all", "value": 0.7},
        ]
    )
    return beside(printed_figures(TABLE_2), measured)


def test_a_model_has_a_line_for_printed_measured_and_difference(cells: pd.DataFrame) -> None:
    table = paper_table(PAPER, TABLE_2, cells)
    assert list(table.columns[:3]) == ["model", "", "birthplace"]
    assert table.columns[-1] == "average"
    lines = table[table["model"] == "GPT-2"].set_index("")
    assert lines["birthplace"].to_dict() == {"printed": "59.72", "measured": "60.00", "difference": "+0.28"}
    assert lines["average"].to_dict() == {"printed": "56.82", "measured": "56.82", "difference": "+0.00"}
    assert lines["occupation"].to_dict() == {"printed": "57.28", "measured": "", "difference": ""}


def test_models_of_the_paper_come_first_and_others_behind_them(cells: pd.DataFrame) -> None:
    table = paper_table(PAPER, TABLE_2, cells)
    models = list(dict.fromkeys(table["model"]))
    assert models == ["GPT-2", "BERT-Base", "BERT-Large", "RoBERTa-Base", "RoBERTa-Large", "mine"]
    assert list(table[table["model"] == "mine"][""]) == ["measured"]


def test_the_csv_has_every_figure_with_full_precision(cells: pd.DataFrame) -> None:
    figures = all_figures(TABLE_2, cells).set_index(["model", "group"])
    assert figures.loc[(GPT2, "P19"), "difference"] == pytest.approx(0.0028)
    assert figures.loc[(GPT2, "P19"), "low"] == 0.59
    assert len(figures) == 31


def test_latex_has_a_caption_and_no_bare_special_characters(cells: pd.DataFrame) -> None:
    text = as_latex(PAPER, TABLE_2, paper_table(PAPER, TABLE_2, cells).replace("mine", "my_model"))
    assert "\\caption{S-TEST, Table 2:" in text
    assert "my\\_model" in text


def test_reasons_for_differences_are_told_only_where_there_is_something_to_compare(cells: pd.DataFrame) -> None:
    assert next(remarks(TABLE_2, cells, ["Other items."], sample=20)).startswith("Measured on a sample of 20")
    assert list(remarks(TABLE_2, cells, ["Other items."], sample=None)) == ["Other items."]
    without_printed = cells.assign(printed=float("nan"))
    lines = list(remarks(TABLE_2, without_printed, ["Other items."], sample=20))
    assert lines == ["Measured on a sample of 20 for each relation."]
    assert list(remarks(TABLE_2, cells.assign(value=float("nan"), n=float("nan")), ["Other items."], sample=None)) == []


def test_measured_models_without_a_figure_are_named(cells: pd.DataFrame) -> None:
    unknown = cells.assign(value=cells["value"].mask((cells["model"] == "mine") | (cells["group"] == "P19")))
    left_out = "Left out, as in a relation nothing counts for a figure: GPT-2, mine."
    assert list(remarks(TABLE_2, unknown, [], sample=None)) == [left_out]
    assert list(remarks(TABLE_2, unknown.assign(value=float("nan"), n=float("nan")), [], sample=None)) == []


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("percent", 0.1234, "12.34"),
        ("number", 20628.0, "20,628"),
        ("number", 0.8031, "0.803"),
        ("power", 3.52e-48, "3.52e-48"),
        ("percent", float("nan"), ""),
    ],
)
def test_a_figure_is_written_as_in_the_paper(unit: str, value: float, text: str) -> None:
    assert in_unit(unit, value) == text
