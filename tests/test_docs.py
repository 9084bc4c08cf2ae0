"""The documents agree with the code: settings, error codes, modules, make targets, and links between documents."""

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


def test_every_error_code_is_explained() -> None:
    assert jobs  # imported, so that the site's own errors are among the subclasses
    all_codes = sorted(codes(ProbingError) - {"probing"} | {"internal"})
    assert [code for code in all_codes if f"| `{code}` |" not in DOCS["errors.md"]] == []


def test_every_setting_is_explained() -> None:
    names = sorted(set(re.findall(r'env(?:_\w+|iron\.get)\(\s*"(\w+)"', SOURCE)))
    assert len(names) > 10
    assert [name for name in names if f"| `{name}` |" not in DOCS["deployment.md"]] == []


def modules_of_the_tree(package: str) -> list[str]:
    """The files of a package's tree in docs/architecture.md, with their folders."""
    (tree,) = re.findall(rf"^```\n{package}/\n(.*?)^```", DOCS["architecture.md"], re.DOTALL | re.MULTILINE)
    folders, files = [package], []
    for line in tree.splitlines():
        depth, name = (len(line) - len(line.lstrip())) // 2, line.split()[0]
        folders[depth:] = [name.removesuffix("/")]
        if not name.endswith("/"):
            files.append("/".join(folders))
    return files


@pytest.mark.parametrize("package", ["probing", "leaderboard"])
def test_the_architecture_names_every_module_once_and_no_other(package: str) -> None:
    paths = (path.relative_to(ROOT) for path in (ROOT / package).rglob("*.py"))
    modules = [str(path) for path in paths if path.name != "__init__.py" and "migrations" not in path.parts]
    assert sorted(modules_of_the_tree(package)) == sorted(modules)


def test_links_between_documents_lead_somewhere() -> None:
    made, broken = made_pages(), []
    for document, text in DOCS.items():
        folder = ROOT if (ROOT / document).exists() else ROOT / "docs"
        targets = re.findall(r"\]\((?!https?:|/)([^)#]+)", text)
        broken += [(document, target) for target in targets if not (folder / target).exists() and target not in made]
    assert broken == []
