"""Whom the web server believes when a request says from where and how it came."""

from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.serving.web_server import believing_proxies
from leaderboard.settings import env_networks

HOST = "clozeboard.example"


@pytest.mark.parametrize(
    ("peer", "seen"),
    [
        ("127.0.0.1", ("203.0.113.9", "https")),
        ("10.3.4.5", ("203.0.113.9", "https")),
        ("192.0.2.1", ("192.0.2.1", "http")),
        ("", ("", "http")),
    ],
)
def test_only_trusted_proxies_state_address_and_protocol(
    peer: str, seen: tuple[str, str], settings: DjangoSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_TRUSTED_PROXIES", "127.0.0.1,10.0.0.0/8")
    settings.TRUSTED_PROXIES = env_networks("CLOZEBOARD_TRUSTED_PROXIES", "")
    answers: list[tuple[str, str]] = []

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        answers.append((environ["REMOTE_ADDR"], environ["wsgi.url_scheme"]))
        return []

    headers = {"HTTP_X_FORWARDED_FOR": "198.51.100.7, 203.0.113.9", "HTTP_X_FORWARDED_PROTO": "https"}
    own = {"REMOTE_ADDR": peer, "REMOTE_HOST": peer, "SERVER_NAME": "x", "SERVER_PORT": "80", "wsgi.url_scheme": "http"}
    believing_proxies(application)({**own, "HTTP_HOST": HOST, **headers}, lambda *arguments: lambda data: None)
    assert answers == [seen]
