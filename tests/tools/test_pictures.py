"""Which pages the pictures show."""

import shutil
from pathlib import Path

import pytest

from tests.tools import pictures
from tests.tools.page_kinds import SUBMISSIONS
from tests.tools.test_page_kinds import DescribedSite

MOST_BYTES = 150_000  # of a picture of the documents


def test_without_a_finished_run_there_is_nothing_to_show() -> None:
    with pytest.raises(SystemExit, match="There is no finished run to show"):
        pictures.pages(DescribedSite({}), [], {})


def test_an_unknown_page_is_refused_with_the_names_of_all() -> None:
    site = DescribedSite({("cloze", "mine"): 1})
    assert pictures.pages(site, ["run"], SUBMISSIONS) == {"run": "/runs/0/"}
    with pytest.raises(SystemExit, match=r"There is no page atlas. Pages: overview, .*submission-revisions"):
        pictures.pages(site, ["atlas"], SUBMISSIONS)


@pytest.mark.parametrize("option", ["--page=run", "--look=print", "--full"])
def test_pictures_of_the_documents_are_of_fixed_pages_and_looks(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(SystemExit):
        pictures.main(["--docs", option, f"--out={tmp_path / 'images'}"])
    assert "--docs takes no --page, --look or --full." in capsys.readouterr().err


def test_without_chromium_nothing_is_photographed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        pictures.main([f"--out={tmp_path / 'images'}"])
    assert not (tmp_path / "images").exists()


def test_the_pictures_of_the_documents_are_of_models_measured_here_and_of_one_that_others_made() -> None:
    site = DescribedSite({("multiple_choice", pictures.BENCHMARK): 1})
    assert pictures.of_documents(site) == {
        "wide-light": {"overview": f"/?sort=-{pictures.BENCHMARK}"},
        "wide-dark": {"run": "/runs/0/"},
    }
    made = {f"{page}-{look}.png" for look, pages in pictures.of_documents(site).items() for page in pages}
    assert made == {path.name for path in pictures.DOCS.glob("*.png")}
    assert max(path.stat().st_size for path in pictures.DOCS.glob("*.png")) < MOST_BYTES
