"""Probe several models on several benchmarks in one call: each model is loaded once, and what is finished is kept."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.files.model_files import locate
from probing.model_source import ModelSource
from probing.probes import probe_named
from probing.probes.probe import declared_options
from probing.runner import Preparation, refuse_bad_out
from probing.studies.arguments import KEPT, LOADING, OPTIONS, Entry, StudyArguments, read_config
from probing.studies.study import CONFIG, Pair, Study, joined_pairs, with_pair
from probing.studies.turns import Reporter, Turn, take_turns

Named = str | Path | Mapping[str, Any]


def study(
    models: Sequence[Named] = (),
    benchmarks: Sequence[Named | Benchmark] = (),
    *,
    config: str | Path | None = None,
    progress: bool = True,
    **arguments: Any,
) -> Study:
    """Probe several models on several benchmarks; return the scores of all pairs.

    `models`: hub ids, folders or GGUF files. `benchmarks`: slugs, folders or loaded ones. In place of a text, either
    may be a mapping with the text under the key `model` or `benchmark`, a `name` for tables and folders, and settings
    for it alone: `{"model": "gpt2", "name": "gpt2-eos", "start": "eos"}`. Those of a model come before those of a
    benchmark, and both before those of the study.
    `config`: a YAML file with these same arguments by name; arguments of the call come before all that it says.
    `arguments`: `out`, the folder to write; `keep_tokens`, `device` and everything else that `probing.run` takes. An
    option of a probe is for those benchmarks that are asked with this probe.
    Below `out`, each pair has the result folder `<model>/<benchmark>`, as `probing.run` writes it, with -- for
    each slash of an id. `study.parquet` and
    `study.csv` have all scores, and `study.yaml` the arguments as a configuration file. The same call goes on where it
    was interrupted, and measures only what is not there yet. A model that cannot be loaded, or whose run ends with an
    error, is named in `failures`. Raises `BadInput` for bad arguments, before anything is measured.

    Examples:
        >>> import probing
        >>> models, capitals = ["openai-community/gpt2", "distilbert/distilgpt2"], {"relations": ["country_capital"]}
        >>> study = probing.study(models, ["starter"], out="study", sample=2, progress=False, **capitals)
        >>> study.table[["model", "benchmark"]].to_numpy().tolist()
        [['openai-community/gpt2', 'starter'], ['distilbert/distilgpt2', 'starter']]
    """
    checked = study_arguments(models, benchmarks, config, arguments)
    out = checked.folder
    turns = planned_turns(checked, out)
    tables = {pair: with_pair(result, pair) for pair, turn in turns.items() if (result := turn.stored())}
    missing = {pair: turn for pair, turn in turns.items() if pair not in tables}
    out.mkdir(parents=True, exist_ok=True)
    checked.save(out / CONFIG)
    reporter = Reporter(len(turns), len(missing), "pairs", is_loud=progress, alike=False)
    failures: dict[Pair, str] = {}
    outcomes = take_turns(list(missing.values()), reporter, bars=progress)
    for pair, (_, result, failure) in zip(missing, outcomes, strict=True):
        if result is None:
            failures[pair] = failure
        else:
            tables[pair] = with_pair(result, pair)
    folders = {pair: turn.folder for pair, turn in turns.items() if pair in tables}
    combined = Study(folders, joined_pairs([tables[pair] for pair in folders]), failures)
    combined.save(out)
    return combined


def study_arguments(
    models: Sequence[Named],
    benchmarks: Sequence[Named | Benchmark],
    config: str | Path | None,
    arguments: Mapping[str, Any],
) -> StudyArguments:
    """Return the arguments of a study; those of `study` come before those of the file."""
    named = {"models": models, "benchmarks": benchmarks}
    chosen = {name: value for name, value in named.items() if not isinstance(value, Sequence) or len(value)}
    if config is None:
        return StudyArguments.of({**chosen, **arguments})
    return StudyArguments.of({**read_config(config), **chosen}).overridden(arguments)


def planned_turns(checked: StudyArguments, out: Path) -> dict[Pair, Turn]:
    """Return the run of each pair, those of one model after each other, with its folder below `out`.

    Raises `BadInput` for bad arguments.
    """
    contents = [_opened(entry) for entry in checked.benchmarks]
    sources = {_model_name(entry): (entry, _source(entry, checked.values)) for entry in checked.models}
    benchmarks = {
        entry.name or content.slug: (entry, content)
        for entry, content in zip(checked.benchmarks, contents, strict=True)
    }
    for noun, entries, names in (("models", checked.models, sources), ("benchmarks", checked.benchmarks, benchmarks)):
        if len({name.replace("/", "--") for name in names}) < len(entries):
            raise BadInput(f"Two {noun} of the study have the same name.", "Give one of them another: name: NAME.")
    prepare = _Preparations(checked.values)
    turns: dict[Pair, Turn] = {}
    for model, (model_entry, source) in sources.items():
        for benchmark, (entry, content) in benchmarks.items():
            pair = Pair(model, benchmark)
            folder = out / pair.folder_name
            prepared = prepare(content, {**entry.values, **model_entry.values})
            refuse_bad_out(folder, prepared)
            turns[pair] = Turn(str(pair), source, prepared, folder, partial(_fetch, source))
    prepare.refuse_unused()
    return turns


class _Preparations:
    """What the runs of a study need beside their models, prepared once for all models with equal settings."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._keep_tokens, self._keep_rows = values.get("keep_tokens", False), values.get("keep_rows", True)
        others = ("out", *KEPT, *LOADING)
        self._values = {name: value for name, value in values.items() if name not in others}
        self._unused = self._values.keys() & OPTIONS
        self._prepared: dict[tuple[int, str], Preparation] = {}

    def __call__(self, benchmark: Benchmark, own: Mapping[str, Any]) -> Preparation:
        """Return the preparation of a benchmark with settings of its own, which come before those for all."""
        own = {name: value for name, value in own.items() if name not in LOADING}
        probe = probe_named(own.get("probe") or self._values.get("probe") or benchmark.probe)
        usable = declared_options(probe).keys() | (self._values.keys() - OPTIONS)
        self._unused -= usable
        chosen = {name: value for name, value in self._values.items() if name in usable} | own
        key = (id(benchmark), json.dumps(chosen, sort_keys=True, default=str))
        if key not in self._prepared:
            self._prepared[key] = Preparation.of(benchmark, self._keep_tokens, chosen, keep_rows=self._keep_rows)
        return self._prepared[key]

    def refuse_unused(self) -> None:
        """Raise `BadInput` where an option for all benchmarks is one of no probe that asks them."""
        if self._unused:
            name = min(self._unused)
            raise BadInput(f"No probe of this study has the option {name!r}.", "Leave it out, or name the probe.")


def _opened(entry: Entry) -> Benchmark:
    return entry.content if isinstance(entry.content, Benchmark) else open_benchmark(entry.content)


def _source(entry: Entry, values: Mapping[str, Any]) -> ModelSource:
    """Return how a model is loaded."""
    loading = {name: value for name, value in {**values, **entry.values}.items() if name in LOADING}
    source = ModelSource(entry.content, **loading)
    source.refuse_bad()
    return source


def _model_name(entry: Entry) -> str:
    """Return what tables call a model: the name that was chosen, else its id, or the last name of a path."""
    parts = [Path(part).resolve().name if Path(part).exists() else part for part in str(entry.content).split("+")]
    return entry.name or "+".join(parts)


def _fetch(source: ModelSource) -> None:
    """Download the files of a model of the hub; loading finds all others where they are."""
    model = str(source.model)
    if "+" not in model and not Path(model).exists() and not model.endswith(".gguf"):
        locate(model, source.commit)
