"""Which pages the pictures show."""

from unittest.mock import Mock

from tests.tools import pictures
from tests.tools.page_kinds import Site

MOST_BYTES = 150_000  # of a picture of the documents


def test_the_pictures_of_the_documents_are_of_models_measured_here_and_of_one_that_others_made() -> None:
    site = Mock(spec=Site)
    site.runs.return_value = [{"run": 7, "model": {"hub_id": "org/model"}}]
    shown = pictures.of_documents(site)
    assert shown == {"wide-light": {"overview": f"/?sort=-{pictures.BENCHMARK}"}, "wide-dark": {"run": "/runs/7/"}}
    made = {f"{page}-{look}.png" for look, pages in shown.items() for page in pages}
    assert made == {path.name for path in pictures.DOCS.glob("*.png")}
    assert max(path.stat().st_size for path in pictures.DOCS.glob("*.png")) < MOST_BYTES
