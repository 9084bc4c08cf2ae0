"""Snapshots: tables of the site, frozen in a document whose digest is the snapshot's address.

The document has no time in it, so that the same data give the same bytes, whenever and however often they are frozen.
"""

import gzip
import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple

from leaderboard.models import Snapshot
from probing.errors import BadInput

FORMAT = 1
LARGEST = 20_000_000  # bytes of a document; a table of 1,000 models and 100 columns has 1 MB
LEVEL = 6  # of compression


class FrozenTable(NamedTuple):
    """A table as its CSV had it: the address of its page, the names of its columns, and the texts of its cells."""

    title: str
    address: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def store(title: str, tables: Sequence[FrozenTable]) -> Snapshot:
    """Store the tables, or return the snapshot that has the same document already.

    Raises `BadInput` if the tables are too large.
    """
    document = document_of(tables)
    if len(document) > LARGEST:
        raise BadInput(
            f"The tables have {len(document):,} bytes, and a snapshot at most {LARGEST:,}.", "Choose more filters."
        )
    fields = {"title": title[:200], "document": gzip.compress(document, LEVEL, mtime=0), "length": len(document)}
    return Snapshot.objects.get_or_create(digest=hashlib.sha256(document).hexdigest(), defaults=fields)[0]


def document_of(tables: Sequence[FrozenTable]) -> bytes:
    """Return the document of some tables: JSON with sorted keys, without spaces, in UTF-8."""
    content = {"format": FORMAT, "tables": [table._asdict() for table in tables]}
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def read_document(snapshot: Snapshot) -> bytes:
    """Return the bytes whose SHA-256 is the digest of the snapshot."""
    return gzip.decompress(snapshot.document)


def read_tables(snapshot: Snapshot) -> list[FrozenTable]:
    """Return the tables of a snapshot."""
    return [FrozenTable(**table) for table in json.loads(read_document(snapshot))["tables"]]
