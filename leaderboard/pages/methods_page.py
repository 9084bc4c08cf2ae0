"""/methods/ : documents as pages, with contents, sections, and an address for every heading."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

# A table that is wider than the screen scrolls without the rest of the page, by keyboard as well. Its caption, which is
# read to those who do not see where it stands, is the name of what stands above it.
SCROLLED = '<div class="scroll" role="group" aria-label="{0}" tabindex="0"><table><caption>{0}</caption>'
IN_CONTENTS = ("h2", "h3")


class Heading(NamedTuple):
    """A heading of the page: its level, its id and its text."""

    level: str
    id: str
    text: str


class Document(NamedTuple):
    """The text as HTML, the headings that the contents list, and every id that links can lead to."""

    text: SafeString
    contents: list[Heading]
    ids: frozenset[str]


def methods_view(request: HttpRequest) -> HttpResponse:
    return render(request, "methods.html", read_methods()._asdict())


@lru_cache(maxsize=1)
def read_methods() -> Document:
    """Read docs/methods.md; headings, and paragraphs that begin with a bold term, get ids."""
    source = (settings.BASE_DIR / "docs" / "methods.md").read_text(encoding="utf-8")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("table_open", _table_open)
    markdown.add_render_rule("table_close", lambda *_: "</table></div>")
    tokens = markdown.parse(source)
    contents: list[Heading] = []
    ids: set[str] = set()
    above, tables = "", 0  # the last name, and the number of tables since
    for opening, inside in pairwise(tokens):
        term = _name(opening, inside.children or [])
        _lead_to_documentation(opening.children or [])
        if opening.type == "table_open":
            tables += 1
            opening.meta["caption"] = f"{above}, table {tables}" if tables > 1 else above
        elif opening.type == "th_open":
            opening.attrSet("scope", "col")
        if term:
            above, tables = term, 0
        anchor = slugify(term.replace("±", "plus minus"))
        if not anchor or anchor in ids:
            continue
        ids.add(anchor)
        opening.attrSet("id", anchor)
        if opening.tag in IN_CONTENTS:
            contents.append(Heading(opening.tag, anchor, term))
    # The file is part of the project, and html=False escapes everything in it that looks like HTML.
    text = SafeString(markdown.renderer.render(_in_sections(tokens), markdown.options, {}))
    return Document(text, contents, frozenset(ids))


def _lead_to_documentation(inside: Sequence[Token]) -> None:
    """Let links to other documents lead to the built ones; without an address of these only their words remain."""
    for place, token in enumerate(inside):
        file, hash_mark, anchor = str(token.attrGet("href") or "").partition("#")
        if not file.endswith(".md"):
            continue
        if settings.DOCUMENTATION:
            token.attrSet("href", f"{settings.DOCUMENTATION}/{file.removesuffix('.md')}.html{hash_mark}{anchor}")
        else:
            closing = next(later for later in inside[place:] if later.type == "link_close")
            token.hidden = closing.hidden = True


def _in_sections(tokens: Sequence[Token]) -> list[Token]:
    """Put each heading of the second level into a section with all that follows it, so that phones can fold it."""
    starts = [place for place, token in enumerate(tokens) if (token.type, token.tag) == ("heading_open", "h2")]
    sections: list[Token] = [*tokens[: starts[0]]]
    for start, end in pairwise([*starts, len(tokens)]):
        opening = Token("section_open", "section", 1, block=True)
        closing = Token("section_close", "section", -1, block=True)
        sections += [opening, *tokens[start:end], closing]
    return sections


def _table_open(_renderer: RendererHTML, tokens: Sequence[Token], place: int, *_: object) -> str:
    return SCROLLED.format(escape(tokens[place].meta["caption"]))


def _name(opening: Token, inside: Sequence[Token]) -> str:
    """Return what a block is called: the text of a heading, or the bold term at the start of a paragraph."""
    if opening.type == "heading_open":
        return "".join(token.content for token in inside)
    # An empty text token stands before the bold one.
    words = [token for token in inside[:3] if token.content or token.type == "strong_open"]
    is_term = opening.type == "paragraph_open" and len(words) > 1 and words[0].type == "strong_open"
    return words[1].content.rstrip(".") if is_term else ""
