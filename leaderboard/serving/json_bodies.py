"""JSON objects that strangers send."""

import json
from typing import Any

from django.http import HttpRequest

from probing.errors import BadInput

NEXT_STEP = "Send one JSON object with ordinary numbers and texts as application/json."


def read_object(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the request's body.

    Raise `BadInput` if the body is anything else, is nested too deeply to be read, or has a number or a text that
    neither JSON nor the database accepts (NaN, half a surrogate pair, the character U+0000).
    """
    try:
        body = json.loads(request.body, parse_constant=_refuse)
        stored = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise BadInput("The body is not JSON that can be read.", NEXT_STEP) from error
    if request.content_type != "application/json" or not isinstance(body, dict):
        raise BadInput("The body is not a JSON object.", NEXT_STEP)
    if rb"\u0000" in stored:
        raise BadInput("The body has a text with the character U+0000.", NEXT_STEP)
    return body


def _refuse(constant: str) -> None:
    raise ValueError(constant)
