"""The documents agree with the code: settings, error codes, rooms of the code, and links between documents."""

import re
from pathlib import Path

import pytest

from docs.site.hooks import made_pages
from leaderboard.worker import jobs
from probing.errors import ProbingError

ROOT = Path(__file__).parent.parent
DOCS = {path.name: path.read_text(encoding="utf-8") for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]}
SOURCE = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "leaderboard").rglob("*.py"))


def codes(error: type[ProbingError]) -> set[str]:
    return {error.code}.union(*map(codes, error.__subclasses__()))


@pytest.mark.parametrize("code", sorted(codes(ProbingError) - {"probing"} | {"internal"}))
def test_every_error_code_is_explained(code: str) -> None:
    assert jobs  # imported, so that the site's own errors are among the subclasses
    assert f"| `{code}` |" in DOCS["errors.md"]


@pytest.mark.parametrize("name", sorted(set(re.findall(r'env(?:_\w+|iron\.get)\(\s*"(\w+)"', SOURCE))))
def test_every_setting_is_explained(name: str) -> None:
    assert f"| `{name}` |" in DOCS["operating.md"]


@pytest.mark.parametrize("package", ["probing", "leaderboard"])
def test_the_architecture_describes_every_room_and_no_other(package: str) -> None:
    """The folders of a package are named below its heading; a folder inside one is named by its path from there."""
    (rooms,) = re.findall(rf"^## The rooms of [^\n]*`{package}/`\n(.*?)^## ", DOCS["architecture.md"], re.M | re.S)
    described = set(re.findall(r"`([a-z_/]+)/`", rooms))
    folders = {path.parent.relative_to(ROOT / package) for path in (ROOT / package).rglob("*.py")}
    named = {str(folder) for folder in folders if folder.parts}
    assert described <= named
    assert {name for name in named if "/" not in name} <= described


@pytest.mark.parametrize("document", sorted(DOCS))
def test_links_between_documents_lead_somewhere(document: str) -> None:
    folder = ROOT if (ROOT / document).exists() else ROOT / "docs"
    for target in re.findall(r"\]\((?!https?:|/)([^)#]+)", DOCS[document]):
        assert (folder / target).exists() or target in made_pages(), target
