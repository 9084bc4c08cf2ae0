"""`manage.py serve`: the web server, with a thread that makes lists of results anew."""

import pytest
from django.core.management import call_command

from leaderboard.figures import kept_lists
from leaderboard.serving import web_server


def test_lists_are_renewed_while_the_site_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(kept_lists, "start", lambda: calls.append("renewal"))
    monkeypatch.setattr(web_server, "serve", calls.append)
    call_command("serve", "--listen", "127.0.0.1:1")
    assert calls == ["renewal", "127.0.0.1:1"]
