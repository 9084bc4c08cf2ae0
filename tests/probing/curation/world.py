"""A small Wikidata with labels, statements with ranks and qualifiers, sitelinks and articles.

Its RDF has the shape of the query service: `wdt:` for values of best rank, `p:`/`ps:`/`pq:` for statements.
"""

from dataclasses import dataclass, field
from hashlib import sha256

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store

from probing.curation.wikidata import PREFIXES

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
STATEMENT = "http://www.wikidata.org/entity/statement/"
INTEGER = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
SOMETHING = "somevalue"
SOVEREIGN, HISTORICAL, UK_COUNTRY = "Q3624078", "Q3024240", "Q3336843"
BIG_CITY, VOICE = "Q1549591", "Q17172850"


def name(prefix: str, local: str) -> NamedNode:
    return NamedNode(PREFIXES[prefix] + local)


@dataclass(frozen=True)
class Claim:
    """A statement: `rank` is preferred, normal or deprecated; an `end` makes it a value of the past."""

    subject: str
    property: str
    value: str
    rank: str = "normal"
    end: str = ""


@dataclass
class World:
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    aliases: list[tuple[str, str, str]] = field(default_factory=list)  # item, language, alias
    claims: list[Claim] = field(default_factory=list)
    links: dict[str, int] = field(default_factory=dict)
    sizes: dict[tuple[str, str], int] = field(default_factory=dict)
    titles: dict[tuple[str, str], str] = field(default_factory=dict)
    redirects: dict[tuple[str, str], str] = field(default_factory=dict)

    def item(
        self, id: str, label: str = "", /, *, languages: str = "en ar ko es", links: int = 0, **articles: int
    ) -> str:
        """Add an item with a label in several languages, which differ by a suffix, and articles with that title.

        `articles`: bytes by site.
        """
        self.labels[id] = {
            language: label if language == "en" else f"{label} ({language})" for language in languages.split() if label
        }
        self.links[id] = links
        for site, size in articles.items():
            self.article(id, site, label, size)
        return id

    def article(self, id: str, site: str, title: str, size: int) -> None:
        self.titles[id, site] = title
        self.sizes[site, title] = size

    def claim(self, subject: str, property: str, *values: str, rank: str = "normal", end: str = "") -> None:
        self.claims.extend(Claim(subject, property, value, rank, end) for value in values)

    def store(self) -> Store:
        store = Store()
        store.extend(self._item_quads())
        preferred = {(claim.subject, claim.property) for claim in self.claims if claim.rank == "preferred"}
        for claim in self.claims:
            best = "preferred" if (claim.subject, claim.property) in preferred else "normal"
            store.extend(self._claim_quads(claim, claim.rank == best))
        return store

    def _item_quads(self) -> list[Quad]:
        quads = []
        for id, labels in self.labels.items():
            item = name("wd", id)
            label = name("rdfs", "label")
            quads += [Quad(item, label, Literal(text, language=language)) for language, text in labels.items()]
            quads.append(Quad(item, name("wikibase", "sitelinks"), Literal(str(self.links[id]), datatype=INTEGER)))
        for id, language, alias in self.aliases:
            quads.append(Quad(name("wd", id), name("skos", "altLabel"), Literal(alias, language=language)))
        for (id, site), title in self.titles.items():
            article = NamedNode(f"https://{site}.wikipedia.org/wiki/{sha256(title.encode()).hexdigest()[:12]}")
            quads += [
                Quad(article, name("schema", "about"), name("wd", id)),
                Quad(article, name("schema", "isPartOf"), NamedNode(f"https://{site}.wikipedia.org/")),
                Quad(article, name("schema", "name"), Literal(title, language=site)),
            ]
        return quads

    def _claim_quads(self, claim: Claim, best: bool) -> list[Quad]:
        digest = sha256(repr(claim).encode()).hexdigest()[:16]
        statement, subject = NamedNode(f"{STATEMENT}{claim.subject}-{digest}"), name("wd", claim.subject)
        value = BlankNode(digest) if claim.value == SOMETHING else name("wd", claim.value)
        quads = [
            Quad(subject, name("p", claim.property), statement),
            Quad(statement, name("ps", claim.property), value),
            Quad(statement, name("wikibase", "rank"), name("wikibase", f"{claim.rank.capitalize()}Rank")),
        ]
        if claim.end:
            quads.append(Quad(statement, name("pq", "P582"), Literal(claim.end)))
        if best:
            quads.append(Quad(subject, name("wdt", claim.property), value))
            quads.append(Quad(statement, NamedNode(RDF_TYPE), name("wikibase", "BestRank")))
        return quads
