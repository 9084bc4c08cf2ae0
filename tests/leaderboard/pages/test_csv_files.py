"""Every CSV file: names and types of columns that are the same wherever they stand, and a telling file name."""

import csv
import re

import pytest
from django.test import Client

from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db
TYPES = {"integer": re.compile(r"-?\d+"), "boolean": re.compile("true|false")}
CSV = re.compile(r'href="(\?[^"]*format=csv[^"]*)"')


def csv_files(client: Client, site: Site) -> list[str]:
    """The addresses of all CSV files that the pages of the site link."""
    addresses = []
    for page in site.addresses:
        path = page.partition("?")[0]
        links = CSV.findall(client.get(page).content.decode())
        addresses += [path + link.replace("&amp;", "&") for link in links]
    return list(dict.fromkeys(addresses))


def test_run_is_a_number_and_correct_true_or_false_in_every_csv_file(client: Client, site: Site) -> None:
    seen, addresses = set(), csv_files(client, site)
    assert len(addresses) > 20
    for address in addresses:
        rows = csv.DictReader(client.get(address).getvalue().decode("utf-8-sig").splitlines())
        for row in rows:
            for name, pattern in (("run", "integer"), ("correct", "boolean")):
                if name in row:
                    seen.add(name)
                    assert not row[name] or TYPES[pattern].fullmatch(row[name]), (address, row)
    assert seen == {"run", "correct"}


def test_each_file_has_a_name_that_says_what_it_is(client: Client, site: Site) -> None:
    names = []
    for address in csv_files(client, site):
        response = client.get(address)
        response.getvalue()  # a stream that nobody reads stays open, and the site limits how many are
        names.append(response["Content-Disposition"].removeprefix("attachment; filename="))
    assert all(name.startswith('"clozeboard-') for name in names)
    assert f'"clozeboard-runs-{site.first.pk}-scores.csv"' in names
    assert '"clozeboard-benchmarks-small-leaderboard.csv"' in names
