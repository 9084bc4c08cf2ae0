"""The import rule of docs/architecture.md, read from the source: one way, no cycles, none inside a function."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("probing", "leaderboard")
# A module may import from lines above its own, and from its own package; a package's modules stand with it.
LAYERS = [
    {"probing", "probing.arrays", "probing.errors", "probing.kinds", "probing.revisions", "probing.template"},
    {"probing.question_rows"},
    {
        "probing.benchmark",
        "probing.chart_template",
        "probing.extras",
        "probing.machine_memory",
        "probing.start_token",
    },
    {"probing.language_model", "probing.statements"},
    {"probing.files"},
    {"probing.dot_charts", "probing.formats", "probing.settings"},
    {"probing.analysis"},
    {"probing.catalog", "probing.judging", "probing.probes"},
    {"probing.plan"},
    {"probing.baselines"},
    {"probing.model_source", "probing.results", "probing.time_left"},
    {"probing.given_settings", "probing.progress_bar"},
    {"probing.scoring"},
    {"probing.part_runner"},
    {"probing.measuring"},
    {"probing.runner"},
    {"probing.dry_run", "probing.harness", "probing.sentences", "probing.studies"},
    {"probing.curation", "probing.remote"},
    {"probing.papers"},
    {"probing.monitor"},
    {"probing.command_line"},
    {"probing.__main__"},
]
SITE_LAYERS = [
    {"leaderboard"},
    {"leaderboard.changed_settings", "leaderboard.data_version", "leaderboard.settings"},
    {"leaderboard.apps", "leaderboard.serving"},
    {"leaderboard.line", "leaderboard.models"},
    {"leaderboard.redis_server", "leaderboard.ui"},
    {"leaderboard.tables"},
    {"leaderboard.figures"},
    {"leaderboard.intake"},
    {"leaderboard.admin", "leaderboard.probes", "leaderboard.worker"},
    {"leaderboard.exports"},
    {"leaderboard.operations"},
    {"leaderboard.templatetags", "leaderboard.pages"},
    {"leaderboard.api"},
    {"leaderboard.urls", "leaderboard.wsgi"},
    {"leaderboard.management"},
]
# Classes of this name are in the library and in the site: what a benchmark's files say, and its row in the database; a
# text that is scored, and a row of a question's page, until that has its table in its template.
SHARED = {"Benchmark", "Statement"}
LOADS_TORCH = (
    "probing.scoring.",
    "probing.monitor",
    "probing.measuring.child",
    "probing.remote.served",
    "probing.harness.backend",
)


@cache
def modules() -> dict[str, ast.Module]:
    trees = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            trees[name] = ast.parse(path.read_text(encoding="utf-8"))
    trees["probing"].body = [node for node in trees["probing"].body if not is_for_type_checkers(node)]
    return trees


def is_for_type_checkers(node: ast.stmt) -> bool:
    """Whether Python skips the statement: the package's public names, which it imports on first use."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(tree: ast.AST) -> Iterator[str]:
    """The dotted names that are imported; `from a import b` is a.b where that is a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports in full"
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                yield inner if inner in modules() else str(node.module)


def own(tree: ast.AST) -> set[str]:
    return {name for name in imports(tree) if name in modules()}


def layer(module: str) -> int:
    for number, names in enumerate(LAYERS if module.startswith("probing") else SITE_LAYERS):
        if module in names or any(module.startswith(f"{name}.") for name in names - set(PACKAGES)):
            return number
    raise AssertionError(f"{module} has no layer: give it one here and in docs/architecture.md")


def functions(tree: ast.AST) -> Iterator[ast.AST]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))


def test_library_and_site_import_one_way() -> None:
    for module, tree in modules().items():
        for name in own(tree) if ".migrations" not in module else ():
            same_package = name.split(".")[:2] == module.split(".")[:2]
            to_library = module.startswith("leaderboard") and name.startswith("probing")
            assert same_package or to_library or layer(name) < layer(module), f"{module} imports {name}"


def test_no_module_name_stands_twice() -> None:
    """Whoever looks for a subject finds one file; Django's commands are named after what operators type."""
    for package in PACKAGES:
        names = [name for name in modules() if name.startswith(f"{package}.") and is_file(name)]
        last = [name.rpartition(".")[2] for name in names if ".commands." not in name and ".migrations." not in name]
        assert not {name for name in last if last.count(name) > 1}, package


def test_no_class_of_the_library_has_a_name_twice() -> None:
    """Neither in the library nor in the site on top of it, in which one would take them for each other."""
    names = [
        (module.partition(".")[0], node.name)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    library = [name for package, name in names if package == "probing"]
    site = {name for package, name in names if package == "leaderboard"}
    assert {name for name in library if library.count(name) > 1} == set()
    assert set(library) & site <= SHARED


def is_file(name: str) -> bool:
    return (ROOT / name.replace(".", "/")).with_suffix(".py").exists()


def test_the_library_knows_neither_django_nor_the_site() -> None:
    for module, tree in modules().items():
        if module.startswith("probing"):
            assert {name.split(".")[0] for name in imports(tree)}.isdisjoint({"django", "leaderboard"}), module


def test_no_module_is_in_a_cycle() -> None:
    TopologicalSorter({module: own(tree) - {module} for module, tree in modules().items()}).prepare()


def test_no_function_imports_own_modules() -> None:
    for module, tree in modules().items():
        for function in functions(tree):
            assert not own(function), f"{module} imports inside a function"


def test_no_module_of_the_site_imports_what_loads_torch() -> None:
    for module, tree in modules().items():
        if module.startswith("leaderboard"):
            assert not [name for name in own(tree) if name.startswith(LOADS_TORCH)], module


def test_importing_the_library_loads_no_torch() -> None:
    light = [name for name in modules() if name.startswith("probing") and not name.startswith(LOADS_TORCH)]
    assert "torch" not in loaded_by(f"import {', '.join(light)}")


def test_the_help_of_the_command_line_loads_no_heavy_library() -> None:
    program = "import atexit; atexit.register(lambda: print(*sys.modules)); from probing.__main__ import main"
    modules = loaded_by(f"{program}; main(['--help'])")
    assert "probing.__main__" in modules
    assert not {"torch", "transformers", "pandas", "scipy"} & set(modules)


def test_a_measuring_process_loads_no_statistics() -> None:
    """They are needed where results are compared, and would take a tenth of the time that it needs to start."""
    assert "scipy.stats" not in loaded_by("import probing.probes, probing.results.joining")


def test_comparing_results_loads_no_statistics() -> None:
    """They would take 20 MB of a web process."""
    answers = {"correct": [True, False] * 3, "true": [True, False] * 3, "perplexity": [5.0, 3.0, 4.0, 6.0, 1.0, 2.0]}
    rows = answers | {"relation": ["P1"] * 6, "template": [0] * 6, "index": list(range(6)), "statement": list("abcdef")}
    results = f"{{'first': pd.DataFrame({rows}), 'second': pd.DataFrame({rows})}}"
    compared = [f"probe_named('{probe}').compare({results})" for probe in ("multiple_choice", "perplexity")]
    code = f"import pandas as pd; from probing.probes import probe_named; {'; '.join(compared)}"
    assert "scipy.stats" not in loaded_by(code)


@pytest.mark.parametrize("code", ["import probing", "from probing.__main__ import parser; parser([]).format_help()"])
def test_the_help_loads_nothing_that_takes_long_to_import(code: str) -> None:
    assert not {"numpy", "pandas", "scipy", "torch", "transformers"} & set(loaded_by(code))


def test_importing_the_sites_addresses_loads_nothing_that_takes_much_memory() -> None:
    large = {"torch", "transformers", "tokenizers", "plotly", "requests", "scipy.optimize", "scipy.stats"}
    assert not large & set(loaded_by("import django; django.setup(); import leaderboard.urls"))


def loaded_by(code: str) -> list[str]:
    """The modules that a fresh Python has loaded after running the code."""
    check = (
        f"import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'leaderboard.settings'; {code}; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()
