"""Knowledge probing of language models: a probe asks a model the items of a benchmark and returns a result.

`run` probes a model, `study` several models on several benchmarks, and `sweep` the checkpoints of a training.
`forecast` says how long a run will take. `surprisal` and `score` compute log-probabilities of your own sentences, and
of options in your own prompts. `load`, `wrap` and `connect` make a model that can be probed several times, from files,
a network in memory or a server. `open_benchmark` reads a benchmark, of which `Benchmark`, `Relation` and `Item` are the
parts, and `Result.load` what a run has written. `sample_graph` puts the facts of a knowledge graph into words.
`monitor` watches a training.

The names in `__all__` are the public interface; docs/releasing.md says how it may change. They are imported on first
use, so that `import probing` takes no time for torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors, which run no code
    from probing import monitor
    from probing.benchmark import Benchmark, Item, Relation
    from probing.catalog import open_benchmark
    from probing.curation.graph_samples import sample_graph
    from probing.dry_run import forecast
    from probing.remote.served import connect
    from probing.results.result import Result
    from probing.runner import run
    from probing.scoring.auxiliary_models import Corrector, Judge
    from probing.scoring.in_memory import wrap
    from probing.scoring.load import load
    from probing.scoring.vocabulary import unified
    from probing.sentences.prompt_options import score
    from probing.sentences.surprisal import surprisal
    from probing.studies.study import study, sweep
    from probing.studies.study_results import Study, Sweep

    __version__: str
# Written out because type checkers and editors read nothing else.
__all__ = [
    "Benchmark",
    "Corrector",
    "Item",
    "Judge",
    "Relation",
    "Result",
    "Study",
    "Sweep",
    "connect",
    "forecast",
    "load",
    "monitor",
    "open_benchmark",
    "run",
    "sample_graph",
    "score",
    "study",
    "surprisal",
    "sweep",
    "unified",
    "wrap",
]
# The modules of the public names. Most of them load torch, which `import probing` must not do.
MODULES = {
    "Benchmark": "probing.benchmark",
    "Corrector": "probing.scoring.auxiliary_models",
    "Item": "probing.benchmark",
    "Judge": "probing.scoring.auxiliary_models",
    "Relation": "probing.benchmark",
    "Result": "probing.results.result",
    "Study": "probing.studies.study_results",
    "Sweep": "probing.studies.study_results",
    "connect": "probing.remote.served",
    "forecast": "probing.dry_run",
    "load": "probing.scoring.load",
    "monitor": "probing.monitor",
    "open_benchmark": "probing.catalog",
    "run": "probing.runner",
    "sample_graph": "probing.curation.graph_samples",
    "score": "probing.sentences.prompt_options",
    "study": "probing.studies.study",
    "surprisal": "probing.sentences.surprisal",
    "sweep": "probing.studies.study",
    "unified": "probing.scoring.vocabulary",
    "wrap": "probing.scoring.in_memory",
}

if not TYPE_CHECKING:  # a type checker that sees this function takes every name for one of the package

    def __getattr__(name: str) -> Any:
        """Import a public name, such as `run`, on first use."""
        if name == "__version__":
            return importlib.import_module("probing.extras").package_version()
        if name not in MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = importlib.import_module("probing.extras").own_module(MODULES[name])
        return module if MODULES[name] == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    """Return the public names, and no others."""
    return sorted(__all__)
