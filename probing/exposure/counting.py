"""Counting the facts of a benchmark in a corpus: file by file, by one process or several, keeping what is finished."""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from probing.arrays import Ints
from probing.exposure.corpus import CorpusFile, batches, corpus_files
from probing.exposure.matching import SENTENCE, Matcher
from probing.exposure.named_facts import Fact
from probing.files.folders import new_file
from probing.progress_bar import progress_bar
from probing.results.checkpoint import partial_folder
from probing.sentences.sentence_files import refuse_bad_target, write_tables
from probing.studies.executors import opened


def count_exposure(
    corpus: Sequence[str],
    facts: Sequence[Fact],
    out: Path,
    *,
    unit: str = SENTENCE,
    executor: Executor | str | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Count in how many units of a corpus each fact is stated; write and return the table.

    `corpus`: files, folders and patterns (`corpus_files`). `facts`: those of `facts_of`. `unit`: sentence, document or
    window:N (`matching` has the rules). `out`: a new file, .csv, .parquet or .jsonl, with the columns `relation`,
    `index`, `subject`, `answer` and `count`. `executor`: what counts several files at the same time, as for a study.
    The counts of finished files are kept beside `out` until all are finished; the same call goes on from there. A file
    that has changed since is counted again. Raises `BadInput` for a bad corpus, unit, executor or file.
    """
    refuse_bad_target(out)
    facts = tuple(facts)
    Matcher(facts[:1], unit)  # refuses a bad unit and a missing package before anything is counted
    folder = partial_folder(out)
    common = hashlib.sha256(repr((facts, unit)).encode()).hexdigest()
    parts = {file: folder / _part_name(file, common) for file in corpus_files(corpus)}
    missing = [file for file, part in parts.items() if not part.is_file()]
    size = sum(file.size for file in parts)
    with (
        progress_bar(size, size - sum(file.size for file in missing), shown=progress) as bar,
        opened(executor, folder) if isinstance(executor, str) else nullcontext(executor) as workers,
    ):
        for file, counts in _counted(missing, facts, unit, bar.advance, workers):
            folder.mkdir(parents=True, exist_ok=True)
            with new_file(parts[file]) as temporary, temporary.open("wb") as target:
                np.save(target, counts)
            if workers:
                bar.advance(file.size)
    counts = sum((np.load(part) for part in parts.values()), np.zeros(len(facts), np.int64))
    columns = ["relation", "index", "subject", "answer"]
    table = pd.DataFrame({name: [getattr(fact, name) for fact in facts] for name in columns} | {"count": counts})
    write_tables([table], out)
    shutil.rmtree(folder)
    return table


def _part_name(file: CorpusFile, common: str) -> str:
    """Return the name of the counts of a file; `common`: the digest of facts and unit, on which they depend as well."""
    return f"{hashlib.sha256(repr((file, common)).encode()).hexdigest()}.npy"


def _counted(
    files: Sequence[CorpusFile],
    facts: tuple[Fact, ...],
    unit: str,
    advance: Callable[[float], None],
    executor: Executor | None,
) -> Iterator[tuple[CorpusFile, Ints]]:
    """Yield the counts of each file as soon as it is finished; without an executor, `advance` is called with bytes."""
    if executor is None:
        for file in files:
            yield file, count_file(file, facts, unit, advance)
        return
    waiting: Mapping[Future[Ints], CorpusFile] = {
        executor.submit(count_file, file, facts, unit): file for file in files
    }
    for future in as_completed(waiting):
        yield waiting[future], future.result()


def count_file(
    file: CorpusFile, facts: tuple[Fact, ...], unit: str, advance: Callable[[float], None] = lambda size: None
) -> Ints:
    """Return in how many units of a file each fact is stated; `advance` is called with the bytes that were read."""
    matcher, counts, before = _matcher(facts, unit), np.zeros(len(facts), np.int64), 0.0
    for batch in batches(file):
        counts += matcher.count(batch.text)
        advance(batch.position - before)
        before = batch.position
    return counts


@lru_cache(maxsize=1)
def _matcher(facts: tuple[Fact, ...], unit: str) -> Matcher:
    """Return the matcher, which a process makes once for all of its files."""
    return Matcher(facts, unit)
