"""A benchmark for programs and for search engines: in the format Croissant 1.1 of MLCommons."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.safestring import SafeString

from leaderboard.exports.references import SITE
from leaderboard.models import Benchmark
from leaderboard.probes.benchmark_words import description
from leaderboard.ui.labels import number_of

VERSION = "http://mlcommons.org/croissant/1.1"
# The terms of the format, which every document states in full; a test compares them with those of its own library.
TERMS = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references"),
    *("regex", "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform"),
)
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in TERMS},
}
ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}  # none of them can end a script element
FILE, RECORDS = "questions.csv", "questions"
TEXT, INTEGER, FLOAT = "sc:Text", "sc:Integer", "sc:Float"
# The types and the meanings of the columns of the questions of a benchmark.
COLUMNS: Mapping[str, tuple[str, str]] = {
    "id": (TEXT, "Number of the question, which stays the same in later versions of the benchmark."),
    "question": (TEXT, "The question in its usual wording, with a blank where the answer stands."),
    "answer": (TEXT, "Right answers, separated by semicolons."),
    "relation": (TEXT, "What is asked of the subject."),
    "culture_pair": (TEXT, "The pair of cultures that the question belongs to, in a set of contrasting cultures."),
    "language": (TEXT, "Code of the language in which the question is asked, in a set of several languages."),
    "truth": (TEXT, "Whether the statement is true or false."),
    "answered": (INTEGER, "How many answers of models measured here there are."),
    "right": (INTEGER, "How many of these answers are right."),
    "share": (FLOAT, "Share of right answers."),
}


def croissant(benchmark: Benchmark, address: str, columns: Iterable[str]) -> dict[str, Any]:
    """Return the description of a benchmark; `address`: of its page, absolute; `columns`: those of its questions.

    The file of questions has the counts of right answers, too, which change with every run. The data set is therefore
    marked as a live one, whose file has no fixed digest.
    """
    facts = {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "isLiveDataset": True,
        "name": benchmark.title,
        "description": f"{description(benchmark)} "
        f"A benchmark of {number_of(benchmark.items, benchmark.noun)} for language models.",
        "url": address,
        "version": benchmark.version,
        "license": benchmark.licence,
        "citeAs": benchmark.citation,
        "sameAs": benchmark.source,
        "publisher": {"@type": "sc:Organization", "name": SITE},
        "datePublished": benchmark.created.date().isoformat(),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": FILE,
                "name": "Questions, with how many models got each right",
                "encodingFormat": "text/csv",
                "contentUrl": f"{address}items/?format=csv",
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": RECORDS,
                "name": RECORDS,
                "key": {"@id": f"{RECORDS}/id"},
                "field": [_field(name) for name in columns],
            }
        ],
    }
    return {name: value for name, value in facts.items() if value}


def _field(name: str) -> dict[str, Any]:
    kind, meaning = COLUMNS[name]
    return {
        "@type": "cr:Field",
        "@id": f"{RECORDS}/{name}",
        "name": name,
        "description": meaning,
        "dataType": kind,
        "source": {"fileObject": {"@id": FILE}, "extract": {"column": name}},
    }


def as_script(content: dict[str, Any]) -> SafeString:
    """Return JSON-LD as an element of a page's head; browsers do not run it."""
    text = json.dumps(content, ensure_ascii=False).translate(ESCAPES)
    return SafeString(f'<script type="application/ld+json">{text}</script>')
