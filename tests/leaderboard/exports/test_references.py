"""How the figures of runs, models and pages are cited, and that citations compile.

The compilation needs pdflatex and bibtex (Debian: texlive-latex-base), and is skipped without them.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.exports.references import Reference
from leaderboard.models import Run
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def cited(client: Client, address: str) -> Reference:
    reference = client.get(address).context["reference"]
    assert isinstance(reference, Reference)
    return reference


def test_a_citation_has_the_figure_its_interval_version_date_and_address(client: Client) -> None:
    run = make.finished(make.benchmark(version="c0ffee"), 0.5, make.model("org/name_1", commit="a" * 40))
    reference = cited(client, run.get_absolute_url())
    low, high = run.scores.filter(dimension="overall").values_list("low", "high")[0]
    figure = f"accuracy 0.500 (95 % interval {low:.3f} to {high:.3f}) over 100 questions"
    bibtex = reference.bibtex
    assert reference.title == f"org/name_1 on {run.benchmark.title}"
    assert reference.details.startswith(f"{figure}; commit aaaaaaa; benchmark version c0ffee;")
    assert reference.details.endswith(f"measured here on {run.finished:%Y-%m-%d}")
    assert f"@misc{{clozeboard-run-{run.pk}," in bibtex
    assert r"org/name\_1" in bibtex and r"95 \% interval" in bibtex
    assert f"year = {{{run.finished:%Y}}}" in bibtex and f"url = {{http://testserver/runs/{run.pk}/}}" in bibtex


def test_the_card_of_a_model_gets_the_figure_with_a_link_in_markdown(client: Client) -> None:
    run = make.finished(make.benchmark(), 0.5, make.model("org/name"))
    page = client.get(run.get_absolute_url())
    markdown = page.context["reference"].markdown
    assert markdown.startswith(f"[org/name on Tiny](http://testserver/runs/{run.pk}/): accuracy 0.500 (95 % interval")
    assert markdown.endswith("Measured by Clozeboard.")
    assert markdown in page.content.decode()


def test_the_page_of_a_model_is_cited_with_the_sources_of_its_printed_figures(client: Client) -> None:
    row = make.published(make.benchmark(), 0.5)
    details = cited(client, row.model.get_absolute_url()).details
    assert details == "Tiny (version v1, Byron 2024): accuracy 0.500 over 100 questions"


def test_a_run_without_a_figure_has_no_citation(client: Client) -> None:
    without_value, waiting = make.finished(make.benchmark(), None), make.run(make.model(), make.benchmark("other"))
    assert client.get(without_value.get_absolute_url()).context["reference"] is None
    response = client.get(waiting.get_absolute_url())
    assert response.context["reference"] is None
    assert 'id="cite"' not in response.content.decode()


def test_the_name_of_a_stranger_cannot_leave_its_place_in_bibtex(client: Client) -> None:
    run = make.finished(make.benchmark(title="x}, year = {1999"), 0.5)
    assert r"x\}, year = \{1999" in cited(client, run.get_absolute_url()).bibtex


def test_a_figure_too_small_for_three_decimals_is_cited_as_a_power_of_ten(client: Client) -> None:
    run = make.finished(make.benchmark(), 6e-22)
    assert "6 × 10⁻²²" in cited(client, run.get_absolute_url()).details


def test_the_former_citation_of_a_single_score_leads_to_its_run(client: Client) -> None:
    run = make.finished(make.benchmark(), 0.5)
    response = client.get(f"/runs/{run.pk}/cite/?metric=accuracy&dimension=domain&group=Arts")
    assert response["Location"] == run.get_absolute_url()


def test_the_reference_of_a_model_lists_its_figures_with_run_and_version(client: Client) -> None:
    model = make.model("org/name")
    runs = [make.finished(make.benchmark(slug, version=f"{slug}-1"), 0.25, model) for slug in ("one", "two")]
    reference = cited(client, "/models/org/name/")
    for run in runs:
        assert (
            f"{run.benchmark.title} (version {run.benchmark.version}, run {run.pk}): accuracy 0.250"
            in reference.details
        )
    assert "urldate" in reference.bibtex


def test_long_lists_of_figures_are_cut_and_say_so(client: Client) -> None:
    model = make.model("org/name")
    for number in range(14):
        make.finished(make.benchmark(f"b{number}"), 0.25, model)
    assert "and 2 more" in cited(client, "/models/org/name/").details


def test_every_kind_of_page_with_figures_is_cited_with_the_choices_of_its_reader(client: Client, site: Site) -> None:
    first, second = site.first, site.second
    pages = {
        f"/models/{first.model.hub_id}/": first.model.hub_id,
        "/benchmarks/small/?sort=-score": "Standings on small",
        "/?kind=causal": "What language models know",
        f"/compare/?m={first.pk}&m={second.pk}": f"run {second.pk}",
        "/benchmarks/small/relations/P30/": "small",
    }
    for address, words in pages.items():
        reference = cited(client, address)
        assert words in f"{reference.title} {reference.details}"
        assert reference.address == f"http://testserver{address}"


def test_a_reference_is_sent_as_a_file_to_which_the_page_leads(client: Client) -> None:
    run = make.finished(make.benchmark(), 0.5)
    page = client.get(run.get_absolute_url())
    file = client.get(f"{run.get_absolute_url()}{page.context['bibtex_file']}")
    assert page.context["bibtex_file"] in page.content.decode()
    assert file.content.decode() == f"{page.context['reference'].bibtex}\n"
    assert file["Content-Disposition"] == f'attachment; filename="clozeboard-run-{run.pk}.bib"'


def test_an_unknown_format_is_the_page_itself(client: Client) -> None:
    run: Run = make.finished(make.benchmark(), 0.5)
    for name in ("docx", "csl", "citation"):
        assert client.get(f"{run.get_absolute_url()}?format={name}")["Content-Type"].startswith("text/html")


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
