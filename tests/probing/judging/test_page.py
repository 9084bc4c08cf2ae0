"""The page of a form: its texts are escaped, and it needs nothing from elsewhere."""

from pathlib import Path

from probing.formats.geography import typed_sentences
from probing.judging.forms import empty_lines, write_page
from tests.probing.judging.judged import write_benchmark

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
