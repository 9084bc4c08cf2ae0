"""The documents agree with the code: settings, error codes, modules, make targets, and links between documents."""

import re
from pathlib import Path

import pytest

from leaderboard.worker import jobs
from probing.errors import ProbingError

ROOT = Path(__file__).parent.parent
DOCS = {path.name: path.read_text(encoding="utf-8") for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]}
SOURCE = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "leaderboard").glob("*.py"))


def codes(error: type[ProbingError]) -> set[str]:
    return {error.code}.union(*map(codes, error.__subclasses__()))


@pytest.mark.parametrize("code", sorted(codes(ProbingError) - {"probing"} | {"internal"}))
def test_every_error_code_is_explained(code: str) -> None:
    assert jobs  # imported, so that the site's own errors are among the subclasses
    assert f"| `{code}` |" in DOCS["errors.md"]


@pytest.mark.parametrize("name", sorted(set(re.findall(r'env(?:_\w+|iron\.get)\(\s*"(\w+)"', SOURCE))))
def test_every_setting_is_explained(name: str) -> None:
    assert f"| `{name}` |" in DOCS["deployment.md"]


@pytest.mark.parametrize("module", sorted(path.stem for path in (ROOT / "probing").glob("[a-z]*.py")))
def test_every_module_of_the_library_has_its_place(module: str) -> None:
    assert f"`{module}`" in DOCS["architecture.md"]


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`make (\w+)", "".join(DOCS.values())))))
def test_every_make_target_that_a_document_names_exists(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.*  ## ", makefile, re.MULTILINE)


@pytest.mark.parametrize("document", sorted(DOCS))
def test_links_between_documents_lead_somewhere(document: str) -> None:
    folder = ROOT if (ROOT / document).exists() else ROOT / "docs"
    for target in re.findall(r"\]\((?!https?:|/)([^)#]+)", DOCS[document]):
        assert (folder / target).exists(), target
