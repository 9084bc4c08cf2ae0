"""Hooks of mkdocs: pages that are made from the code, notebooks as pages, and links that work in both places."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs.site.generated import GENERATED
from docs.site.papers import papers_page

ROOT = Path(__file__).parents[2]
# Documents that lie in the root of the repository, by the names of their pages.
ROOT_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md": "CODE_OF_CONDUCT.md",
    "SECURITY.md": "SECURITY.md",
}
CITATION, LICENCE, LICENCE_PAGE = "CITATION.cff", "LICENSE", "LICENSE.md"
# What pages are made from, which exists in a checkout, by their names.
MADE_FROM = {
    "../probing/__main__.py": "reference/commands.md",
    "../probing/known_benchmarks.toml": "reference/benchmarks.md",
    "../probing/settings.py": "reference/probes.md",
    "../probing/results/rows.py": "reference/columns.md",
    "../probing/papers/": "papers.md",
}
NOTEBOOKS = ROOT / "examples" / "notebooks"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that have no file in docs/."""
    for name, content in made_pages().items():
        files.append(File.generated(config, name, content=content))
    return files


@cache
def made_pages() -> Mapping[str, str]:
    """Return the content of all pages and files of the site that are not in docs/, by their names."""
    pages = {name: make() for name, make in GENERATED.items()}
    pages["papers.md"] = papers_page()
    pages |= {page: (ROOT / name).read_text(encoding="utf-8") for name, page in ROOT_PAGES.items()}
    pages[CITATION] = (ROOT / CITATION).read_text(encoding="utf-8")
    pages[LICENCE_PAGE] = f"# Licence\n\n```text\n{(ROOT / LICENCE).read_text(encoding='utf-8')}```\n"
    for path in sorted(NOTEBOOKS.glob("*.py")):
        notebook = jupytext.read(path)
        pages[f"notebooks/{path.stem}.md"] = notebook_page(path.stem, notebook)
        pages[f"notebooks/{path.stem}.ipynb"] = jupytext.writes(notebook, fmt="ipynb")
    return pages


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the text of a page with links that fit the site, where the root's documents lie among the others."""
    if page.file.src_uri in ROOT_PAGES.values():
        return markdown.replace("](docs/", "](").replace(f"]({LICENCE})", f"]({LICENCE_PAGE})")
    for source, made in MADE_FROM.items():
        markdown = re.sub(rf"\]\({re.escape(source)}(#[\w-]+)?\)", rf"]({made}\1)", markdown)
    markdown = re.sub(r"\]\(\.\./examples/(notebooks/\w+)\.py\)", r"](\1.md)", markdown)
    return re.sub(r"\]\(\.\./([A-Z]+)(?:\.md)?(#[\w-]+)?\)", r"](\1.md\2)", markdown)


def notebook_page(name: str, notebook: Any) -> str:
    """Return a notebook as Markdown: its texts, and its code in blocks, without outputs."""
    first, *others = (_cell(cell) for cell in notebook.cells)
    download = f"[Download as a notebook]({name}.ipynb), or read it in a checkout: `examples/notebooks/{name}.py`."
    return "\n\n".join([first, download, *others]) + "\n"


def _cell(cell: Any) -> str:
    return cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```"
