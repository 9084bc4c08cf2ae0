"""Every table and figure that is declared shows something: small models on small benchmarks fill it."""

from dataclasses import replace

import pytest

from probing.papers import paper_runs
from probing.papers.declarations import NAMES, Exhibit, Paper, Way, models_of, printed_figures, read_paper, sizes
from probing.papers.exhibits import CHARTS, TEXTS, all_figures, as_latex, paper_table
from probing.papers.paper_runs import Choices, measure
from probing.plan import plan

EXHIBITS = [(paper, exhibit) for paper in map(read_paper, NAMES) for exhibit in paper.exhibits]
IDS = [f"{paper.name} {exhibit.number}" for paper, exhibit in EXHIBITS]

# Where not every metric can be measured here: nobody has judged grammar, and a random model has nothing to lose.
MEASURABLE = {
    "geography Section 2.2": ("leaky", "repeated_word"),
    "bear Figure 5": ("relative_accuracy_lm_pub_quiz", "relative_accuracy_bear"),
    "bear Table 2": ("relative_accuracy_lm_pub_quiz",),
}

# A masked model writes no answers, and the small generator has no room for the questions in Arabic.
NOT_MEASURABLE = {"Table D3": ("encoder on chat-", "generator on chat-ar: Not a single item can be asked")}


# Of the larger benchmarks only these relations are asked.
FEW_RELATIONS = {"dlama": ["P36"], "geography": ["city_country", "river_countries"]}


# Items of a relation that an exhibit needs: for a correlation over relations, and for a major fact type.
ENOUGH = {"s-test": 12, "geography": 20}


def small(way: Way) -> Way:
    """Show as many examples as the models of the tests have room for, and ask and draw little."""
    shots = {"shots": 2} if way.settings.get("prompting") == "few-shot" else {}
    few = FEW_RELATIONS.get(way.benchmark) if way.settings else None
    relations = {"relations": few} if few else {}
    repetitions = {"repetitions": 3} if way.sampling else {}
    settings = {**way.settings, **shots, **relations}
    return replace(way, settings=settings, sampling={**way.sampling, **repetitions})


def measured_ways(exhibit: Exhibit) -> tuple[Way, ...]:
    """Return the ways of one pair of cultures in two languages, and of the first and the last instruction, as small."""
    chosen = {"pair": ["arab-west"], "language": ["ar", "en"], "instruction": [1, 5]}
    ways = [
        way
        for way in exhibit.ways
        if all(way.settings.get(name, values[0]) in values for name, values in chosen.items())
    ]
    return tuple(map(small, ways or exhibit.ways))


@pytest.mark.slow
@pytest.mark.parametrize(("paper", "exhibit"), EXHIBITS, ids=IDS)
def test_small_models_fill_every_table_and_figure(paper: Paper, exhibit: Exhibit, choices: Choices) -> None:
    enough = ENOUGH.get(paper.name, choices.sample)
    measurement = measure(replace(exhibit, ways=measured_ways(exhibit)), replace(choices, sample=enough))
    if exhibit.texts:
        assert len(TEXTS[exhibit.texts](measurement.runs)) > 2
        return
    cells = measurement.cells
    if not exhibit.measure or exhibit.facts:
        assert exhibit.facts or (exhibit.needs and cells["printed"].notna().any())
        return
    unexpected = [
        problem for problem in measurement.problems if not problem.startswith(NOT_MEASURABLE.get(exhibit.number, ()))
    ]
    assert unexpected == []
    assert cells["value"].notna().any()
    for metric in MEASURABLE.get(f"{paper.name} {exhibit.number}", exhibit.scores):
        assert cells.loc[cells["metric"] == metric, "value"].notna().any(), (metric, measurement.problems)
    table = paper_table(paper, exhibit, cells)
    assert "measured" in set(table[""])
    assert "\\toprule" in as_latex(paper, exhibit, table)
    assert len(all_figures(exhibit, cells)) == len(cells)
    if exhibit.chart:
        assert len(CHARTS[exhibit.chart](paper, exhibit, cells).data) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("paper", "exhibit"), EXHIBITS, ids=IDS)
def test_every_way_of_every_table_and_figure_can_be_planned(paper: Paper, exhibit: Exhibit, choices: Choices) -> None:
    """Thus those as well that are not measured here."""
    for way in exhibit.ways:
        if way.settings and not way.sampling:
            assert plan(
                paper_runs.open_benchmark(choices.data.get(way.benchmark, way.benchmark)), dict(way.settings)
            ).parts


@pytest.mark.slow
@pytest.mark.parametrize("number", ["Figure 4", "Figure 6"])
def test_all_options_have_their_names_in_a_sample(number: str, choices: Choices) -> None:
    exhibit = next(one for one in read_paper("bear").exhibits if one.number == number)
    measurement = measure(exhibit, replace(choices, sample=1))
    labels = {label for result in measurement.runs.results.values() for label in result.option_labels("P30")}
    assert set(measurement.cells["group"]) == labels


@pytest.mark.parametrize(("paper", "exhibit"), EXHIBITS, ids=IDS)
def test_every_table_and_figure_has_printed_figures_or_says_why_not(paper: Paper, exhibit: Exhibit) -> None:
    shown = len(printed_figures(exhibit)) or exhibit.texts or exhibit.facts
    assert shown or exhibit.differs


@pytest.mark.parametrize(("paper", "exhibit"), EXHIBITS, ids=IDS)
def test_the_size_of_every_model_is_known(paper: Paper, exhibit: Exhibit) -> None:
    models = {model for way in exhibit.ways for model in models_of(exhibit, way)}
    assert models <= sizes().keys()
