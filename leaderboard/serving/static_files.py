"""Addresses of scripts and styles that change with the content, so that browsers may cache them for a year."""

import hashlib
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage


class VersionedFiles(StaticFilesStorage):
    def url(self, name: str | None) -> str:
        digest = _content_digest(name) if name else ""
        return super().url(name) + (f"?v={digest}" if digest else "")


@cache
def _content_digest(name: str) -> str:
    """Return a short digest of a static file, "" if there is none.

    It is computed once per process: files change only with a new release, which restarts the site.
    """
    path = finders.find(name)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12] if path else ""
