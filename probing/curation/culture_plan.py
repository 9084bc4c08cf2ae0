"""The settings for the curation of culture pairs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from probing.curation import wordings
from probing.curation.articles import SortKey
from probing.curation.cultures import CulturePair
from probing.curation.options import option
from probing.curation.predicates import PREDICATES, Predicate, choose
from probing.errors import BadInput
from probing.formats.dlama_files import TEMPLATES_FOLDER


@dataclass(frozen=True)
class CulturePlan:
    """What a curation of culture pairs is to contain.

    `own`: the user's own predicates, which go before those that ship. `templates`: a folder of templates that replace
    those of the predicates' entries.
    """

    pairs: tuple[CulturePair, ...]
    predicates: tuple[str, ...] = field(
        default=(),
        metadata=option(
            f"properties of Wikidata; default: those of --predicate-file, or else all {len(PREDICATES)}",
            flag="--predicate",
            metavar="ID",
        ),
    )
    at_most: int = field(default=1000, metadata=option("the most subjects of a predicate and culture"))
    sort: SortKey = field(default="size", metadata=option("what makes the subject of an article well known"))
    least_sitelinks: int = field(default=0, metadata=option("the fewest sitelinks of a subject, 0 in the paper"))
    templates: Path | None = field(
        default=None,
        metadata=option("a folder with <language>/templates.jsonl; default: those of the predicates", metavar="DIR"),
    )
    own: Mapping[str, Predicate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "predicates", tuple(choose(self.predicates, self.own)))
        names = [pair.name for pair in self.pairs]
        if TEMPLATES_FOLDER in names or len(set(names)) < len(names):
            raise BadInput(
                f"Pairs cannot be called {', '.join(names)}.", f"Each needs a --name that is not {TEMPLATES_FOLDER}."
            )
        if self.at_most < 1:
            raise BadInput(f"at_most cannot be {self.at_most}.", "Give 1 or more.")
        if self.least_sitelinks < 0:
            raise BadInput(f"No subject has {self.least_sitelinks} sitelinks.", "Give 0 or more.")
        for language in self.languages:
            self.templates_in(language)

    @property
    def chosen(self) -> dict[str, Predicate]:
        return choose(self.predicates, self.own)

    def templates_in(self, language: str) -> dict[str, str]:
        """Return predicate -> template; raise `BadInput` if a predicate has none in this language."""
        texts = {id: predicate.templates for id, predicate in self.chosen.items()}
        return wordings.templates(texts, language, self.templates)

    @property
    def languages(self) -> list[str]:
        return sorted({language for pair in self.pairs for language in pair.languages})
