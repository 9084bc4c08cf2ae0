"""The page of the papers, made from their declarations: each table, figure and capability, and where it is."""

from collections.abc import Iterator

from probing.papers.declarations import NAMES, Exhibit, Paper, read_paper

HEAD = ("In the paper", "Here", "Shown by", "What is different")
TEST = "`tests/probing/papers/test_paper_runs.py::test_small_models_fill_every_table_and_figure`"
INTRODUCTION = """# The papers

Every table, figure, experiment and capability of the papers that this project brings together: where it is here, what
shows that it works, and what is different and why.

`clozeboard paper NAME` measures the tables and figures again: it fetches what is needed, measures the paper's models or
yours, and prints each measured figure beside the printed one; with `--list` it says what each of them needs instead.
Weights of the papers' models cannot be shipped with the project, so its tests fill every table with small models; that
the methods are the papers' is held against their definitions, against obvious code, and on the authors' own files.

`run`, `compare` and other words before a semicolon are commands of `clozeboard`; paths that begin and end with a slash
are pages of the site, of run 1 or any other. The formulas, each with a worked example, are in
[Methods](methods/index.md). The printed figures are in `fixtures/published/`, with their sources."""


def papers_page() -> str:
    """Return the page in Markdown."""
    return "\n\n".join([INTRODUCTION, *(_section(read_paper(name)) for name in NAMES)]) + "\n"


def _section(paper: Paper) -> str:
    rows = [HEAD, ("---",) * len(HEAD), *_rows(paper)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    return f"## {paper.title}\n\n{paper.publication}.\n\n{table}"


def _rows(paper: Paper) -> Iterator[tuple[str, ...]]:
    for exhibit in paper.exhibits:
        here = "; ".join(filter(None, [f"`paper {paper.name} {exhibit.flag}`", exhibit.also]))
        yield f"{exhibit.number}: {exhibit.caption}", here, TEST, _difference(exhibit)
    for capability in paper.capabilities:
        yield tuple(capability[cell] for cell in ("paper", "here", "shown", "differs"))


def _difference(exhibit: Exhibit) -> str:
    needs = f"Needs {exhibit.needs}." if exhibit.needs else ""
    return " ".join(filter(None, [exhibit.differs, needs])) or "–"
