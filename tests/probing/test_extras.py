"""A package of an extra that is missing is told in one sentence, which names the extra."""

import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import probing
from probing import extras
from probing.curation.http_cache import HttpCache
from probing.curation.wikidata import Endpoint
from probing.errors import MissingPackage
from probing.scoring.merging import require_peft

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function after which a package seems not to be installed."""

    def hide(package: str) -> None:
        installed = extras.find_spec

        def spec(name: str) -> ModuleSpec | None:
            return None if name == package else installed(name)

        monkeypatch.setattr(extras, "find_spec", spec)

    return hide


def sentence(error: Any, package: str, extra: str) -> bool:
    assert any(requirement.replace("-", "_").startswith(package) for requirement in EXTRAS[extra])
    assert error.next_step == f'Install it: pip install -e ".[{extra}]".'
    return error.message.endswith(f" needs the package {package}, which is not installed.")


def test_the_command_that_installs_an_extra_works_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    monkeypatch.setattr(extras, "_origin", lambda: origin)
    assert extras.install_command("peft") == f'pip install -e "{tmp_path}[peft]"'
    monkeypatch.chdir(tmp_path)
    assert extras.install_command("peft") == 'pip install -e ".[peft]"'
    origin["dir_info"] = {}
    assert extras.install_command("peft") == 'pip install ".[peft]"'


def test_what_came_from_an_index_is_installed_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "PROJECT", "pytest")
    assert extras.install_command("peft") == 'pip install "pytest[peft]"'
    monkeypatch.setattr(extras, "PROJECT", "not-installed")
    assert extras.install_command("peft") == 'pip install "not-installed[peft]"'


def test_the_package_says_its_version() -> None:
    assert probing.__version__ == extras.package_version()


def test_a_gguf_file_without_its_reader(without: Callable[[str], None], tmp_path: Path) -> None:
    without("gguf")
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    for name in (str(tmp_path / "model.gguf"), "gguf:org/not-asked-for:Q4_K_M"):
        with pytest.raises(MissingPackage) as raised:
            probing.load(name)
        assert sentence(raised.value, "gguf", "gguf")


@pytest.mark.parametrize(
    ("missing", "words", "expected"),
    [
        ("peft", "org/base+org/adapter", "needs the package peft"),
        ("bitsandbytes", "org/base --quantization 4bit", "needs the package bitsandbytes"),
        ("", "no-such.gguf", "There is no file no-such.gguf"),
        ("gguf", "gguf:org/name:Q4_K_M", "needs the package gguf"),
        ("torch", "org/base", "needs the package torch"),
        ("", "{folder}", "tokenizer"),
    ],
)
def test_what_is_missing_is_told_before_torch_is_imported(
    missing: str, words: str, expected: str, model_folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = copytree(model_folders["gpt2"], tmp_path / "model")
    for path in [*folder.glob("tokenizer*"), *folder.glob("vocab*"), *folder.glob("merges*")]:
        path.unlink()
    code = f"""
import sys
from shutil import copytree
from importlib import util
find_spec = util.find_spec
util.find_spec = lambda name, *package: None if name == {missing!r} else find_spec(name, *package)
from probing.__main__ import main
code = main(["run", *{words.format(folder=folder).split()!r}, "--benchmark=starter", {f"--out={tmp_path / 'out'}"!r}])
print(code, "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout.split(), expected in done.stderr) == (["2", "False"], True), done.stderr


def test_adapters_without_peft(without: Callable[[str], None]) -> None:
    without("peft")
    with pytest.raises(MissingPackage) as raised:
        require_peft()
    assert sentence(raised.value, "peft", "peft")


@pytest.mark.parametrize("package", ["requests_cache", "SPARQLWrapper"])
def test_curation_without_its_client(without: Callable[[str], None], tmp_path: Path, package: str) -> None:
    without(package)
    with pytest.raises(MissingPackage) as raised, HttpCache(tmp_path / "answers.sqlite") as cache:
        Endpoint(cache)
    assert sentence(raised.value, package, "curation")


def test_the_commands_start_without_any_extra() -> None:
    code = """
import sys
from shutil import copytree
sys.modules.update(dict.fromkeys(("gguf", "peft", "requests_cache", "SPARQLWrapper", "plotly", "lm_eval")))
from probing.__main__ import main
main(["--help"])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "curate" in done.stdout, done.stderr
