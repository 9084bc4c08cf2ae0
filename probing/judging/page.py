"""A form as one HTML page, which needs no network: judges click, and save what they have judged as a CSV file."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from probing.files.folders import new_file
from probing.judging.forms import COLUMNS, QUESTIONS, Line

TEMPLATE = "form.html"


def write_page(path: Path, title: str, lines: Sequence[Line]) -> None:
    """Write the page of a form; texts are escaped, as sentences may come from anywhere."""
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    page = environment.get_template(TEMPLATE).render(title=title, lines=lines, questions=QUESTIONS, columns=COLUMNS)
    with new_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
