"""The page of a form: its texts are escaped, and what a judge clicks is saved as a form that can be read."""

import shutil
from pathlib import Path

import pytest

from probing.formats.geography import typed_sentences
from probing.judging.forms import empty_lines, read_form
from probing.judging.page import write_page
from tests.probing.judging.judged import rows, write_benchmark

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HOSTILE = '</script><script>alert(1)</script> "quoted"'


def test_texts_of_a_benchmark_are_escaped(tmp_path: Path) -> None:
    lines = [
        line | {"sentence": HOSTILE} for line in empty_lines("1", typed_sentences(write_benchmark(tmp_path / "b")))
    ]
    write_page(tmp_path / "form.html", HOSTILE, lines)
    page = (tmp_path / "form.html").read_text()
    assert "alert(1)" in page
    assert "<script>alert" not in page


def test_a_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    write_page(tmp_path / "form.html", "b", empty_lines("1", typed_sentences(write_benchmark(tmp_path / "b"))))
    page = (tmp_path / "form.html").read_text()
    assert "default-src 'none'" in page
    assert "src=" not in page.replace("default-src", "").replace("script-src", "").replace("style-src", "")
    assert "http:" not in page.replace("http-equiv", "")
    assert "https:" not in page


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM, reason="No chromium on this machine: apt-get install chromium.")
def test_what_a_judge_clicks_is_saved_as_a_form_and_kept_in_the_browser(tmp_path: Path) -> None:
    sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright
    lines = empty_lines("1", typed_sentences(write_benchmark(tmp_path / "b")))
    write_page(tmp_path / "form.html", "b", lines)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 360, "height": 640})
        page.goto((tmp_path / "form.html").as_uri())
        page.get_by_label("Your name").fill("Ann O.")
        page.check("[name=acceptable-0][value=yes]")
        page.check("[name=factual-0][value=no]")
        page.fill("[name=note-0]", '=1+1, "no"')
        assert page.locator("#progress").inner_text() == f"1 of {len(lines)} judged"
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.reload()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save").click()
        saved = tmp_path / download.value.suggested_filename
        download.value.save_as(saved)
        browser.close()
    assert saved.name == "sample-1-ann-o-.csv"
    form = read_form(saved, frozenset(line["id"] for line in lines))
    assert [dict(judgement.answers) for judgement in form.judgements][:2] == [
        {"acceptable": True, "factual": False},
        {},
    ]
    assert rows(saved)[0] == lines[0] | {"acceptable": "yes", "factual": "no", "note": '\'=1+1, "no"'}
