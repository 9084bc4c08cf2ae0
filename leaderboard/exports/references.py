"""References to what the site shows, as plain text, BibTeX and CSL-JSON."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from leaderboard.display.visible import visible
from leaderboard.exports.latex import latex

SITE = "Clozeboard"


@dataclass(frozen=True)
class Reference:
    """What is cited: its title, everything that pins its figures, and its absolute address.

    `part`: the part of the site, such as "run 4". `version`: that of the benchmark, if it is about one. `issued`: when
    its figures were measured. `accessed`: the day of the look-up, for pages whose figures may change later.
    """

    key: str
    title: str
    details: str
    address: str
    part: str = ""
    version: str = ""
    issued: date | None = None
    accessed: date | None = None

    @property
    def text(self) -> str:
        """The reference as a sentence."""
        place = ", ".join(filter(None, [SITE, self.part, self.address, self._accessed]))
        return visible(f"{': '.join(filter(None, [self.title, self.details]))}. {place}")

    @property
    def _accessed(self) -> str:
        return f"accessed {self.accessed:%Y-%m-%d}" if self.accessed else ""

    @property
    def bibtex(self) -> str:
        """The reference as an entry of a BibTeX file; the fields `url` and `urldate` need a style that prints them."""
        day = self.issued or self.accessed
        fields = {
            "title": f"{{{latex(self.title)}}}",
            "author": f"{{{SITE}}}",
            "year": f"{day:%Y}" if day else "",
            "note": latex(": ".join(filter(None, [self.part.capitalize(), self.details]))),
            "url": self.address,
            "urldate": f"{self.accessed:%Y-%m-%d}" if self.accessed else "",
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@misc{{{self.key},", *lines, "}"])

    @property
    def csl(self) -> dict[str, Any]:
        """The reference as an item of CSL-JSON, which Zotero, Pandoc and their like read."""
        item = {
            "id": self.key,
            "type": "dataset",
            "title": visible(self.title),
            "author": [{"literal": SITE}],
            "publisher": SITE,
            "number": self.part,
            "version": self.version,
            "note": visible(self.details),
            "URL": self.address,
            "issued": _csl_date(self.issued),
            "accessed": _csl_date(self.accessed),
        }
        return {name: value for name, value in item.items() if value}


def _csl_date(day: date | None) -> dict[str, list[list[int]]] | None:
    return {"date-parts": [[day.year, day.month, day.day]]} if day else None
