"""The uniform baseline: what each probe makes of a model without knowledge."""

import numpy as np
import pandas as pd
import pytest

from probing.baselines import UniformModel
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.language_model import LanguageModel, Scoring
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


def test_the_chance_of_multiple_choice_is_right_options_over_options() -> None:
    benchmark = open_benchmark("starter")
    scores = scores_of("multiple_choice", benchmark)
    chance = scores[(scores.metric == "chance") & (scores.dimension == "overall")]["value"].item()
    items = [(relation, item) for relation in benchmark.relations for item in relation.items]
    options = [(len(item.answers), len(relation.options_of(item))) for relation, item in items]
    assert chance == pytest.approx(np.mean([right / count for right, count in options]))


def scores_of(probe_name: str, benchmark: Benchmark) -> pd.DataFrame:
    probe = PROBES[probe_name]()
    settings, model = Settings(probe=probe_name), UniformModel()
    rows = [row for relation in benchmark.relations for row in probe.rows(model, relation, 0, settings)]
    return probe.scores(probe.frame(rows))
