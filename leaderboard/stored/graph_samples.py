"""Samples of knowledge graphs: each is a version of its benchmark, with its own sentences."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from leaderboard.models import Benchmark
from leaderboard.stored import benchmarks
from probing.errors import BadInput
from probing.formats.graph_sample import SENTENCES
from probing.graph_sampling import sample_graph

FORMAT = "knowledge_graph"


def install_sample(graph: Path, slug: str = "", title: str = "", **choices: Any) -> tuple[Benchmark, bool]:
    """Draw a sample from the folder of a graph and import it, as `benchmarks.install` does; it becomes current.

    `choices`: arguments of `probing.sample_graph`.
    """
    slug = slug or graph.resolve().name.lower()
    with TemporaryDirectory() as folder:
        sample = sample_graph(graph, Path(folder) / "sample", **choices)
        return benchmarks.install(FORMAT, sample, slug, title)


def sample_again(benchmark: Benchmark, **choices: Any) -> tuple[Benchmark, bool]:
    """Import another sample of an imported graph; raise `BadInput` where the graph itself is not here.

    A version that is a sample holds sentences only, so that the graph is that of the newest version with triples.
    """
    versions = Benchmark.objects.filter(slug=benchmark.slug, format=FORMAT).exclude(path="").order_by("-created")
    folders = [benchmarks.folder_of(version) for version in versions]
    graph = next((folder for folder in folders if folder.is_dir() and not list(folder.rglob(f"{SENTENCES}*"))), None)
    if graph is None:
        raise BadInput(
            f"The graph of {benchmark.slug} is not on this site.", "Import it with manage.py import_benchmark first."
        )
    return install_sample(graph, benchmark.slug, benchmark.title, **choices)
