"""How well a model knows a fact by its exposure: how often its training data state it, as `clozeboard exposure` counts.

Where no corpus is known, the popularity of its subject stands in: on how many sites of Wikimedia that has an article,
or how often people read the article of one Wikipedia.
The measures are those of Christoph, Ploner, Haller and Akbik (2025, "From Data to Knowledge: Evaluating How Efficiently
Language Models Learn Facts", arXiv:2506.16912) and of their public code: accuracy in frequency buckets that double in
width, WASB (the weighted accuracy score on buckets), and the exponent α of their power scaling function. By it, a model
knows a fact that was stated x times with the probability 1 - (L₀ + x₀ / (1 + x)^α). docs/methods/exposure.md has
worked examples.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from probing.analysis.accuracy import SCORE_COLUMNS, tidy
from probing.analysis.breakdowns import ALL, OVERALL, item_weights
from probing.analysis.intervals import mean_of_shares
from probing.analysis.option_scores import has_options, option_counts
from probing.arrays import Floats, Ints
from probing.benchmark import PAGE_VIEWS, page_views_group
from probing.errors import BadInput

# The columns of rows: how often the fact is stated, and two tags that follow from it; the sitelinks of its subject, and
# their tag; the views of the subject's article, whose tag is `PAGE_VIEWS`.
COUNT, EXPOSURE, STATED = "exposure_count", "exposure", "stated"
SITELINKS, POPULARITY = "sitelinks", "popularity"
YEARLY_VIEWS = "yearly_views"
VIEWS_OF = "views_of"  # the column of the file, and the key of records, with the Wikipedia and the year of views
COUNTED_COLUMNS = frozenset({COUNT, EXPOSURE, STATED, SITELINKS, POPULARITY, YEARLY_VIEWS, PAGE_VIEWS})
NUMBERS = frozenset({COUNT, SITELINKS, YEARLY_VIEWS})  # which are no tags themselves
# The columns of the files, and the tags that they become. Only counts of a corpus are known of every fact.
TAG_FILES = {"count": EXPOSURE, SITELINKS: POPULARITY, YEARLY_VIEWS: PAGE_VIEWS}
LAST = 13  # the buckets of stated facts begin with 2^0, 2^1, …, 2^13, as in the authors' code
LAST_OF_SITELINKS = 8  # no item has many more than 2^8 sitelinks
POWERS_OF_VIEWS = 10 ** np.arange(12)  # no article is read more often in a year
STATED_WORDS = ["not stated", "stated"]
WASB, WASB_CHANCE, ALPHA = "wasb", "wasb_chance", "exposure_alpha"  # metrics
DECAY = 0.05  # λ of the weights exp(-λ · lower end) of the buckets, in the authors' code
STEEPEST = 100.0  # the largest α; with it, a fact that was stated once is known
HALF_CHI_SQUARE = 1.920729410347062  # half of the 95 % point of χ² with one degree of freedom
TOLERANCES = (1e-6, 1e-5)  # absolute and relative, of the ends of an interval
SMALLEST = 1e-10  # a probability is at least so far from 0 and 1, as in the authors' code
NEXT_STEP = (
    "Count with this benchmark: clozeboard exposure CORPUS --benchmark NAME --out FILE, or "
    "clozeboard curate popularity NAME --out FILE."
)


def bucket_names(last: int) -> list[str]:
    """Return the names of buckets that double in width, of which the last begins with 2^last."""
    return ["0", "1", *(f"{2**power}–{2 ** (power + 1) - 1}" for power in range(1, last)), f"{2**last}+"]


BUCKETS, SITELINKS_BUCKETS = bucket_names(LAST), bucket_names(LAST_OF_SITELINKS)
VIEWS_BUCKETS = [page_views_group(views) for views in (0, *POWERS_OF_VIEWS.tolist())]


def read_counts(path: Path) -> pd.DataFrame:
    """Read a table of `clozeboard exposure` or `curate popularity`; raise `BadInput` where the file is none.

    The columns are at least `relation`, `index`, and one of `TAG_FILES`. Sitelinks and views are empty where they are
    not known.
    """
    texts = {"relation": str, "subject": str}
    try:
        if path.suffix == ".parquet":
            table = pd.read_parquet(path)
        elif path.suffix == ".jsonl":
            table = pd.read_json(path, lines=True, dtype=texts)
        else:
            unknown = {SITELINKS: "", YEARLY_VIEWS: ""}
            table = pd.read_csv(path, dtype=texts, keep_default_na=False, na_values=unknown)
        types = {name: "int64" if name == "count" else "Int64" for name in TAG_FILES if name in table}
        table = table.astype({"relation": str, "index": "int64", **(types or {"count": "int64"})})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} cannot be read as counts of facts ({error}).", NEXT_STEP) from error
    if (table[list(types)] < 0).any(axis=None) or table.duplicated(["relation", "index"]).any():
        raise BadInput(f"{path} has a negative count, or a fact twice.", NEXT_STEP)
    return table


def views_source(counts: pd.DataFrame) -> str:
    """Return of which Wikipedia and year the views in a table of `read_counts` are; empty where it does not say so."""
    return ", ".join(sorted({*counts[VIEWS_OF].astype(str)})) if VIEWS_OF in counts else ""


def counted_in_words(record: Mapping[str, Any]) -> list[str]:
    """Return a sentence on what the page views of a result are; nothing where it has none, or does not say so."""
    source = record.get(VIEWS_OF)
    return [f"Page views are those of the subject's article in {source}."] if source else []


def with_counts(rows: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with what a table of `read_counts` says of the fact of each.

    This is how often it is stated, the bucket of that, and whether it is stated at all; or the sitelinks of its subject
    or the views of its article, and their bucket. Raises `BadInput` where the table lacks a fact or has another subject
    for it.
    """
    keys = ["relation", "index"]
    asked, suffixes = rows[[*keys, "subject"]], ("", "_counted")
    matched = asked.merge(counted, how="left", on=keys, suffixes=suffixes, indicator="found", validate="m:1")
    if missing := int((matched["found"] == "left_only").sum()):
        raise BadInput(f"The counts lack the facts of {missing:,} of {len(rows):,} rows.", NEXT_STEP)
    if "subject_counted" in matched and (matched["subject_counted"] != matched["subject"]).any():
        raise BadInput("The counts are those of other facts: subjects differ.", NEXT_STEP)
    columns: dict[str, Any] = {}
    if "count" in matched:
        counts = matched["count"].to_numpy(np.int64)
        stated = _ordered(np.minimum(counts, 1), STATED_WORDS)
        columns |= {COUNT: counts, EXPOSURE: _ordered(buckets(counts), BUCKETS), STATED: stated}
    if SITELINKS in matched:
        links = matched[SITELINKS].astype("Int64")
        places = buckets(_filled(links), LAST_OF_SITELINKS)
        columns |= {SITELINKS: links.array, POPULARITY: _ordered_where_known(links, places, SITELINKS_BUCKETS)}
    if YEARLY_VIEWS in matched:
        views = matched[YEARLY_VIEWS].astype("Int64")
        places = np.searchsorted(POWERS_OF_VIEWS, _filled(views), side="right")
        columns |= {YEARLY_VIEWS: views.array, PAGE_VIEWS: _ordered_where_known(views, places, VIEWS_BUCKETS)}
    return rows.assign(**columns)


def _filled(numbers: pd.Series) -> Ints:
    """Return the numbers, and 0 where they are not known."""
    return np.asarray(numbers.fillna(0), np.int64)


def _ordered_where_known(numbers: pd.Series, places: Ints, names: list[str]) -> Any:
    """Return a column of the names at these places, which is empty where the numbers are not known."""
    return _ordered(np.where(numbers.isna(), -1, places), names)


def _ordered(codes: Ints, names: list[str]) -> Any:
    """Return a column of names whose groups keep their order."""
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(names, ordered=True))


def buckets(counts: Ints, last: int = LAST) -> Ints:
    """Return the place among the `bucket_names` of each count."""
    return np.minimum(np.frexp(counts)[1], last + 1).astype(np.int64)


class Recall(NamedTuple):
    """How many of the facts that are stated `counts` times there are, and how many of them a model knows.

    Several templates of a fact share its weight of 1, so that `right` may be fractional.
    """

    counts: Ints
    facts: Floats
    right: Floats

    @classmethod
    def of(cls, rows: pd.DataFrame, column: str) -> "Recall":
        """Sum up rows with the column `COUNT`; `column` says which are right, and is empty where one does not count."""
        kept = rows[rows[column].notna()]
        counts, places = np.unique(kept[COUNT].to_numpy(np.int64), return_inverse=True)
        weights = item_weights(kept).to_numpy()
        right = weights * kept[column].to_numpy(dtype=float)
        facts, known = (np.bincount(places, values).astype(np.float64) for values in (weights, right))
        return cls(counts, facts, known)


class Estimate(NamedTuple):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


def exposure_scores(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return `WASB` and `ALPHA` as tidy scores, whose `n` are the stated facts; none where no fact is stated.

    `WASB_CHANCE` is what guesses among the options reach, where rows have options. α is that of the authors' PSF₀,₁
    (L₀ = 0 and x₀ = 1), which depends on no other model. It is left out where the facts do not tell how large it may
    be.
    """
    recall = Recall.of(rows, column)
    if not recall.counts.any():
        return pd.DataFrame(columns=SCORE_COLUMNS)
    estimates = {WASB: weighted_accuracy(recall), ALPHA: fit_alphas([recall], (0, 1)).alphas[0]}
    n = float(recall.facts[recall.counts > 0].sum())
    bounded = {name: estimate for name, estimate in estimates.items() if estimate.high < inf}
    if has_options(rows):
        guesses = rows[rows[column].notna()].assign(guess=rows["answers"].map(len) / option_counts(rows))
        bounded[WASB_CHANCE] = Estimate(weighted_accuracy(Recall.of(guesses, "guess")).value, nan, nan)
    return tidy((name, OVERALL, ALL, value, n, low, high) for name, (value, low, high) in bounded.items())


def weighted_accuracy(recall: Recall) -> Estimate:
    """Return the weighted accuracy score on buckets: the mean of the accuracies of all buckets of stated facts.

    The weight of a bucket is exp(-0.05 · its lower end). Empty buckets do not count.
    """
    numbers, places = np.unique(buckets(recall.counts), return_inverse=True)
    facts, right = (np.bincount(places, values).astype(np.float64) for values in (recall.facts, recall.right))
    stated = numbers > 0
    shares, weights = right[stated] / facts[stated], np.exp(-DECAY * 2.0 ** (numbers[stated] - 1))
    return Estimate(float(np.average(shares, weights=weights)), *mean_of_shares(shares, facts[stated], weights))


@dataclass(frozen=True)
class PowerScaling:
    """The power scaling functions of some models, with L₀ (`irreducible`) and x₀ (`initial`) in common.

    `alphas`: α of each model; its interval is infinite upwards where no α is too large.
    """

    alphas: tuple[Estimate, ...]
    irreducible: float
    initial: float


def fit_alphas(models: Sequence[Recall], fixed: tuple[float, float] | None = None) -> PowerScaling:
    """Fit α of each model by maximum likelihood, as if the facts were independent.

    `fixed`: L₀ and x₀, which by default are fitted to all models together. The intervals are those of the profile
    likelihood, so that they cover what is uncertain about L₀ and x₀. Raises `BadInput` where a model has no stated
    facts, or where L₀ and x₀ are no probabilities that add up to 1 at most.
    """
    if not all(model.counts.any() for model in models):
        raise BadInput("No fact is stated in the corpus.", "Count in the corpus that the model was trained on.")
    bounds = [(0.0, STEEPEST)] * len(models) + _common_bounds(fixed)
    best = _minimum(models, bounds, np.array([0.1] * len(models) + [0.99, 0.9]))

    def excess(alpha: float, place: int) -> float:
        """Return how much the loss grows if one α is fixed and all else is fitted, less what the interval allows."""
        others = _minimum(models, [*bounds[:place], (alpha, alpha), *bounds[place + 1 :]], best.x)
        return float(others.fun - best.fun) - HALF_CHI_SQUARE

    estimates = []
    for place, alpha in enumerate(map(float, best.x[: len(models)])):
        low, high = (_root(excess, alpha, end, place) for end in (0.0, STEEPEST))
        estimates.append(Estimate(alpha, 0.0 if low is None else low, inf if high is None else high))
    reached, share = map(float, best.x[len(models) :])
    return PowerScaling(tuple(estimates), 1 - reached, reached * share)


def _root(excess: Callable[[float, int], float], inside: float, end: float, place: int) -> float | None:
    """Return where between a value inside of an interval and the end of the scale the excess is 0; None if nowhere."""
    if inside == end or excess(end, place) <= 0:
        return None
    return float(scipy.optimize.brentq(excess, *sorted((inside, end)), (place,), *TOLERANCES))


def _common_bounds(fixed: tuple[float, float] | None) -> list[tuple[float, float]]:
    """Return the bounds of 1 - L₀ and of x₀ / (1 - L₀), each of which may be anything from 0 to 1."""
    if fixed is None:
        return [(0.0, 1.0)] * 2
    irreducible, initial = fixed
    if not (irreducible >= 0 <= initial and irreducible + initial <= 1 and irreducible < 1):
        raise BadInput("L₀ and x₀ must be at least 0 and add up to 1 at most.", "Choose others, such as 0 and 0.9.")
    reached = 1 - irreducible
    return [(reached, reached), (initial / reached, initial / reached)]


def _minimum(models: Sequence[Recall], bounds: Sequence[tuple[float, float]], start: Floats) -> Any:
    """Minimise the loss within the bounds; a value whose bounds are equal is fixed."""
    options = {"ftol": 1e-12, "gtol": 1e-8}
    within = np.clip(start, *np.array(bounds).T)
    return scipy.optimize.minimize(
        _loss, within, args=(models,), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )


def _loss(values: Floats, models: Sequence[Recall]) -> tuple[float, Floats]:
    """Return the negative log-likelihood and its gradient; `values`: all α, 1 - L₀ and x₀ / (1 - L₀)."""
    reached, share = values[-2:]
    loss, gradient = 0.0, np.zeros(len(values))
    for place, (alpha, (counts, facts, right)) in enumerate(zip(values, models, strict=False)):
        decay = (1.0 + counts) ** -alpha
        known = np.clip(reached * (1 - share * decay), SMALLEST, 1 - SMALLEST)
        loss -= float(right @ np.log(known) + (facts - right) @ np.log1p(-known))
        slope = (facts - right) / (1 - known) - right / known
        gradient[place] = slope @ (reached * share * decay * np.log1p(counts))
        gradient[-2] += slope @ (1 - share * decay)
        gradient[-1] -= slope @ (reached * decay)
    return loss, gradient
