"""The plain text of Wikipedia's articles, from a dump of its pages as Wikimedia offers it (`*-pages-articles.xml.bz2`).

A dump is read page by page, so that it never is in memory. Markup is taken away by rules that suffice for counting
words: templates, tables, references and files go, and of links their text stays.
"""

import re
from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree

from probing.errors import BadInput

ENDINGS = (".xml", ".xml.bz2", ".xml.gz")
ARTICLES = "0"  # the namespace of articles; all others are about Wikipedia itself
GONE = re.compile(r"<!--.*?-->|<(ref|math|gallery|timeline)\b[^>]*?(/>|>.*?</\1>)|<[^>]+>|'{2,}", re.DOTALL)
INNERMOST = re.compile(r"\{\{[^{}]*\}\}|\{\|(?:(?!\{\|).)*?\|\}", re.DOTALL)  # templates and tables
FILE = re.compile(r"\[\[(?:File|Image|Category):(?:[^\[\]]|\[\[[^\[\]]*\]\])*\]\]", re.IGNORECASE)
LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
ADDRESS = re.compile(r"\[?https?://[^\s\]]+")


def articles(file: IO[bytes], name: str) -> Iterator[str]:
    """Yield the plain text of each article of a dump; raise `BadInput` where it is no XML. Redirects are left out."""
    try:
        events = ElementTree.iterparse(file, ("start", "end"))
        _, whole = next(events)
        for event, element in events:
            if (event, _tag(element)) != ("end", "page"):
                continue
            values = {_tag(part): part.text or "" for part in element.iter()}
            if values.get("ns") == ARTICLES and "redirect" not in values:
                yield plain_text(values.get("text", ""))
            whole.clear()
    except ElementTree.ParseError as error:
        raise BadInput(f"{name} is no whole dump of Wikipedia ({error}).", "Download it again.") from error


def plain_text(markup: str) -> str:
    """Return the text of an article without its markup."""
    text, replaced = GONE.sub("", markup), 1
    while replaced:
        text, replaced = INNERMOST.subn("", text)
    return LINK.sub(r"\1", ADDRESS.sub("", FILE.sub("", text)))


def _tag(element: ElementTree.Element) -> str:
    """Return the name of an element without its name space, which differs from dump to dump."""
    return element.tag.rpartition("}")[2]
