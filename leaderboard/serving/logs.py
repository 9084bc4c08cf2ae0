"""Logs: plain lines or JSON, with the run and the web request that they belong to, and without secrets.

`run_context` and `request_ids` state the run or request that the code inside them works on. The formatters add this to
every line, those of other libraries included, and replace secrets by "***".
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from probing.errors import HIDDEN, without_secrets

GetResponse = Callable[[HttpRequest], HttpResponse]
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
IN_META = "clozeboard.request_id"  # where the request keeps its id for lines that Django logs after all middleware
LEAST_LENGTH = 6  # characters of a setting that is looked for in logs; shorter ones occur in ordinary words
_context: ContextVar[Mapping[str, object]] = ContextVar("log_context", default=MappingProxyType({}))


@contextmanager
def run_context(**fields: object) -> Iterator[None]:
    """Add fields such as `run_id`, `part` and `worker` to every line that is logged during the block."""
    token = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def request_ids(get_response: GetResponse) -> GetResponse:
    """Give each request an id, which its log lines and the header X-Request-ID of its response have.

    A proxy may choose the id by the same header; an id with characters that ids do not have is replaced.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        sent = request.headers.get("X-Request-ID", "")
        request_id = sent if REQUEST_ID.fullmatch(sent) else uuid4().hex
        request.META[IN_META] = request_id
        with run_context(request_id=request_id):
            response = get_response(request)
        response.headers["X-Request-ID"] = request_id
        return response

    return middleware


def scrubbed(text: str) -> str:
    """Return the text with every secret of the settings, and whatever looks like a token, replaced by "***"."""
    for secret in _secret_settings():
        text = text.replace(secret, HIDDEN)
    return without_secrets(text)


class PlainFormatter(logging.Formatter):
    """Lines for people; what the line belongs to follows the message in square brackets."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the name in Python's library)
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        return super().formatMessage(record) + (f" [{fields}]" if fields else "")

    def format(self, record: logging.LogRecord) -> str:
        return scrubbed(super().format(record))


class JsonLines(JsonFormatter):
    """One JSON object per line: time, level, logger, message, what the line belongs to, and other declared facts."""

    def __init__(self) -> None:
        super().__init__(
            "{asctime} {levelname} {name} {message}",
            style="{",
            datefmt="%Y-%m-%dT%H:%M:%S%z",
            rename_fields={"asctime": "time", "levelname": "level", "name": "logger", "exc_info": "exception"},
            reserved_attrs=[*RESERVED_ATTRS, "request"],  # Django adds the request, which is no value of JSON
            json_default=str,
            json_ensure_ascii=False,
        )

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        super().add_fields(log_data, record, message_dict)
        log_data.update(_fields(record))

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        return {name: _scrubbed_value(value) for name, value in log_data.items()}


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """Return what a line belongs to: the context in which it was logged, or else the request that it carries."""
    request = getattr(record, "request", None)
    request_id = request.META.get(IN_META) if isinstance(request, HttpRequest) else None
    return {**({"request_id": request_id} if request_id else {}), **_context.get()}


def _scrubbed_value(value: object) -> object:
    """Return a number or nothing as it is, and anything else as text without secrets."""
    return value if value is None or isinstance(value, int | float) else scrubbed(str(value))


def _secret_settings() -> Iterator[str]:
    values = [settings.SECRET_KEY, settings.HF_TOKEN, settings.METRICS_TOKEN, settings.DATABASES["default"]["PASSWORD"]]
    values += [unquote(urlsplit(settings.REDIS_URL).password or "")]
    return (value for value in values if value and len(value) >= LEAST_LENGTH)
