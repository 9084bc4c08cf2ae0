"""Reading a benchmark from a folder on disk: one module and one line for each format."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from probing.benchmark import Benchmark
from probing.errors import BadBenchmark
from probing.formats import bear, bear_hub, dlama, geography, knowledge_graph, lama, mlama, open_questions, stest, table
from probing.formats.reading import notes_on_texts


class Reader(Protocol):
    """A module that reads one format."""

    def fits(self, folder: Path, /) -> bool:
        """Return whether the folder looks like one of this format."""
        ...

    def read(self, folder: Path, /) -> Benchmark:
        """Read the folder, or raise `BadBenchmark`."""
        ...


# In the order in which a folder is tried: S-TEST's folders look like LAMA's as well, and graphs are looked for in all
# folders below.
READERS: dict[str, Reader] = {
    "dlama": dlama,
    "stest": stest,
    "lama": lama,
    "mlama": mlama,
    "geography": geography,
    "bear_hub": bear_hub,
    "bear": bear,
    "open_questions": open_questions,
    "table": table,
    "knowledge_graph": knowledge_graph,
}
# By what a folder is recognised, for messages.
MARKS = (
    "metadata_relations.json (BEAR), relations.jsonl with lists such as P36.jsonl (LAMA) or with lists of obj2_label "
    "(S-TEST), triples.jsonl or triples.csv (geography), relation_mapping.json (knowledge graph), "
    "<pair>/dlama/<language>/P36.jsonl (DLAMA), <language>/templates.jsonl and P36.jsonl (mLAMA), Parquet files, "
    "a CSV file of SimpleQA, or a table with the columns prompt and answer (.csv, .tsv, .jsonl or .parquet)"
)


def _naming_what_nobody_sees(read: Callable[[Path], Benchmark]) -> Callable[[Path], Benchmark]:
    """Return the reader with notes on what nobody sees in a table, and what changes every score.

    The texts stay as they are: published benchmarks have some, and were measured with it.
    """

    def reader(folder: Path) -> Benchmark:
        benchmark = read(folder)
        return replace(benchmark, notes=(*benchmark.notes, *notes_on_texts(benchmark.relations)))

    return reader


FORMATS: dict[str, Callable[[Path], Benchmark]] = {
    name: _naming_what_nobody_sees(READERS[name].read) for name in sorted(READERS)
}


def format_of(folder: Path) -> str:
    """Return the first format that fits the folder or archive; raise `BadBenchmark` if there is none."""
    name = next((name for name, reader in READERS.items() if reader.fits(folder)), "")
    if name:
        return name
    if not folder.is_dir():
        raise BadBenchmark(
            f"{folder} is not a folder.",
            "Give the folder of a benchmark, a table of questions (.csv, .tsv, .jsonl, .parquet), or DLAMA's archive.",
        )
    raise BadBenchmark(f"{folder} has none of the files by which a benchmark is recognised.", f"Add one: {MARKS}.")


def read_version(format: str, folder: Path, digest: str) -> Benchmark | None:
    """Read the version of a benchmark that has this digest, or return None if the folder holds another one."""
    content = FORMATS[format](folder)
    return content if content.digest == digest else None
