"""The description of the columns of every CSV file, and names and types that are the same wherever they stand."""

import csv
import re

import pytest
from django.test import Client

from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db
TYPES = {
    "integer": re.compile(r"-?\d+"),
    "number": re.compile(r"-?\d+(\.\d+)?(e-?\d+)?"),
    "boolean": re.compile("true|false"),
    "string": re.compile(".*", re.DOTALL),
}
DESCRIBED = re.compile(r'<http://testserver([^>]+)>; rel="describedby"; type="application/csvm\+json"')
CSV = re.compile(r'href="(\?[^"]*format=csv[^"]*)"')


def csv_files(client: Client, site: Site) -> list[str]:
    """The addresses of all CSV files that the pages of the site link."""
    addresses = []
    for page in site.addresses:
        path = page.partition("?")[0]
        links = CSV.findall(client.get(page).content.decode())
        addresses += [path + link.replace("&amp;", "&") for link in links]
    return list(dict.fromkeys(addresses))


def test_every_csv_file_is_described_by_the_file_that_it_names(client: Client, site: Site) -> None:
    addresses = csv_files(client, site)
    assert len(addresses) > 20
    for address in addresses:
        response = client.get(address)
        text = response.getvalue().decode("utf-8-sig")
        header, *rows = csv.reader(text.splitlines())
        match = re.fullmatch(
            r'<http://testserver([^>]+)>; rel="describedby"; type="application/csvm\+json"', response["Link"]
        )
        assert match, address
        beside = client.get(match[1])
        assert beside["Content-Type"] == "application/csvm+json", match[1]
        columns = beside.json()["tableSchema"]["columns"]
        assert [column["name"] for column in columns] == header, address
        for place, column in enumerate(columns):
            for row in rows:
                assert not row[place] or TYPES[column["datatype"]].fullmatch(row[place].removeprefix("'")), (
                    address,
                    column,
                )


def test_run_is_a_number_and_correct_true_or_false_in_every_csv_file(client: Client, site: Site) -> None:
    seen = set()
    for address in csv_files(client, site):
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


def test_columns_that_stand_in_many_files_have_the_same_meaning(client: Client, site: Site) -> None:
    content = client.get(f"/runs/{site.first.pk}/?format=csv-meta&table=scores").json()
    meanings = {column["name"]: column.get("dc:description") for column in content["tableSchema"]["columns"]}
    assert meanings["metric"] == "the name of the metric, such as accuracy"
    assert all(meanings.values())
    assert content["url"] == f"http://testserver/runs/{site.first.pk}/?table=scores&format=csv"
