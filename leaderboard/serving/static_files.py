"""Addresses of scripts and styles that change with their content, so that browsers may keep them for a year."""

import hashlib
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage


class VersionedFiles(StaticFilesStorage):
    def url(self, name: str | None) -> str:
        version = _version(name) if name else ""
        return super().url(name) + (f"?v={version}" if version else "")


@cache
def _version(name: str) -> str:
    """Of a file as it was when it was first asked for: files change with a new release, which starts anew."""
    path = finders.find(name)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12] if path else ""
