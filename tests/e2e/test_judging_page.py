"""The page of a form for judges in a browser: what a judge clicks is saved as a form that can be read."""

from pathlib import Path

from playwright.sync_api import Browser

from probing.formats.geography import typed_sentences
from probing.judging.forms import empty_lines, read_form, write_page
from tests.probing.judging.judged import rows, write_benchmark


def test_what_a_judge_clicks_is_saved_as_a_form_and_kept_in_the_browser(browser: Browser, tmp_path: Path) -> None:
    lines = empty_lines("1", typed_sentences(write_benchmark(tmp_path / "b")))
    write_page(tmp_path / "form.html", "b", lines)
    with browser.new_page(viewport={"width": 360, "height": 640}) as page:
        page.goto((tmp_path / "form.html").as_uri())
        page.get_by_label("Your name").fill("Ann O.")
        page.check("[name=grammatical-0][value=yes]")
        page.check("[name=factual-0][value=no]")
        page.fill("[name=note-0]", '=1+1, "no"')
        assert page.locator("#progress").inner_text() == f"1 of {len(lines)} judged"
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.reload()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save").click()
        saved = tmp_path / download.value.suggested_filename
        download.value.save_as(saved)
    assert saved.name == "sample-1-ann-o-.csv"
    form = read_form(saved, frozenset(line["id"] for line in lines))
    assert [dict(judgement.answers) for judgement in form.judgements][:2] == [
        {"grammatical": True, "factual": False},
        {},
    ]
    assert rows(saved)[0] == lines[0] | {"grammatical": "yes", "factual": "no", "note": '\'=1+1, "no"'}
