"""/methods/ : docs/methods.md as a page."""

from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

# A table that is wider than the screen scrolls without the rest of the page, by keyboard as well.
SCROLLED = '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>'


def methods_view(request: HttpRequest) -> HttpResponse:
    return render(request, "methods.html", {"text": _text()})


@lru_cache(maxsize=1)
def _text() -> SafeString:
    source = (settings.BASE_DIR / "docs" / "methods.md").read_text(encoding="utf-8")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("table_open", lambda *_: SCROLLED)
    markdown.add_render_rule("table_close", lambda *_: "</table></div>")
    # The file is part of the project, and html=False escapes everything in it that looks like HTML.
    return SafeString(markdown.render(source))
