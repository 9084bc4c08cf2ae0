"""JSON objects that strangers send."""

import pytest
from django.test import RequestFactory

from leaderboard.serving.errors import read_object
from probing.errors import BadInput


def read(body: bytes, content_type: str = "application/json") -> dict[str, object]:
    return read_object(RequestFactory().post("/", body, content_type=content_type))


def test_an_object_is_read() -> None:
    assert read('{"model": "gpt2", "words": ["é", 1.5]}'.encode()) == {"model": "gpt2", "words": ["é", 1.5]}


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"\xff", b"[" * 9000, b'{"a": NaN}', b'{"a": 1e999}', b'{"a": "\\ud800"}', b'{"a": "\\u0000"}'],
)
def test_anything_else_is_bad_input(body: bytes) -> None:
    with pytest.raises(BadInput):
        read(body)


def test_another_content_type_is_bad_input() -> None:
    with pytest.raises(BadInput):
        read(b"{}", "text/plain")
