"""The documents agree with the code: settings, error codes, rooms of the code, and links between documents."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from docs.site.hooks import MADE_FROM, made_pages, on_page_markdown
from leaderboard.worker import jobs
from probing.errors import ProbingError

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
DOCS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in DOCUMENTS}
SOURCE = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "leaderboard").rglob("*.py"))


def codes(error: type[ProbingError]) -> set[str]:
    return {error.code}.union(*map(codes, error.__subclasses__()))


def test_every_error_code_is_explained() -> None:
    assert jobs  # imported, so that the site's own errors are among the subclasses
    all_codes = sorted(codes(ProbingError) - {"probing"} | {"internal"})
    assert [code for code in all_codes if f"| `{code}` |" not in DOCS["docs/errors.md"]] == []


def test_every_setting_is_explained() -> None:
    names = sorted(set(re.findall(r'env(?:_\w+|iron\.get)\(\s*"(\w+)"', SOURCE)))
    assert len(names) > 10
    assert [name for name in names if f"| `{name}` |" not in DOCS["docs/operating.md"]] == []


@pytest.mark.parametrize("package", ["probing", "leaderboard"])
def test_the_architecture_describes_every_room_and_no_other(package: str) -> None:
    """The folders of a package are named below its heading; a folder inside one is named by its path from there."""
    (rooms,) = re.findall(rf"^## The rooms of [^\n]*`{package}/`\n(.*?)^## ", DOCS["docs/architecture.md"], re.M | re.S)
    described = set(re.findall(r"`([a-z_/]+)/`", rooms))
    folders = {path.parent.relative_to(ROOT / package) for path in (ROOT / package).rglob("*.py")}
    named = {str(folder) for folder in folders if folder.parts}
    assert described <= named
    assert {name for name in named if "/" not in name} <= described


def test_links_between_documents_lead_somewhere() -> None:
    made, broken = {ROOT / "docs" / page for page in made_pages()}, []
    for document, text in DOCS.items():
        folder = (ROOT / document).parent
        targets = re.findall(r"\]\((?!https?:|/)([^)#]+)", text)
        missing = [target for target in targets if not (folder / target).exists()]
        pages = {target: (folder / target).resolve() for target in missing}
        broken += [(document, target) for target, page in pages.items() if page not in made]
    assert broken == []


@pytest.mark.parametrize("document", ["README.md", "docs/start.md"])
def test_what_is_read_first_links_to_files_that_every_checkout_has(document: str) -> None:
    targets = re.findall(r"\]\((?!https?:|/)([^)#]+)", DOCS[document])
    assert len(targets) > 5
    assert [target for target in targets if not ((ROOT / document).parent / target).exists()] == []


def test_the_site_leads_from_sources_to_the_pages_that_are_made_of_them() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="start.md"))
    targets = re.findall(r"\]\((?!https?:|/)([^)#]+)", on_page_markdown(DOCS["docs/start.md"], page))
    assert [target for target in targets if target.startswith("../")] == []
    assert {*MADE_FROM.values(), "notebooks/quick_start.md"} <= {*targets}


def test_no_line_of_a_paragraph_begins_a_list() -> None:
    """A sign or a number at the start of a line would be the marker of a list, such as the plus of a sum."""
    texts = {document: re.sub(r"^```.*?^```", "", text, flags=re.M | re.S) for document, text in DOCS.items()}
    assert [found for text in texts.values() for found in re.findall(r"\S\n *(?:[+*]|1\.) .*", text)] == []
