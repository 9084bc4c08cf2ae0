"""What each exhibit needs, in lines for people: data, models, time, what a reader must bring, and what is missing."""

from collections.abc import Iterator

from probing.known_benchmarks import CATALOG
from probing.papers.declarations import Exhibit
from probing.papers.exhibits import asks
from probing.papers.printed_figures import models_of, printed_figures, sizes


def needs(exhibit: Exhibit) -> list[str]:
    """Return a line for each thing that an exhibit needs, and why it has no printed figures where it has none."""
    needed = [*_data(exhibit), *_models(exhibit), *([f"beside that: {exhibit.needs}"] if exhibit.needs else [])]
    has_printed = len(printed_figures(exhibit)) or exhibit.texts or exhibit.facts
    missing = [] if has_printed else [f"printed figures: none. {exhibit.differs}".rstrip()]
    return [*needed, *missing] or ["nothing: the paper states it"]


def _data(exhibit: Exhibit) -> Iterator[str]:
    for slug in dict.fromkeys(way.benchmark for way in exhibit.ways):
        known = CATALOG[slug]
        origin = f"downloaded from {known.source}; licence: {known.licence}"
        yield f"data: {known.title}, {origin if known.downloads else 'which ships with this project'}"


def _models(exhibit: Exhibit) -> Iterator[str]:
    if not asks(exhibit):
        return
    known = sizes()
    models = {model: known.get(model) for way in exhibit.ways for model in models_of(exhibit, way)}
    named = [f"{model} ({size / 1e9:.2f} B)" if size else model for model, size in models.items()]
    yield f"models: {', '.join(named) or 'yours, as --models MODEL'}"
    yield f"time: {exhibit.flag} --dry-run tries each model for some seconds and tells how long it will take here"
