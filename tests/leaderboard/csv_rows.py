"""Reads the CSV of a page's table."""

import csv
import io

from django.test import Client


def csv_rows(client: Client, address: str, table: str = "") -> list[dict[str, str]]:
    """Return the rows of a table by column name; the main table of the page unless another is named."""
    query = f"format=csv&table={table}" if table else "format=csv"
    response = client.get(f"{address}{'&' if '?' in address else '?'}{query}")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(response.getvalue().decode("utf-8-sig"))))
