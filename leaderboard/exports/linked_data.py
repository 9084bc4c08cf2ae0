"""What search engines for data sets read on the page of a benchmark: a `Dataset` of schema.org, as JSON-LD."""

import json
from typing import Any

from django.utils.safestring import SafeString

from leaderboard.exports.references import SITE
from leaderboard.models import Benchmark
from leaderboard.probe_pages.descriptions import description

ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}  # none of them can end a script element


def dataset(benchmark: Benchmark, address: str) -> dict[str, Any]:
    """Return the benchmark as a data set; `address`: of its page, absolute."""
    facts = {
        "@context": {"@vocab": "https://schema.org/"},
        "@type": "Dataset",
        "@id": address,
        "name": benchmark.title,
        "description": f"{description(benchmark)} A benchmark of {benchmark.items:,} questions for language models.",
        "url": address,
        "version": benchmark.version,
        "identifier": f"sha256:{benchmark.digest}" if benchmark.digest else "",
        "license": benchmark.licence,
        "citation": benchmark.citation,
        "sameAs": benchmark.source,
        "isAccessibleForFree": True,
        "includedInDataCatalog": {"@type": "DataCatalog", "name": SITE},
        "distribution": question_file(address) if benchmark.path else "",
        "subjectOf": _croissant_file(address) if benchmark.path else "",
    }
    return {name: value for name, value in facts.items() if value}


def question_file(address: str) -> dict[str, str]:
    """Return where the questions are, as the site shows them."""
    return {
        "@type": "DataDownload",
        "name": "Questions, with how many models got each right",
        "encodingFormat": "text/csv",
        "contentUrl": f"{address}items/?format=csv",
    }


def _croissant_file(address: str) -> dict[str, str]:
    """Return where the same is described for programs that read the questions."""
    return {
        "@type": "DataDownload",
        "name": "Croissant",
        "encodingFormat": "application/ld+json",
        "contentUrl": f"{address}croissant.json",
    }


def as_script(content: dict[str, Any]) -> SafeString:
    """Return JSON-LD as an element of a page's head; browsers do not run it."""
    text = json.dumps(content, ensure_ascii=False).translate(ESCAPES)
    return SafeString(f'<script type="application/ld+json">{text}</script>')
