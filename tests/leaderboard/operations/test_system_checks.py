from pathlib import Path

import pytest
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.operations import deployment_checks
from probing.measuring import limits


def test_a_fresh_installation_is_in_order(data: Path) -> None:
    assert deployment_checks.data_folder_is_writable() == []
    assert deployment_checks.secret_key_is_secret() == []
    assert deployment_checks.redis_answers() == []
    assert deployment_checks.debug_is_local() == []


def test_a_data_folder_that_is_a_file_is_an_error(settings: DjangoSettings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings.DATA = tmp_path / "file" / "data"
    assert ids_of(deployment_checks.data_folder_is_writable()) == ["clozeboard.E001"]


def test_a_short_secret_key_is_an_error(settings: DjangoSettings) -> None:
    settings.SECRET_KEY = "secret"
    assert ids_of(deployment_checks.secret_key_is_secret()) == ["clozeboard.E002"]


def test_a_redis_that_does_not_answer_is_a_warning(settings: DjangoSettings) -> None:
    settings.EMBEDDED_REDIS = None
    assert ids_of(deployment_checks.redis_answers()) == ["clozeboard.W001"]


@pytest.mark.parametrize(("hosts", "ids"), [(["localhost"], []), (["*"], ["clozeboard.W002"])])
def test_debug_in_public_is_a_warning(settings: DjangoSettings, hosts: list[str], ids: list[str]) -> None:
    settings.DEBUG, settings.ALLOWED_HOSTS = True, hosts
    assert ids_of(deployment_checks.debug_is_local()) == ids


def test_a_machine_that_cannot_isolate_models_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, settings: DjangoSettings
) -> None:
    assert deployment_checks.models_are_isolated() == []
    monkeypatch.setattr(limits, "problem", lambda: "bubblewrap is not installed")
    assert ids_of(deployment_checks.models_are_isolated()) == ["clozeboard.W003"]
    settings.ISOLATION_REQUIRED = True
    (message,) = deployment_checks.models_are_isolated()
    assert "not measured on this machine" in message.msg


def ids_of(messages: list[deployment_checks.CheckMessage]) -> list[str]:
    assert all(message.hint for message in messages)
    return [message.id for message in messages]
