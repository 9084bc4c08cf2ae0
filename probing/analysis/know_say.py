"""What a model knows, says and declines: the same facts asked by likelihood and by generation, crossed item by item.

A model *knows* a fact where the right one among the options makes the most probable statement (multiple choice or
ranking). It *says* it where a response names a right answer (the probe `answering`), which may also have been given
leave to decline. The rows of such results are crossed; no model is asked again. docs/methods/know-say.md has the
definitions, their sources and a worked example.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from probing.analysis.accuracy import CHANCE, SCORE_COLUMNS, bounded_mean, means, proportion
from probing.analysis.breakdowns import OVERALL, members
from probing.analysis.confidence import CURVE_COLUMNS, calibration_curve
from probing.analysis.option_scores import PER_OPTION, all_exact, blocks, option_counts, right_shares, shares_of
from probing.analysis.paired_tests import Correctness, common_rows, holm, overall_difference, paired_means
from probing.analysis.responses import DECLINED, declined, names_word
from probing.benchmark import ROW_KEY
from probing.errors import BadInput

OF_OPTIONS, OF_RESPONSES = ("multiple_choice", "ranking"), "answering"  # probes
LEAVE_OPTION = "may_decline"  # of the probe `answering`
# The ways of asking.
KNOWN, SAID, WITH_LEAVE = "by likelihood", "by generation", "with leave to decline"
# What a response does, beside `DECLINED`.
CORRECT, WRONG = "correct", "wrong"
RESPONSES = (CORRECT, WRONG, DECLINED)
# What comes of an item, in the order of pictures: each item has one of these.
SAYS_IT, SAYS_ANYWAY = "knows_and_says", "says_and_prefers_another"
KEEPS_IT, SAYS_WRONG, DECLINES = "knows_and_does_not_say", "says_wrong", "declines"
OUTCOMES = (SAYS_IT, SAYS_ANYWAY, KEEPS_IT, SAYS_WRONG, DECLINES)
ATTEMPTED, INDEX = "correct_of_attempted", "index"
PROBABILITY = "probability"  # of the right answers among the options, as the likelihoods have it
WAY_COLUMNS = ["way", *SCORE_COLUMNS, CHANCE]
# The two ways of a paired difference.
SIDES = ("from", "to")
DIFFERENCE_COLUMNS = [
    *("metric", *SIDES, "dimension", "group", "n", "first", "second", "difference", "low", "high"),
    *("gained", "lost", "p", "p_holm"),
]
Names = Mapping[tuple[str, int], Sequence[str]]  # further names of the right answers, by relation and index


def way_of(probe: str, settings: Mapping[str, Any]) -> str:
    """Return the way in which a run with these settings asks; empty where it is none of the three."""
    if probe == OF_RESPONSES:
        return WITH_LEAVE if settings.get("options", {}).get(LEAVE_OPTION) else SAID
    return KNOWN if probe in OF_OPTIONS else ""


def known_facts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of options with whether each is known, chance, and `PROBABILITY`, in place of scores by option."""
    counts = option_counts(rows)
    known = rows.assign(
        **{
            KNOWN: rows["correct"].astype(bool),
            CHANCE: rows["answers"].map(len) / counts,
            PROBABILITY: right_probability(rows) if all_exact(rows) else np.nan,
        }
    )
    return known.drop(columns=[*PER_OPTION], errors="ignore")


def crossed(known: pd.DataFrame, said: Mapping[str, pd.DataFrame], names: Names | None = None) -> pd.DataFrame:
    """Return the items that all ways have, with what each way found in a column of its name.

    `known`: rows of `known_facts`. `said`: rows of responses by way. `names`: aliases, which count where they stand in
    a response in whole words. The column of `known` tells whether the right option is the best, those of `said` hold
    one of `RESPONSES`. Ways that were asked with the same templates are matched by template; otherwise each wording of
    one meets each of the other, and the rows of an item share its weight.
    """
    table = known
    for way, rows in said.items():
        same_templates = set(rows["template"]) == set(known["template"])
        key = ROW_KEY if same_templates else ["relation", "index"]
        responses = rows[ROW_KEY].assign(**{way: responses_of(rows, names or {})})
        table = table.merge(responses if same_templates else responses.drop(columns="template"), on=key)
    if table.empty:
        raise BadInput("These results have no item in common.", "Give results on the same relations and items.")
    return table.assign(template=table.groupby(["relation", "index"]).cumcount())


def responses_of(rows: pd.DataFrame, names: Names) -> pd.Series:
    """Return which of `RESPONSES` each response is.

    It is correct if it names a right answer, whatever the case of its letters, and else declined if it says so.
    """
    correct = rows["correct_normalised"].astype(bool)
    if names:
        keys = zip(rows["relation"], rows["index"], rows["prediction_label"], strict=True)
        correct |= np.array(
            [names_word(response, names.get((relation, index), ())) for relation, index, response in keys]
        )
    kinds = np.select([correct, declined(rows, correct)], [CORRECT, DECLINED], WRONG)
    return pd.Series(kinds, rows.index, dtype=object)


def right_probability(rows: pd.DataFrame) -> pd.Series:
    """Return the probability of the right options, by a softmax over the scores of all options of the row."""
    counts = option_counts(rows)
    parts = [
        pd.Series((shares_of(block) * (right_shares(block, count) > 0)).sum(axis=1), block.index)
        for count in map(int, counts.unique())
        for block in blocks(rows[counts == count], count)
    ]
    return pd.concat(parts).reindex(rows.index)


def know_say_scores(
    table: pd.DataFrame, ways: Sequence[str], dimensions: Sequence[str] = (), penalty: float = 0.5
) -> pd.DataFrame:
    """Return the shares of `share_scores`, and behind them the index of `index_scores`."""
    shares = share_scores(table, ways, dimensions)
    return pd.concat([shares, index_scores(table, ways, dimensions, penalty)], ignore_index=True)


def share_scores(table: pd.DataFrame, ways: Sequence[str], dimensions: Sequence[str] = ()) -> pd.DataFrame:
    """Return tidy scores of what is known, and of each way of answering, with the columns `WAY_COLUMNS`.

    `ways`: those of answering in a table of `crossed`. `chance`: what would be expected where the choice among the
    options is a guess; responses alone have none.
    """
    tables = []
    for dimension in (OVERALL, "relation", *dimensions):
        groups = Groups(table, dimension, members(table, dimension))
        tables.append(_share(groups, "known", table[KNOWN], table[CHANCE]).assign(way=KNOWN))
        for way in ways:
            tables += [scores.assign(way=way) for scores in _scores_of_way(groups, way)]
    return pd.concat(tables, ignore_index=True)[WAY_COLUMNS]


def index_scores(
    table: pd.DataFrame, ways: Sequence[str], dimensions: Sequence[str] = (), penalty: float = 0.5
) -> pd.DataFrame:
    """Return the index of each way of answering, with the columns `WAY_COLUMNS`, and the intervals of a mean.

    `penalty`: what a wrong response costs, from 0 to 1.
    """
    refuse_penalty(penalty)
    ends = ["value", "low", "high", "cluster_low", "cluster_high"]
    tables = []
    for dimension in (OVERALL, "relation", *dimensions):
        for way in ways:
            from_0_to_1 = (_gains(table[way], penalty) + penalty) / (1 + penalty)
            scores = bounded_mean(table, INDEX, from_0_to_1, dimension)
            scores[ends] = scores[ends] * (1 + penalty) - penalty
            tables.append(scores.assign(way=way).assign(**{CHANCE: np.nan}))
    return pd.concat(tables, ignore_index=True)[WAY_COLUMNS]


def _gains(responses: pd.Series, penalty: float) -> pd.Series:
    """Return what each response adds to the index: 1 where it is correct, and less than nothing where it is wrong."""
    return (responses == CORRECT) - penalty * (responses == WRONG)


def refuse_penalty(penalty: float) -> None:
    """Raise `BadInput` for a penalty that is no number from 0 to 1."""
    if not 0 <= penalty <= 1:
        raise BadInput(f"The penalty of a wrong answer cannot be {penalty}.", "Give a number from 0 to 1.")


def outcomes_of(table: pd.DataFrame, way: str) -> pd.Series:
    """Return which of `OUTCOMES` comes of each row of a table of `crossed`, in one way of answering."""
    correct, known = table[way] == CORRECT, table[KNOWN]
    kinds = np.select([correct & known, correct, known, table[way] == WRONG], OUTCOMES[:-1], DECLINES)
    return pd.Series(kinds, table.index, dtype=object)


class Groups(NamedTuple):
    """The rows of a table in the groups of a dimension; `members` are those of breakdowns."""

    table: pd.DataFrame
    dimension: str
    members: pd.DataFrame


def _scores_of_way(groups: Groups, way: str) -> list[pd.DataFrame]:
    table = groups.table
    correct, wrong, declines = (table[way] == response for response in RESPONSES)
    outcomes, chance = outcomes_of(table, way), table[CHANCE]
    responses = {CORRECT: correct, WRONG: wrong, DECLINED: declines}
    guessed = {
        SAYS_IT: correct * chance,
        SAYS_ANYWAY: correct * (1 - chance),
        KEEPS_IT: ~correct * chance,
        SAYS_WRONG: wrong * (1 - chance),
        DECLINES: declines * (1 - chance),
    }
    # Rows that decline are left out here and not in the table, as the other wordings of an item keep their weights.
    attempts = groups.members[~declines.to_numpy()[groups.members["row"]]]
    return [
        *(_share(groups, name, outcomes == name, values) for name, values in guessed.items()),
        *(_share(groups, name, values) for name, values in responses.items()),
        *([_share(groups._replace(members=attempts), ATTEMPTED, correct)] if len(attempts) else []),
    ]


def _share(groups: Groups, metric: str, values: pd.Series, guessed: pd.Series | None = None) -> pd.DataFrame:
    """Return a share in each group; `guessed` is for each row what a guess among the options would make of it."""
    table, dimension, of_groups = groups
    scores = proportion(table, metric, values, dimension, of_groups)
    chance = np.nan if guessed is None else means(of_groups, {CHANCE: guessed}, dimension)["value"]
    return scores.assign(**{CHANCE: chance})


def way_differences(
    table: pd.DataFrame, ways: Sequence[str], dimensions: Sequence[str] = (), penalty: float = 0.5
) -> pd.DataFrame:
    """Compare the ways item by item: columns `DIFFERENCE_COLUMNS`, with those of paired comparisons.

    What is said is compared with what is known, and with leave to decline with what is said without it. A difference of
    the index has an interval and no test.
    """
    index = index_differences(table, ways, penalty, (OVERALL, "relation", *dimensions))
    parts = [share_differences(table, ways, dimensions), index]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def share_differences(table: pd.DataFrame, ways: Sequence[str], dimensions: Sequence[str] = ()) -> pd.DataFrame:
    """Return the rows of `way_differences` without those of the index."""
    tables = []
    for metric, *sides in _comparisons(ways):
        first, second = (_marked(table, side, metric)["marked"] for side in sides)
        for dimension in (OVERALL, "relation", *dimensions):
            figures = paired_means(table, first, second, dimension)
            named = dict(zip(SIDES, sides, strict=True))
            tables.append(figures.assign(metric=metric, p_holm=holm(figures["p"]), **named))
    return pd.concat(tables, ignore_index=True)[DIFFERENCE_COLUMNS]


def _comparisons(ways: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the metrics of `_marked`, each with the two ways that are compared by it."""
    against_known = [("right", KNOWN, way) for way in ways]
    return against_known + [(response, ways[0], ways[1]) for response in RESPONSES if len(ways) > 1]


def index_differences(
    table: pd.DataFrame, ways: Sequence[str], penalty: float, dimensions: Sequence[str] = (OVERALL,)
) -> pd.DataFrame:
    """Return the paired difference of the index with leave to decline from that without; none where one is missing."""
    refuse_penalty(penalty)
    if len(ways) < 2:
        return pd.DataFrame(columns=DIFFERENCE_COLUMNS)
    first, second = (_gains(table[way], penalty) for way in ways)
    tables = [paired_means(table, first, second, dimension, 1 + penalty) for dimension in dimensions]
    compared = pd.concat(tables, ignore_index=True).drop(columns="p")
    named = compared.assign(metric=INDEX, **dict(zip(SIDES, ways, strict=True)))
    return named.reindex(columns=DIFFERENCE_COLUMNS)


def _marked(table: pd.DataFrame, way: str, metric: str) -> pd.DataFrame:
    """Return the rows with a column that tells which are right, or which have the response that the metric counts."""
    values = table[way] if way == KNOWN else table[way] == (CORRECT if metric == "right" else metric)
    return table.assign(marked=values.astype(bool))


def model_differences(first: pd.DataFrame, second: pd.DataFrame, ways: Sequence[str]) -> pd.DataFrame:
    """Compare two models, such as a base model and its instruct version, on the items that both tables have.

    Each row is the overall paired difference of what is known, or of one kind of response in one way of answering.
    """
    rows = []
    for way, metric in [(KNOWN, "right"), *((way, response) for way in ways for response in RESPONSES)]:
        sides = {"first": _marked(first, way, metric), "second": _marked(second, way, metric)}
        one, other = common_rows(sides, "marked").values()
        rows.append({"way": way, "metric": metric, **overall_difference(one, other, Correctness("marked"))})
    return pd.DataFrame(rows)


def said_by_known(table: pd.DataFrame, way: str) -> pd.DataFrame:
    """Return how often what is said is correct, in bins by the probability that the likelihoods give to right answers.

    Bins have equally many rows, and columns `confidence` (the mean probability), `accuracy`, `items`, `low` and `high`;
    there are none where options have bounds in place of scores.
    """
    if table[PROBABILITY].isna().any():
        return pd.DataFrame(columns=CURVE_COLUMNS)
    return calibration_curve(table.assign(correct=table[way] == CORRECT), table[PROBABILITY])
