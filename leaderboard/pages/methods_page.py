"""/methods/ : the documents of docs/methods/ as pages, with contents, sections, and an address for every heading."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.text import Truncator, slugify
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

INDEX = "index"
# The documents of docs/methods/ in the order in which a reader finds them.
NAMES = (
    INDEX,
    "scoring",
    "multiple-choice",
    "sensitivity",
    "culture",
    "specificity",
    "knowledge-graph",
    "geography",
    "statistics",
    "comparing",
)
# A table that is wider than the screen scrolls without the rest of the page, by keyboard as well. Its caption, which is
# read to those who do not see where it stands, is the name of what stands above it.
SCROLLED = '<div class="scroll" role="group" aria-label="{0}" tabindex="0"><table><caption>{0}</caption>'
IN_CONTENTS = ("h2", "h3")
GUIDES = "\n## Guides\n"  # the last section of the index, which leads to the documentation alone
SUMMARY = 200  # characters of the first paragraph that search engines are told


def methods_view(request: HttpRequest, name: str = INDEX) -> HttpResponse:
    """Show a document; other names, such as those of guides that were once here, lead to the index."""
    if name not in NAMES or request.path != methods_address(name):
        return redirect("methods")
    chapters = [(methods_address(other), read_methods(other)) for other in NAMES]
    return render(request, "methods.html", {"document": read_methods(name), "chapters": chapters})


def methods_address(name: str) -> str:
    return reverse("methods") if name == INDEX else reverse("methods_page", args=[name])


@lru_cache(maxsize=len(NAMES))
def read_methods(name: str) -> dict[str, Any]:
    """Read a document of docs/methods/: its title, its beginning, its HTML, the headings that the contents list.

    Headings, and paragraphs that begin with a bold term, get `ids`.
    """
    source = (settings.BASE_DIR / "docs" / "methods" / f"{name}.md").read_text(encoding="utf-8")
    if not settings.DOCUMENTATION:
        source = source.partition(GUIDES)[0]
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("table_open", _table_open)
    markdown.add_render_rule("table_close", lambda *_: "</table></div>")
    tokens = markdown.parse(source)
    headings = [
        {"level": opening.tag, "id": _anchor(inside.content), "text": inside.content}
        for opening, inside in pairwise(tokens)
        if opening.type == "heading_open"
    ]
    own = {heading["id"] for heading in headings}  # a bold term of the same name before a heading gets no id
    ids: set[str] = set()
    above, tables = "", 0  # the last name, and the number of tables since
    for opening, inside in pairwise(tokens):
        term = _name(opening, inside.children or [])
        _lead_on(opening.children or [])
        if opening.type == "table_open":
            tables += 1
            opening.meta["caption"] = f"{above}, table {tables}" if tables > 1 else above
        elif opening.type == "th_open":
            opening.attrSet("scope", "col")
        if term:
            above, tables = term, 0
        anchor = _anchor(term)
        if anchor and anchor not in ids and (opening.type == "heading_open" or anchor not in own):
            ids.add(anchor)
            opening.attrSet("id", anchor)
    # The file is part of the project, and html=False escapes everything in it that looks like HTML.
    text = SafeString(markdown.renderer.render(_in_sections(tokens), markdown.options, {}))
    return {
        "name": name,
        "title": headings[0]["text"],
        "summary": _summary(tokens),
        "text": text,
        "contents": [heading for heading in headings if heading["level"] in IN_CONTENTS],
        "ids": frozenset(ids),
    }


def _anchor(term: str) -> str:
    return slugify(term.replace("±", "plus minus"))


def _summary(tokens: Sequence[Token]) -> str:
    """Return the words of the first paragraph, without markup and cut to what search engines show."""
    first = next(inside for opening, inside in pairwise(tokens) if opening.type == "paragraph_open")
    words = " ".join(token.content for token in first.children or [] if token.content)
    return Truncator(" ".join(words.split())).chars(SUMMARY)


def _lead_on(inside: Sequence[Token]) -> None:
    """Let links to other documents lead to their pages here, or to the built documentation.

    Where the site does not know the address of the documentation, only the words of such a link remain.
    """
    for number, token in enumerate(inside):
        file, hash_mark, anchor = str(token.attrGet("href") or "").partition("#")
        name = file.removesuffix(".md")
        if name == file:
            continue
        if name in NAMES:
            token.attrSet("href", f"{methods_address(name)}{hash_mark}{anchor}")
        elif settings.DOCUMENTATION:
            page = f"{settings.DOCUMENTATION}/{name.removeprefix('../')}.html"
            token.attrSet("href", f"{page}{hash_mark}{anchor}")
        else:
            closing = next(later for later in inside[number:] if later.type == "link_close")
            token.hidden = closing.hidden = True


def _in_sections(tokens: Sequence[Token]) -> list[Token]:
    """Put each heading of the second level into a section with all that follows it, so that phones can fold it."""
    starts = [number for number, token in enumerate(tokens) if (token.type, token.tag) == ("heading_open", "h2")]
    sections: list[Token] = [*tokens[: starts[0]]]
    for start, end in pairwise([*starts, len(tokens)]):
        opening = Token("section_open", "section", 1, block=True)
        closing = Token("section_close", "section", -1, block=True)
        sections += [opening, *tokens[start:end], closing]
    return sections


def _table_open(_renderer: RendererHTML, tokens: Sequence[Token], number: int, *_: object) -> str:
    return SCROLLED.format(escape(tokens[number].meta["caption"]))


def _name(opening: Token, inside: Sequence[Token]) -> str:
    """Return what a block is called: the text of a heading, or the bold term at the start of a paragraph."""
    if opening.type == "heading_open":
        return "".join(token.content for token in inside)
    # An empty text token stands before the bold one.
    words = [token for token in inside[:3] if token.content or token.type == "strong_open"]
    is_term = opening.type == "paragraph_open" and len(words) > 1 and words[0].type == "strong_open"
    return words[1].content.rstrip(".") if is_term else ""
