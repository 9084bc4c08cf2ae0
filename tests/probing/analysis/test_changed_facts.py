"""What a change of facts did to these facts, their neighbours and everything else."""

import json
from pathlib import Path

import pandas as pd
import pytest

from probing.analysis.changed_facts import (
    ELSEWHERE,
    FACTS,
    OTHER_WORDINGS,
    SAME_RELATION,
    SAME_SUBJECT,
    changes_by_nearness,
    read_facts,
)
from probing.analysis.intervals import wilson
from probing.analysis.option_scores import OPTIONS
from probing.analysis.paired_tests import holm
from probing.errors import BadInput

SUBJECTS = {"P30": ["Chad", "Egypt", "Japan", "Norway"], "P36": ["Norway", "Egypt", "Chile"], "P38": ["Chile", "Peru"]}
RIGHT = "right"


def rows(**wrong: str) -> pd.DataFrame:
    """Rows of two wordings of each item; all predictions are right but those that are named, such as `P30_0_1`."""
    table = [
        {"relation": relation, "template": template, "index": index, "subject": subject}
        for relation, subjects in SUBJECTS.items()
        for template in (0, 1)
        for index, subject in enumerate(subjects)
    ]
    frame = pd.DataFrame(table)
    names = [f"{relation}_{template}_{index}" for relation, template, index in frame.iloc[:, :3].to_numpy()]
    frame["prediction_label"] = [wrong.get(name, RIGHT) for name in names]
    frame["correct"] = frame["prediction_label"] == RIGHT
    return frame


def facts(*lines: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame(lines)


EDITED = facts({"relation": "P30", "subject": "Norway", "answer": "Asia"})
# The edit reaches its own wording, one neighbour in the relation, and another fact about Norway.
AFTER = rows(P30_0_3="Asia", P30_1_3="Africa", P30_0_0="Asia", P36_1_0="Paris")


def test_each_row_counts_in_the_nearest_group() -> None:
    table = changes_by_nearness(rows(), AFTER, EDITED).set_index("group")
    assert table["n"].to_dict() == {FACTS: 1, OTHER_WORDINGS: 1, SAME_SUBJECT: 1, SAME_RELATION: 3, ELSEWHERE: 4}
    assert table["first"].tolist() == [1] * 5
    assert table["second"].to_dict() == pytest.approx(
        {FACTS: 0, OTHER_WORDINGS: 0, SAME_SUBJECT: 1 / 2, SAME_RELATION: 5 / 6, ELSEWHERE: 1}
    )
    assert table["unchanged"].to_dict() == pytest.approx(
        {FACTS: 0, OTHER_WORDINGS: 0, SAME_SUBJECT: 1 / 2, SAME_RELATION: 5 / 6, ELSEWHERE: 1}
    )
    assert table["new_answer"].dropna().to_dict() == {FACTS: 1, OTHER_WORDINGS: 0}
    assert table["p_holm"].tolist() == holm(table["p"]).tolist()
    assert (table["low"] <= table["difference"]).all() and (table["difference"] <= table["high"]).all()


def test_every_share_has_its_number_its_interval_and_chance() -> None:
    before, after = (table.assign(answers=[[0]] * 18, scores=[[0.0] * 4] * 18) for table in (rows(), AFTER))
    table = changes_by_nearness(before, after, EDITED).set_index("group")
    assert table["chance"].tolist() == [1 / 4] * 5
    counted = before.assign(**{OPTIONS: 4}).drop(columns="scores")
    assert changes_by_nearness(counted, after, EDITED)["chance"].tolist() == [1 / 4] * 5, "condensed rows are enough"
    neighbours = table.loc[SAME_RELATION]
    for name in ("first", "second", "unchanged"):
        assert neighbours[[f"{name}_low", f"{name}_high"]].tolist() == list(wilson(neighbours[name], 3)), name
    assert neighbours["unchanged_n"] == 3
    assert table.loc[FACTS, ["new_answer_n", "new_answer_low"]].tolist() == [1, wilson(1, 1)[0]]
    assert changes_by_nearness(rows(), AFTER, EDITED)["chance"].isna().all(), "these rows have no options"


def test_the_wording_of_the_change_may_be_named_and_groups_without_rows_are_left_out() -> None:
    every_index = [(name, index) for name, subjects in SUBJECTS.items() for index in range(len(subjects))]
    everything = facts(*({"relation": name, "index": index, "template": 1} for name, index in every_index))
    table = changes_by_nearness(rows(), AFTER, everything).set_index("group")
    assert list(table.index) == [FACTS, OTHER_WORDINGS]
    assert table["second"].to_dict() == pytest.approx({FACTS: 7 / 9, OTHER_WORDINGS: 7 / 9})
    assert "new_answer" not in table


def test_a_fact_that_was_not_asked_is_refused() -> None:
    other = facts({"relation": "P30", "subject": "Norway"}, {"relation": "P99", "subject": "Peru"})
    with pytest.raises(BadInput, match=r"1 of 2 facts were not asked, such as 'Peru' in P99\."):
        changes_by_nearness(rows(), AFTER, other)


def test_facts_are_read_from_csv_and_json_lines(tmp_path: Path) -> None:
    lines = tmp_path / "facts.jsonl"
    lines.write_text(json.dumps(EDITED.iloc[0].to_dict()) + "\n\n")
    EDITED.to_csv(tmp_path / "facts.csv", index=False)
    for path in (lines, tmp_path / "facts.csv"):
        pd.testing.assert_frame_equal(
            changes_by_nearness(rows(), AFTER, read_facts(path)), changes_by_nearness(rows(), AFTER, EDITED)
        )


@pytest.mark.parametrize("text", ["", "[1, 2]\n", '{"relation": "P30"}\n', "no json\n", '"text"\n'])
def test_a_file_without_facts_is_refused_with_what_to_write(text: str, tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text(text)
    with pytest.raises(BadInput, match=r'Write lines such as \{"relation": "P36", "subject": "France"\}'):
        read_facts(tmp_path / "facts.jsonl")
    with pytest.raises(BadInput, match="cannot be read as a list of facts"):
        read_facts(tmp_path / "missing.csv")
