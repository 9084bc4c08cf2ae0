"""JSON objects that strangers send."""

import json
from typing import Any

from django.http import HttpRequest

from probing.errors import BadInput

NEXT_STEP = "Send one JSON object with ordinary numbers and texts as application/json."


def read_object(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the request's body; raise `BadInput` if the body is anything else."""
    try:
        body = parse_object(request.body)
    except ValueError as error:
        raise BadInput(f"The body {error}.", NEXT_STEP) from error
    if request.content_type != "application/json":
        raise BadInput("The body is not sent as application/json.", NEXT_STEP)
    return body


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Return the JSON object that a text holds.

    Raise `ValueError` if the text is anything else, is nested too deeply to be read, or has a number or a text that
    neither JSON nor the database accepts (NaN, half a surrogate pair, the character U+0000).
    """
    try:
        content = json.loads(text, parse_constant=_refuse)
        stored = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError("is not JSON that can be read") from error
    if not isinstance(content, dict):
        raise ValueError("is not a JSON object")
    if rb"\u0000" in stored:
        raise ValueError("has a text with the character U+0000")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(constant)
