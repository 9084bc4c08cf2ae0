import pytest
from django.core.exceptions import ImproperlyConfigured

from leaderboard.environment import env_address, env_bool, env_int


def test_a_switch_reads_the_usual_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, expected in {"1": True, "true": True, "Yes": True, "0": False, "no": False, "": True}.items():
        monkeypatch.setenv("SWITCH", value)
        assert env_bool("SWITCH", True) is expected


def test_a_value_that_cannot_be_read_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCH", "perhaps")
    with pytest.raises(ImproperlyConfigured, match="SWITCH='perhaps'"):
        env_bool("SWITCH", False)
    with pytest.raises(ImproperlyConfigured, match="SWITCH='perhaps'"):
        env_int("SWITCH", 8000)


def test_an_address_has_no_slash_at_its_end_and_is_one_of_the_web(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCUMENTS", "https://docs.example.org/ ")
    assert env_address("DOCUMENTS") == "https://docs.example.org"
    monkeypatch.setenv("DOCUMENTS", "docs.example.org")
    with pytest.raises(ImproperlyConfigured, match="Set it like DOCUMENTS=https://"):
        env_address("DOCUMENTS")
