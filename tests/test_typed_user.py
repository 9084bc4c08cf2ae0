"""A type checker and an editor know the public names of the package, although they are imported on first use."""

import ast
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import probing

ROOT = Path(__file__).parents[1]
SCRIPT = """
import probing

result = probing.run("gpt2", "starter", sample=5)
reveal_type(result)
reveal_type(result.by("domain"))
reveal_type(probing.open_benchmark("starter"))
reveal_type(probing.load("gpt2"))
reveal_type(probing.sweep("gpt2", "starter", revisions="all", out="out"))
reveal_type(probing.monitor.Monitor("starter"))
probing.run("gpt2", "starter", batch_tokens="many")
probing.runs("gpt2")
probing.run("gpt2", "starter", sampel=5)
probing.run("gpt2", "starter", sample="5", few_shot=1)
"""
TYPES = ["Result", "DataFrame", "Benchmark", "AnsweringModel", "Sweep", "Monitor"]
# As a user's mypy, but without reading the large packages that the library imports.
CONFIG = """
[mypy]
[mypy-torch.*,transformers.*,accelerate.*,huggingface_hub.*,scipy.*,httpx2.*,httpcore2.*,tokenizers.*,tqdm.*]
follow_imports = skip
ignore_missing_imports = True
[mypy-pyarrow.*,safetensors.*,psutil.*,plotly.*,peft.*,yaml.*,jinja2.*,requests.*,urllib3.*]
follow_imports = skip
ignore_missing_imports = True
"""


@pytest.mark.slow  # 15 seconds; `test_the_public_list_can_be_read…` protects the same by reading
def test_mypy_knows_the_types_of_a_users_script(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "mypy.ini").write_text(CONFIG)
    check = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", str(tmp_path / "cache")]
    environment = {"MYPYPATH": str(ROOT), "PATH": ""}
    done = subprocess.run([*check, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("script.py")]
    revealed = [line.split('"')[1].split(".")[-1] for line in lines if "Revealed type" in line]
    assert revealed == TYPES, done.stdout + done.stderr
    wrong = [line for line in lines if ": error: " in line]
    assert len(wrong) == 4
    assert 'incompatible type "str"; expected "int | None"' in wrong[0]
    assert 'has no attribute "runs"' in wrong[1]
    assert 'Unexpected keyword argument "sampel"' in wrong[2]
    assert 'Argument "sample" to "run" has incompatible type "str"' in wrong[3]


def test_the_public_list_can_be_read_without_running_the_package() -> None:
    tree = ast.parse((ROOT / "probing" / "__init__.py").read_text(encoding="utf-8"))
    values = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    public, modules = (ast.literal_eval(values[name]) for name in ("__all__", "MODULES"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert public == sorted(public) == list(modules) == dir(probing)
    assert imported == modules | {"monitor": "probing"}


def test_help_shows_what_the_package_is_for() -> None:
    text = pydoc.plaintext.document(probing)
    assert all(f"{name}(" in text for name in ("run", "sweep", "wrap"))
    assert "importlib" not in text
