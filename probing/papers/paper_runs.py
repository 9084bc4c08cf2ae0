"""The runs of a paper's exhibits: what they need, in lines for people, and their results, which later calls find again.

All runs are those of `probing.study`, below one folder for a paper, so that tables that show the same runs share them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

import probing
from probing.benchmark import Benchmark
from probing.catalog import CATALOG, benchmarks_folder, download, known_benchmark, open_benchmark
from probing.curation.graph_samples import sample_graph
from probing.errors import BadInput, ProbingError
from probing.papers.declarations import KEY, Exhibit, Way, models_of, printed_figures, sizes, step_name
from probing.papers.exhibits import MEASURED, beside
from probing.papers.measures import OF_BENCHMARKS, ExhibitRuns, measured_scores
from probing.plan import plan
from probing.results.result import Result
from probing.studies.study_results import Study

Key = tuple[str, str]  # a model and the name of a way


@dataclass(frozen=True)
class Choices:
    """What a reader chooses for all exhibits of a call.

    `models`: in place of the paper's. `data`: folders of benchmarks by slug, in place of those that are downloaded.
    `sample`: ask so many items of each relation, or draw so many true sentences of a graph, in place of all.
    `corrector`: the model that corrects the grammar of a graph's sentences, in place of the paper's; "none" for none.
    """

    out: Path
    models: tuple[str, ...] = ()
    data: Mapping[str, Path] = field(default_factory=dict)
    sample: int | None = None
    device: str = "auto"
    corrector: str = ""
    progress: bool = True


@dataclass(frozen=True)
class MeasuredExhibit:
    """What was measured for an exhibit, and why some of it was not.

    `cells`: `KEY` and `MEASURED`, with `printed` and `reference` where the paper prints a figure, and a `name`.
    `notes`: what the benchmarks say about themselves, such as whose wordings they have.
    """

    cells: pd.DataFrame
    runs: ExhibitRuns
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def measure(exhibit: Exhibit, choices: Choices) -> MeasuredExhibit:
    """Measure an exhibit as chosen, and put its figures beside the printed ones.

    What cannot be had, such as data without a download or a model that does not load, is a problem and no exception.
    """
    benchmarks, problems = _benchmarks(exhibit, choices)
    results: dict[Key, Result] = {}
    for models, ways in _studies(exhibit, choices, list(benchmarks)):
        try:
            study = _study(models, {way: benchmarks[way] for way in ways}, choices)
        except ProbingError as error:
            problems.append(str(error))
            continue
        results |= {(pair.model, pair.benchmark): study.result(*pair) for pair in study.folders}
        problems += [f"{pair}: {reason}" for pair, reason in study.failures.items()]
    runs = ExhibitRuns({way.name: benchmark for way, benchmark in benchmarks.items()}, results)
    printed = printed_figures(exhibit)
    measured = pd.DataFrame(columns=[*KEY, *MEASURED])
    try:
        measured = measured_scores(exhibit.measure, runs) if exhibit.measure else measured
    except ProbingError as error:
        problems.append(str(error))
    cells = beside(printed, _of_exhibit(measured, exhibit, runs))
    notes = [note for benchmark in benchmarks.values() for note in benchmark.notes]
    return MeasuredExhibit(cells, runs, tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(notes)))


def asks(exhibit: Exhibit) -> bool:
    """Whether the exhibit is about answers of models, and not about benchmarks alone."""
    return bool(exhibit.measure) and exhibit.measure not in OF_BENCHMARKS


def _benchmarks(exhibit: Exhibit, choices: Choices) -> tuple[dict[Way, Benchmark], list[str]]:
    """Return the benchmark of each way, and why some have none."""
    benchmarks, problems = {}, []
    ways = exhibit.ways if exhibit.measure or exhibit.texts else ()
    for way in (way for way in ways if way.benchmark in choices.data or not way.optional):
        try:
            benchmark = _benchmark(way, choices)
            narrowed = way.settings and not asks(exhibit)
            benchmarks[way] = (
                plan(benchmark, {"probe": benchmark.probe, **way.settings}).benchmark if narrowed else benchmark
            )
        except (ProbingError, OSError) as error:
            problems.append(str(error))
    return benchmarks, problems


def _benchmark(way: Way, choices: Choices) -> Benchmark:
    folder = choices.data.get(way.benchmark)
    if way.sampling:
        return open_benchmark(_sampled(way, folder or _downloaded(way.benchmark), choices))
    if folder:
        return replace(open_benchmark(folder), slug=way.benchmark)
    _downloaded(way.benchmark)
    return open_benchmark(way.benchmark)


def _downloaded(slug: str) -> Path:
    if slug not in CATALOG:
        step = f"Give the folder of your copy: --data {slug}=FOLDER."
        raise BadInput(f"The benchmark {slug} cannot be downloaded.", step)
    target = benchmarks_folder() / slug
    if known_benchmark(slug).downloads:
        download(slug, target)
    return target


def _sampled(way: Way, graph: Path, choices: Choices) -> Path:
    """Return the folder of a way's sentences, which are drawn once for all models."""
    sampling = {**way.sampling, **({"samples": choices.sample} if choices.sample else {})}
    corrector = choices.corrector or str(sampling.get("correct", ""))
    sampling["correct"] = "" if corrector == "none" else corrector
    name = "-".join([way.name, *(["uncorrected"] if not sampling["correct"] else [])])
    folder = _below(choices, "sentences") / name
    return folder if folder.is_dir() else sample_graph(graph, folder, **sampling)


def _below(choices: Choices, name: str) -> Path:
    return choices.out / (f"{name}-{choices.sample}" if choices.sample else name)


def _studies(exhibit: Exhibit, choices: Choices, ways: Sequence[Way]) -> list[tuple[list[str], list[Way]]]:
    """Return the ways of the exhibit by the models that they are put to, so that each model is loaded seldom."""
    together: dict[tuple[str, ...], list[Way]] = {}
    for way in ways:
        models = choices.models or tuple(models_of(exhibit, way))
        together.setdefault(models, []).append(way)
    return [(list(models), own) for models, own in together.items() if models and asks(exhibit)]


def _study(models: list[str], benchmarks: Mapping[Way, Benchmark], choices: Choices) -> Study:
    sample = {"sample": choices.sample} if choices.sample else {}
    with_ways = [
        {"benchmark": benchmark, "name": way.name, **({} if way.sampling else sample), **way.settings}
        for way, benchmark in benchmarks.items()
    ]
    out = _below(choices, "runs")
    return probing.study(models, with_ways, out=out, device=choices.device, progress=choices.progress)


def _of_exhibit(measured: pd.DataFrame, exhibit: Exhibit, runs: ExhibitRuns) -> pd.DataFrame:
    shown = {(metric, dimension) for metric, dimensions in exhibit.scores.items() for dimension in dimensions}
    keys = zip(measured["metric"], measured["dimension"], strict=True)
    kept = measured[pd.Series([key in shown for key in keys], index=measured.index, dtype=bool)]
    if exhibit.steps:
        numbers = {model: step_name(number) for number, model in enumerate(runs.models)}
        kept = kept.assign(model=kept["model"].map(numbers))
    return kept[[*KEY, *MEASURED]]


def needs(exhibit: Exhibit) -> list[str]:
    """Return a line for each thing that an exhibit needs, and why it has no printed figures where it has none."""
    needed = [
        *_data_needed(exhibit),
        *_models_needed(exhibit),
        *([f"beside that: {exhibit.needs}"] if exhibit.needs else []),
    ]
    has_printed = len(printed_figures(exhibit)) or exhibit.texts or exhibit.facts
    missing = [] if has_printed else [f"printed figures: none. {exhibit.differs}".rstrip()]
    return [*needed, *missing] or ["nothing: the paper states it"]


def _data_needed(exhibit: Exhibit) -> Iterator[str]:
    for slug, optional in dict.fromkeys((way.benchmark, way.optional) for way in exhibit.ways):
        known = CATALOG[slug]
        origin = f"downloaded from {known.source}; licence: {known.licence}"
        origin = f"as --data {slug}=FOLDER, for its own texts in place of this project's" if optional else origin
        yield f"data: {known.title}, {origin if known.downloads else 'which ships with this project'}"


def _models_needed(exhibit: Exhibit) -> Iterator[str]:
    if not asks(exhibit):
        return
    known = sizes()
    models = {model: known.get(model) for way in exhibit.ways for model in models_of(exhibit, way)}
    named = [f"{model} ({size / 1e9:.2f} B)" if size else model for model, size in models.items()]
    yield f"models: {', '.join(named) or 'yours, as --models MODEL'}"
