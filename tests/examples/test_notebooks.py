"""The notebooks run from top to bottom, on tiny models of a local hub and a local SPARQL engine."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jupytext
import pytest
from jupyter_client import BlockingKernelClient, KernelManager
from nbclient import NotebookClient

from tests.hub.local_hub import serve
from tests.probing.curation.servers import serving, sparql
from tests.probing.curation.world import World
from tests.tiny_models import build_gpt2

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
PLACES = {"Nile": "Q15", "Congo": "Q15", "Amazon": "Q18", "Plate": "Q18"}
FEW = {"sample=5": "sample=2"}
CONTINENTS = {"Q15": "Africa", "Q18": "South America"}


class Kernel(NamedTuple):
    """A process that runs the cells of notebooks, and the connection to it."""

    manager: KernelManager
    client: BlockingKernelClient


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """Start a kernel for all notebooks, so that torch is imported once."""
    folder = tmp_path_factory.mktemp("kernel")
    with serve() as hub:
        hub.add("openai-community/gpt2", build_gpt2(folder / "large"))
        hub.add("distilbert/distilgpt2", build_gpt2(folder / "small", seed=3))
        places = {"HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "cache"), "IPYTHONDIR": str(folder / "ipython")}
        quiet = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(FOLDER.parents[1])}
        manager = KernelManager(kernel_name="python3")
        manager.start_kernel(env={**os.environ, **places, **quiet})
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            yield Kernel(manager, client)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def outputs(kernel: Kernel, name: str, folder: Path, **replaced: str) -> list[str]:
    """Run a notebook in a folder and return the text that each cell of code shows, an empty one where it shows none."""
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    for old, new in replaced.items():
        assert old in source
        source = source.replace(old, new)
    notebook = jupytext.reads(source, fmt="py:percent")
    notebook.cells.insert(0, jupytext.reads(f"# %%\n# %reset -f\n# %cd -q {folder}\n", fmt="py:percent").cells[0])
    running = NotebookClient(notebook, km=kernel.manager, timeout=120)
    running.kc = kernel.client
    running.execute()
    return [shown(cell) for cell in notebook.cells[1:] if cell.cell_type == "code"]


def shown(cell: Any) -> str:
    """Return what a cell has printed, and the value of its last line as text; warnings are left out."""
    printed = (output.get("text", "") for output in cell.outputs if output.get("name") == "stdout")
    return "".join([*printed, *(output["data"]["text/plain"] for output in cell.outputs if "data" in output)])


@pytest.mark.slow
def test_the_quick_start_shows_scores_and_answers(kernel: Kernel, tmp_path: Path) -> None:
    _, scores, domains, wrong, best, saved = outputs(kernel, "quick_start", tmp_path, **FEW)
    assert re.search(r"accuracy +0\.\d+ +0\.\d+ +0\.\d+ +62", scores)
    assert "Arts" in domains
    assert "answer_label" in wrong
    first, second, third = (score for score, _ in ast.literal_eval(re.sub(r"np\.float\d+\((.*?)\)", r"\1", best)))
    assert first >= second >= third
    assert saved == "'openai-community/gpt2'"
    assert (tmp_path / "first-result" / "run.json").is_file()


@pytest.mark.slow
def test_two_models_are_compared_question_by_question(kernel: Kernel, tmp_path: Path) -> None:
    _, overall, domains, counts, _ = outputs(kernel, "compare_two_models", tmp_path, **FEW)
    gained, lost = ast.literal_eval(counts)
    n, first, second, difference = map(float, re.findall(r"-?\d[\d.]*", overall.splitlines()[1])[1:5])
    assert n == 62
    assert difference == pytest.approx(second - first, abs=1e-5)
    assert difference == pytest.approx((gained - lost) / n, abs=1e-5)
    assert gained or lost
    assert "Arts" in domains


@pytest.mark.slow  # tests/probing/monitor runs the examples of docs/training.md on a few items
def test_the_accuracy_rises_in_the_training_that_is_watched(kernel: Kernel, tmp_path: Path) -> None:
    *_, curve = outputs(kernel, "watch_a_training", tmp_path, **{"lr=1e-4": "lr=1e-2"})
    accuracy = ast.literal_eval(curve)
    assert list(accuracy) == [0, 10, 20, 30, 40]
    assert accuracy[40] > accuracy[0] + 0.4


@pytest.mark.slow
def test_a_benchmark_of_ones_own_is_asked(kernel: Kernel, tmp_path: Path) -> None:
    _, content, items, templates = outputs(kernel, "make_a_benchmark", tmp_path)
    assert content == "(6, ('Jupiter', 'Neptune', 'Saturn'))"
    assert "is a moon of" in items
    assert re.findall(r"^\d .* (\d\.\d)$", templates, re.MULTILINE) == ["6.0", "6.0"]


@pytest.mark.slow
def test_a_benchmark_from_wikidata_is_made_and_asked(kernel: Kernel, tmp_path: Path) -> None:
    world = World()
    for id, name in CONTINENTS.items():
        world.item(id, name, links=100)
    for number, (name, continent) in enumerate(PLACES.items()):
        world.item(f"Q{1000 + number}", name, links=90 - number)
        world.claim(f"Q{1000 + number}", "P30", continent)
    with serving(sparql(world.store())) as engine:
        local = {
            '"https://query.wikidata.org/sparql"': f'"{engine.url}/sparql"',
            "{ENDPOINT}": "{ENDPOINT}, interval: 0",
        }
        _, made, items, manifest, accuracy = outputs(kernel, "benchmark_from_wikidata", tmp_path, **local)
    assert "The benchmark is in continents" in made
    assert dict(ast.literal_eval(items)) == {name: CONTINENTS[continent] for name, continent in PLACES.items()}
    assert "P30" in ast.literal_eval(manifest)
    assert accuracy.splitlines()[-1].endswith(" 4.0")
