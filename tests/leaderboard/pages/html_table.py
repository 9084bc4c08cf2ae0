"""Reads the tables of a page as a browser would show them, without half-widths and what is only read out."""

from html.parser import HTMLParser


class Tables(HTMLParser):
    """`found[name]` is a list of rows of cell texts, the column names first."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None
        self._in_cell = False
        self._is_hidden = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table" and given.get("data-table"):
            self._rows = self.found[str(given["data-table"])] = []
        elif tag == "tr" and self._rows is not None and given.get("class") != "heading":
            self._rows.append([])
        elif tag == "th" and self._rows is not None and "data-column" in given:
            self._rows[-1].append(str(given["data-column"]))
        elif (tag == "td" or given.get("scope") == "row") and self._rows is not None:
            self._rows[-1].append("")
            self._in_cell = True
        elif tag == "span":
            self._is_hidden = given.get("class") in ("visually-hidden", "uncertainty")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False
        elif tag == "table":
            self._rows = None
        elif tag == "span":
            self._is_hidden = False

    def handle_data(self, data: str) -> None:
        if self._in_cell and self._rows and not self._is_hidden:
            self._rows[-1][-1] += data.strip()
