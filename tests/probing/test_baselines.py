"""The uniform baseline: what each probe makes of a model without knowledge."""

import numpy as np
import pandas as pd
import pytest

from probing.analysis.accuracy import BASELINES, CHANCE, MAJORITY
from probing.analysis.breakdowns import OVERALL
from probing.baselines import SCORE_KEY, UniformModel, baseline_scores, with_baselines
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.language_model import LanguageModel, Scoring
from probing.plan import plan
from probing.probes import PROBES
from probing.settings import Settings
from probing.template import prompt

REQUESTS = [(prompt("[X] lies in [Y].", "Oslo"), ("Norway", "Peru", "Spain")), (prompt("[Y]", ""), ("Rome",))]
BENCHMARKS = {
    "multiple_choice": "starter",
    "similarity": "starter",
    "ranking": "culture",
    "specificity": "pairs",
    "cloze": "geography",
    "perplexity": "graph",
    "answering": "culture",
}


def test_all_options_of_a_request_have_the_same_exact_score() -> None:
    model: LanguageModel = UniformModel()
    scores = list(model.score(REQUESTS, Scoring()))
    assert [result.reduce("sum").tolist() for result in scores] == [[0, 0, 0], [0]]
    assert all(result.exact.all() for result in scores)


def test_all_options_share_the_first_rank_at_a_blank_that_ranks_no_words() -> None:
    blanks = list(UniformModel().fill(REQUESTS, 10))
    assert [blank.options.tolist() for blank in blanks] == [[0, 0, 0], [0]]
    assert [blank.ranks.tolist() for blank in blanks] == [[1, 1, 1], [1]]
    assert all(blank.tokens == () and blank.log_probs.size == 0 for blank in blanks)


def test_it_writes_nothing_and_embeds_all_texts_alike() -> None:
    assert list(UniformModel().generate(["Oslo is", "Rome is"], 5)) == ["", ""]
    first, second = UniformModel().embed(["Oslo", "Rome"])
    assert np.array_equal(first, second)


def test_every_probe_is_tried() -> None:
    assert BENCHMARKS.keys() == PROBES.keys()


@pytest.mark.slow
@pytest.mark.parametrize(("probe_name", "slug"), BENCHMARKS.items())
def test_every_probe_runs_with_it(probe_name: str, slug: str) -> None:
    assert len(scores_of(probe_name, open_benchmark(slug).select(limit=3)))


@pytest.mark.slow
@pytest.mark.parametrize(("probe_name", "slug"), BENCHMARKS.items())
def test_baselines_of_questions_are_those_of_a_model_without_knowledge(probe_name: str, slug: str) -> None:
    benchmark = open_benchmark(slug)
    measured = scores_of(probe_name, benchmark).set_index(SCORE_KEY)
    baselines = baseline_scores(plan(benchmark, {"probe": probe_name})).set_index(SCORE_KEY)
    of_baselines = measured[measured.index.get_level_values("metric").isin((CHANCE, *BASELINES))]
    assert set(of_baselines.index) <= set(baselines.index)
    for column in ("value", "n"):
        assert baselines.loc[of_baselines.index, column].to_dict() == pytest.approx(of_baselines[column].to_dict())


@pytest.mark.parametrize("probe_name", ["multiple_choice", "similarity", "cloze"])
def test_a_sample_has_the_baselines_of_all_questions(probe_name: str) -> None:
    benchmark = open_benchmark("geography" if probe_name == "cloze" else "starter")
    whole = plan(benchmark, {"probe": probe_name})
    part = plan(benchmark, {"probe": probe_name, "sample": 2})
    rows = rows_of(probe_name, part.benchmark)
    alone = part.probe.scores(rows)
    scores = with_baselines(alone, rows, part)
    assert value_of(alone, MAJORITY) > value_of(scores, MAJORITY) == value_of(baseline_scores(whole), MAJORITY)
    others = ~scores["metric"].isin((CHANCE, *BASELINES))
    pd.testing.assert_frame_equal(scores[others], alone[others])


def test_the_chance_of_multiple_choice_is_right_options_over_options() -> None:
    benchmark = open_benchmark("starter")
    scores = scores_of("multiple_choice", benchmark)
    chance = scores[(scores.metric == "chance") & (scores.dimension == "overall")]["value"].item()
    items = [(relation, item) for relation in benchmark.relations for item in relation.items]
    options = [(len(item.answers), len(relation.options_of(item))) for relation, item in items]
    assert chance == pytest.approx(np.mean([right / count for right, count in options]))


def scores_of(probe_name: str, benchmark: Benchmark) -> pd.DataFrame:
    return PROBES[probe_name]().scores(rows_of(probe_name, benchmark))


def rows_of(probe_name: str, benchmark: Benchmark) -> pd.DataFrame:
    """Return the rows that a model without knowledge gives to a benchmark's first templates."""
    probe = PROBES[probe_name]()
    settings, model = Settings(probe=probe_name), UniformModel()
    rows = [row for relation in benchmark.relations for row in probe.rows(model, relation, 0, settings)]
    return probe.frame(rows)


def value_of(scores: pd.DataFrame, metric: str) -> float:
    """Return the overall value of a metric."""
    return float(scores.loc[(scores.metric == metric) & (scores.dimension == OVERALL), "value"].item())
