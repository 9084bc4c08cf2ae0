"""Citations, compiled as a paper has them and checked against the schema of CSL.

The compilation needs pdflatex and bibtex (Debian: texlive-latex-base), and is skipped without them. The schema is that
of citation-style-language/schema, version 1.0.2 (MIT licence).
"""

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from django.test import Client

from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db
SCHEMA = json.loads((Path(__file__).parent / "csl-data.json").read_text(encoding="utf-8"))
HOSTILE = r"100 % of {A_b} & #1 \LaTeX $x^2$ ~ <tag> ± − × ≈ → ● 10⁻³"
PAPER = r"""\documentclass{article}
\usepackage{natbib,url}
\begin{document}
\nocite{*}
\bibliographystyle{plainnat}
\bibliography{references}
\end{document}
"""
needs_latex = pytest.mark.skipif(not shutil.which("pdflatex") or not shutil.which("bibtex"), reason="needs pdflatex")


def compiled(folder: Path, bibtex: str) -> str:
    """Compile a paper with these references, and return its bibliography as BibTeX formats it."""
    (folder / "references.bib").write_text(bibtex, encoding="utf-8")
    (folder / "paper.tex").write_text(PAPER, encoding="utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    for command in (latex, ["bibtex", "paper"], latex):
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert "Warning" not in (folder / "paper.blg").read_text()
    assert (folder / "paper.pdf").stat().st_size > 0
    return (folder / "paper.bbl").read_text(encoding="utf-8")


@needs_latex
@pytest.mark.slow
def test_bibtex_of_hostile_names_compiles(client: Client, tmp_path: Path) -> None:
    run = make.finished(make.benchmark(title=HOSTILE), 0.5)
    address = run.get_absolute_url()
    bibliography = compiled(tmp_path, client.get(f"{address}?format=bibtex").content.decode())
    assert f"\\url{{http://testserver{address}}}" in bibliography
    assert "interval" in bibliography and f"Run {run.pk}" in bibliography


@needs_latex
@pytest.mark.slow
def test_the_references_of_all_pages_compile(client: Client, site: Site, tmp_path: Path) -> None:
    pages = [
        site.first.get_absolute_url(),
        f"/models/{site.first.model.hub_id}/",
        "/benchmarks/small/?search=a%20b%26c",
        "/",
        f"/compare/?m={site.first.pk}&m={site.second.pk}",
        "/benchmarks/small/relations/P30/",
    ]
    marked_pages = [(page, "&" if "?" in page else "?") for page in pages]
    references = [client.get(f"{page}{mark}format=bibtex").content.decode() for page, mark in marked_pages]
    bibliography = compiled(tmp_path, "\n".join(references))
    assert bibliography.count("\\bibitem") == len(pages)


@pytest.mark.parametrize("page", ["run", "model", "overview"])
def test_csl_json_is_valid(client: Client, page: str) -> None:
    run = make.finished(make.benchmark(title=HOSTILE), 0.5, make.model("org/name"))
    address = {"run": run.get_absolute_url(), "model": "/models/org/name/", "overview": "/"}[page]
    jsonschema.validate(client.get(f"{address}?format=csl").json(), SCHEMA)
