"""The address by which a client is counted."""

import pytest
from django.test import RequestFactory

from leaderboard.serving.limits import client_address


@pytest.mark.parametrize(
    ("remote_address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        ("localhost", "unknown"),
        ("1.2.3.4, 5.6.7.8", "unknown"),
    ],
)
def test_a_client_is_counted_by_its_address_or_its_network(remote_address: str, counted: str) -> None:
    assert client_address(RequestFactory().get("/", REMOTE_ADDR=remote_address)) == counted


def test_a_client_cannot_choose_the_address_that_it_is_counted_by() -> None:
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.7", headers={"X-Forwarded-For": "198.51.100.1"})
    assert client_address(request) == "192.0.2.7"
