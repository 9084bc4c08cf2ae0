"""/methods/ : docs/methods.md as a page."""

from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt


def methods_view(request: HttpRequest) -> HttpResponse:
    return render(request, "methods.html", {"text": _text()})


@lru_cache(maxsize=1)
def _text() -> SafeString:
    source = (settings.BASE_DIR / "docs" / "methods.md").read_text(encoding="utf-8")
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(source)
    return mark_safe(html)  # our own file, and html=False escapes what looks like HTML in it
