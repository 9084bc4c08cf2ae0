"""What a change of some facts did to a model: to these facts, to their neighbours, and to everything else it was asked.

The facts were edited, unlearned or trained between two results on the same questions. Efficacy, other wordings and
neighbours are those of CounterFact (Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 3.3):
efficacy score, paraphrase score and neighbourhood score. Here they are measured on all questions of a benchmark, and
the share of unchanged predictions, which EasyEdit (Wang et al. 2023) calls locality, stands beside accuracy.
"""

import json
from io import StringIO
from math import nan
from pathlib import Path

import pandas as pd

from probing.analysis.accuracy import CHANCE, chance, proportion
from probing.analysis.breakdowns import OVERALL
from probing.analysis.option_scores import has_options
from probing.analysis.paired_tests import CORRECT, SIDE_BOUNDS, Correctness, common_rows, holm, overall_difference
from probing.benchmark import ROW_KEY
from probing.errors import BadInput

# The groups, each without those before it.
FACTS = "facts"
OTHER_WORDINGS = "facts, other wordings"
SAME_SUBJECT = "same subject"
SAME_RELATION = "same relation"
ELSEWHERE = "elsewhere"
GROUPS = (FACTS, OTHER_WORDINGS, SAME_SUBJECT, SAME_RELATION, ELSEWHERE)
UNCHANGED, NEW_ANSWER = "unchanged", "new_answer"  # shares of rows
SHARE_BOUNDS = [f"{name}_{end}" for name in (UNCHANGED, NEW_ANSWER) for end in ("n", "low", "high")]
COLUMNS = (
    *("group", "n", "first", "second", CHANCE, "difference", "low", "high", "gained", "lost", "p", "p_holm"),
    *(UNCHANGED, NEW_ANSWER, *SHARE_BOUNDS, *SIDE_BOUNDS),
)
NEXT_STEP = 'Write lines such as {"relation": "P36", "subject": "France"}, or a CSV file with these columns.'


def read_facts(path: Path) -> pd.DataFrame:
    """Read a file of facts (`parse_facts`); raise `BadInput` where it is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as a list of facts ({error}).", NEXT_STEP) from error
    return parse_facts(text, str(path))


def parse_facts(text: str, source: str) -> pd.DataFrame:
    """Read facts from JSON Lines, whose first character is a brace, or else from CSV with a line of column names.

    Columns: `relation`, and `index` or `subject`. Beside them may stand `template`, the wording of the change (where it
    is missing, the first one that was asked), and `answer`, the new answer that the change was to bring. `source` names
    the text in errors: raises `BadInput` where it has no facts.
    """
    try:
        if text.lstrip().startswith("{"):
            facts = pd.DataFrame([json.loads(line) for line in text.splitlines() if line.strip()])
        else:
            facts = pd.read_csv(StringIO(text), dtype={"relation": str, "subject": str, "answer": str})
    except (ValueError, AttributeError, TypeError) as error:
        raise BadInput(f"{source} cannot be read as a list of facts ({error}).", NEXT_STEP) from error
    if facts.empty or "relation" not in facts or not {"index", "subject"} & set(facts):
        raise BadInput(f"{source} has no facts: it needs relation, and index or subject.", NEXT_STEP)
    return facts


def changes_by_nearness(
    before: pd.DataFrame, after: pd.DataFrame, facts: pd.DataFrame, correctness: Correctness = CORRECT
) -> pd.DataFrame:
    """Compare the rows of two results in each of `GROUPS` that has any.

    `first`, `second`, `difference` and its interval and test are those of paired comparisons on the items of the group,
    `p_holm` is corrected for all groups, and `unchanged` is the share of rows with the same prediction in both. Where
    facts name a new `answer`, `new_answer` is the share of rows on them that predict it afterwards. Both have Wilson's
    interval for as many items (`unchanged_n`) as they are of. `chance` is that of a guess among the options, where the
    rows of `before` have them. Raises `BadInput` for facts that the results do not have.
    """
    rows = common_rows({"first": before, "second": after}, correctness.column)
    first, second = (table.reset_index(drop=True) for table in rows.values())
    groups, answers = _groups(first, facts)
    same, new = (second["prediction_label"] == expected for expected in (first["prediction_label"], answers))
    table = []
    for group in GROUPS:
        chosen = groups == group
        if not chosen.any():
            continue
        figures = overall_difference(first[chosen], second[chosen], correctness)
        shares = _share(first[chosen], UNCHANGED, same) | _share(first[chosen & answers.notna()], NEW_ANSWER, new)
        guesses = chance(first[chosen], OVERALL)["value"] if has_options(first) else [nan]
        table.append({"group": group, **figures, CHANCE: guesses[0], **shares})
    compared = pd.DataFrame(table)
    compared["p_holm"] = holm(compared["p"])
    return compared[[name for name in COLUMNS if name in compared]]


def _share(rows: pd.DataFrame, name: str, values: pd.Series) -> dict[str, float]:
    """Return the share of the rows whose value is true, with its number and interval; nothing without rows."""
    if rows.empty:
        return {}
    score = proportion(rows, name, values[rows.index], OVERALL).iloc[0]
    return {name: score["value"], **{f"{name}_{part}": score[part] for part in ("n", "low", "high")}}


def _groups(rows: pd.DataFrame, facts: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the group of each row, and the new answer of those that ask for a fact that has one."""
    key = ["relation", "index"] if "index" in facts else ["relation", "subject"]
    items = rows[[*ROW_KEY, "subject"]].astype({"relation": str})
    named = facts.astype({"relation": str}).drop_duplicates(key).set_index(key)
    row_keys = pd.MultiIndex.from_frame(items[key])
    if len(missing := named.index.difference(row_keys)):
        relation, which = missing[0]
        raise BadInput(
            f"{len(missing):,} of {len(named):,} facts were not asked, such as {which!r} in {relation}.",
            "Name facts of this benchmark by the labels and indices in items.parquet.",
        )
    is_fact = pd.Series(row_keys.isin(named.index), rows.index)
    of_rows = named.reindex(row_keys)
    wordings = of_rows["template"] if "template" in named else pd.Series(pd.NA, row_keys)
    wording = wordings.fillna(rows["template"].min()).astype(int).to_numpy()
    subjects = items["subject"].isin(items["subject"][is_fact])
    relations = items["relation"].isin(items["relation"][is_fact])
    groups = pd.Series(ELSEWHERE, rows.index)
    groups[relations] = SAME_RELATION
    groups[subjects] = SAME_SUBJECT
    groups[is_fact] = OTHER_WORDINGS
    groups[is_fact & (rows["template"] == wording)] = FACTS
    answers = of_rows["answer"] if "answer" in named else pd.Series(None, row_keys, dtype=object)
    return groups, pd.Series(answers.to_numpy(), rows.index)
