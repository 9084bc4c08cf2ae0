"""The package as `pip install` leaves it: the library without the site, its command, and the versions it asks for."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.test_architecture import LOADS_TORCH, PACKAGES, imports, modules

ROOT = Path(__file__).parent.parent
LIST_PACKAGED_BENCHMARKS = """
import sys
import probing
from probing.catalog import open_benchmark
from probing.catalog import CATALOG
assert probing.__file__.startswith(sys.argv[1]), probing.__file__
print(sorted(slug for slug, entry in CATALOG.items() if not entry.downloads and open_benchmark(slug).size))
"""
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
LIBRARY = PROJECT["dependencies"]
EXTRAS = PROJECT["optional-dependencies"]
# Packages of extras that modules of the library import at once; elsewhere `probing.extras` names what is missing.
SCORING = (*LOADS_TORCH, "probing.files.tokenizer_trial")  # the latter is a program of its own
SITE = [
    *chain(
        *(EXTRAS[name] for name in ("hf", "gguf", "peft", "curation", "quantised", "site", "work", "postgres", "s3"))
    )
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and install it, without its dependencies, into a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    built = tmp_path_factory.mktemp("built")
    run(ROOT, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built))
    (wheel,) = built.glob("*.whl")
    run(ROOT, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    return folder


def run(folder: Path, *arguments: str) -> str:
    """Run Python with the packages of a folder before all others, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def pins(*names: str) -> dict[str, str]:
    """Return the version of each package that these files pin."""
    text = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)
    return {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", text, re.M)}


def test_the_wheel_holds_the_library_and_its_command_but_no_site(installed: Path) -> None:
    names = sorted(path.name for path in installed.iterdir() if path.suffix != ".dist-info")
    assert names == ["bin", "probing"]


def test_the_wheel_says_that_the_library_is_typed(installed: Path) -> None:
    assert (installed / "probing" / "py.typed").exists()


def test_the_benchmarks_in_the_wheel_can_be_opened(installed: Path) -> None:
    printed = run(installed, "-c", LIST_PACKAGED_BENCHMARKS, str(installed))
    assert printed.strip() == "['culture', 'geography', 'graph', 'pairs', 'starter']"


@pytest.mark.parametrize("command", [("-m", "probing"), ("bin/clozeboard",)])
def test_both_names_of_the_command_line_work(installed: Path, command: tuple[str, ...]) -> None:
    assert "run" in run(installed, *command, "--help")


def test_the_command_passes_its_exit_code_on(installed: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failure:
        run(installed, "bin/clozeboard", "show", "no-such-folder")
    assert failure.value.returncode == 2


def test_every_package_that_is_imported_is_declared_for_its_module() -> None:
    distributions = packages_distributions()
    for module, tree in modules().items():
        declared = {canonicalize_name(Requirement(requirement).name) for requirement in declared_for(module)}
        names = {name.partition(".")[0] for name in imports(tree)} - {"django_stubs_ext"}  # which type checkers read
        for name in names - sys.stdlib_module_names - {*PACKAGES}:
            assert declared & {canonicalize_name(distribution) for distribution in distributions[name]}, (module, name)


def declared_for(module: str) -> list[str]:
    """Return the requirements of the installation that has a module: the core, or an extra with it."""
    if module.startswith("leaderboard"):
        return LIBRARY + EXTRAS["site"] + (EXTRAS["s3"] if module == "leaderboard.figures.artefacts" else [])
    own = {"probing.harness.backend": EXTRAS["harness"], "probing.curation.polite_retry": EXTRAS["curation"]}
    return LIBRARY + own.get(module, []) + (EXTRAS["hf"] if module.startswith(SCORING) else [])


def test_the_lock_file_of_the_site_pins_versions_in_range() -> None:
    assert not_pinned(LIBRARY + SITE, "requirements.txt") == []


def test_the_lock_file_of_the_tests_pins_versions_in_range() -> None:
    ranges = {*chain(*EXTRAS.values())}
    assert not_pinned([*sorted(ranges), *PYPROJECT["dependency-groups"]["demo"]], "requirements-dev.txt") == []


def not_pinned(requirements: list[str], lock_file: str) -> list[str]:
    """Return the requirements of which a lock file pins no version, or one out of range."""
    versions = pins(lock_file)
    missing = []
    for requirement in requirements:
        parsed = Requirement(requirement)
        version = versions.get(canonicalize_name(parsed.name), PROJECT["version"] if parsed.extras else None)
        if version is None or not parsed.specifier.contains(version, prereleases=True):
            missing.append(requirement)
    return missing


def test_the_site_and_the_tests_run_on_the_same_versions() -> None:
    assert pins("requirements.txt").items() <= pins("requirements-dev.txt").items()


@pytest.mark.parametrize("lock_file", ["requirements.txt", "requirements-dev.txt", "requirements-gpu.txt"])
def test_every_package_in_a_lock_file_has_hashes_and_none_names_an_index(lock_file: str) -> None:
    text = (ROOT / lock_file).read_text(encoding="utf-8")
    assert all("--hash=sha" in entry for entry in re.split(r"^(?=[\w.-]+==)", text, flags=re.M)[1:])
    assert not re.search(r"://|--find-links|index-url", text)


def test_no_lock_file_has_the_gpu_libraries_of_one_build_of_torch() -> None:
    assert [name for name in pins("requirements-dev.txt") if name.startswith(("nvidia", "cuda", "triton"))] == []


@pytest.mark.parametrize("lock_file", ["requirements.txt", "requirements-dev.txt"])
def test_pip_prefers_no_build_of_torch_for_its_hash(lock_file: str) -> None:
    """An index states SHA-256, and pip prefers a file whose stated hash is listed, also to a build for this machine."""
    torch = re.search(r"^torch==(?:.*\\\n)*.*", (ROOT / lock_file).read_text(encoding="utf-8"), re.M)
    assert torch
    assert "--hash=sha512:" in torch[0]
    assert "sha256" not in torch[0]


@pytest.mark.slow
def test_the_requirements_are_all_that_a_site_needs(tmp_path: Path) -> None:
    """Resolve the file as pip does, which stops at a package that another one needs and that has no hash here."""
    arguments = ["-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "-r", "requirements.txt"]
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_citation_names_the_version_of_the_package() -> None:
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_tests_that_run_on_postgresql_exist() -> None:
    script = (ROOT / ".ci/postgresql").read_text()
    folder = ROOT / "tests/leaderboard"
    patterns = re.findall(r"\S+\.py\b", script)
    assert patterns
    assert [pattern for pattern in patterns if not any(folder.glob(pattern))] == []
