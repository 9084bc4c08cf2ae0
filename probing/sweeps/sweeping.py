"""Run a benchmark over the checkpoints of a training: prepared once, resumed where it stopped, one model at a time."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.extras import graph_objects
from probing.model_source import ModelSource
from probing.runner import Preparation, refuse_bad_out
from probing.studies.turns import Reporter, Turn, take_turns
from probing.sweeps.chart import TASK
from probing.sweeps.checkpoints import ALL, checkpoints, in_words
from probing.sweeps.sweep import Sweep, joined_scores, with_point


def sweep(
    model: str | Path,
    benchmark: str | Path | Benchmark,
    *,
    revisions: str | Sequence[str],
    out: str | Path,
    tokenizer: str | Path | None = None,
    device: str = "auto",
    device_map: Any = None,
    attn_implementation: str = "",
    batch_tokens: int | None = None,
    keep_tokens: bool = False,
    keep_rows: bool = True,
    progress: bool = True,
    **settings_and_options: Any,
) -> Sweep:
    """Probe several checkpoints of a training on one benchmark; return their scores in the order of the training.

    `model`: a hub id with these `revisions` (branches, tags or commits), or a folder whose subfolders they are; "all"
    stands for all branches and tags, or subfolders, whose names state a step, such as `checkpoint-500`; a sentence says
    how many there are before the first is measured.
    `tokenizer`: for checkpoints in folders, the folder or hub id whose tokenizer all are read with. By default each has
    its own, or that of the folder around it.
    `out`: the folder to write: a result folder for each revision, as `probing.run` writes it, a table of all scores
    (`sweep.parquet`) and a chart (`sweep.html`). The same call measures only what is not there yet.
    `progress`: print a line for each revision to the standard error output, with the time that is left.
    The other arguments are those of `probing.run`.
    A checkpoint that cannot be measured is named in `failures`, and the others are measured all the same. Raises
    `BadInput` for bad arguments.

    Examples:
        >>> import probing
        >>> capitals = {"relations": ["country_capital"], "progress": False}
        >>> swept = probing.sweep("training", "starter", revisions="all", out="curve", **capitals)
        >>> swept.revisions
        ['checkpoint-0', 'checkpoint-500']
    """
    graph_objects(TASK)  # refuses a missing package before anything is measured
    prepared = Preparation.of(benchmark, keep_tokens, settings_and_options, keep_rows=keep_rows)
    refuse_bad_out(out, prepared)
    source = ModelSource(model, tokenizer, "", device, batch_tokens, device_map, attn_implementation, shared={})
    _refuse_in_memory(source)
    chosen, folder = checkpoints(source, revisions), Path(out).resolve()
    turns = {c.revision: Turn(c.revision, c.source, prepared, folder / c.folder_name, c.fetch) for c in chosen}
    stored = {name: result for name, turn in turns.items() if (result := turn.stored())}
    tables = {name: with_point(result.scores, name, result.record) for name, result in stored.items()}
    missing = [turn for name, turn in turns.items() if name not in tables]
    if revisions == ALL and progress:
        print(f"{model}: {in_words(chosen)}", file=sys.stderr, flush=True)
    reporter = Reporter(len(turns), len(missing), "revisions", is_loud=progress, alike=True)
    failures: dict[str, str] = {}
    for turn, result, failure in take_turns(missing, reporter, bars=False):
        if result is None:
            failures[turn.name] = failure
        else:
            tables[turn.name] = with_point(result.scores, turn.name, result.record)
    folders = {name: turn.folder for name, turn in turns.items() if name in tables}
    scores = joined_scores([tables[name] for name in folders])
    swept = Sweep(folders, scores, prepared.settings.probe, f"{model} on {prepared.benchmark.slug}", failures)
    if folders:
        swept.save(folder)
    return swept


def _refuse_in_memory(source: ModelSource) -> None:
    if not isinstance(source.model, str | Path):
        raise BadInput("A sweep loads its checkpoints itself.", "Give a hub id, or a folder with checkpoints.")
    if not isinstance(source.tokenizer, str | Path | None):
        raise BadInput("A sweep loads its tokenizer itself.", "Give its folder or hub id.")
    replace(source, tokenizer=None).refuse_bad()
    if source.tokenizer and not Path(source.model).is_dir():
        raise BadInput("Revisions of a hub model have their own tokenizers.", "Leave tokenizer out.")
