"""The settings: how they read the environment, and what follows from it."""

import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.exceptions import ImproperlyConfigured

from leaderboard import settings
from leaderboard.settings import env_address, env_bool, env_int


def test_a_secret_key_is_generated_once_and_readable_only_by_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    key = settings.secret_key(tmp_path / "data")
    assert len(key) > 50
    assert settings.secret_key(tmp_path / "data") == key
    assert (tmp_path / "data" / "secret_key").stat().st_mode & 0o077 == 0


def test_a_given_secret_key_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "given")
    assert settings.secret_key(tmp_path / "new") == "given"
    assert not (tmp_path / "new").exists()


def test_the_socket_of_the_embedded_server_has_an_address_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings.embedded_redis_socket(Path("/short")) == Path("/short/valkey/valkey.sock")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("long" * 30)))
    assert len(str(settings.embedded_redis_socket(tmp_path / ("long" * 30)))) < 100


def test_the_folder_of_an_installed_package_is_found() -> None:
    assert (settings.package_folder("pytest") / "__init__.py").exists()
    with pytest.raises(ImproperlyConfigured, match="no_such_package is not installed"):
        settings.package_folder("no_such_package")


def test_a_bucket_without_its_packages_names_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOZEBOARD_S3_BUCKET", "results")
    monkeypatch.setattr(settings, "find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"storages is not installed\. Install it: pip install .*\[s3\]"):
        settings.artefact_storage(Path())


def settings_with(**variables: str) -> dict[str, Any]:
    """Return the settings of a process that has these variables alone."""
    with patch.dict(os.environ, {"PATH": os.environ["PATH"], **variables}, clear=True):
        return runpy.run_path(settings.__file__)


REDIS = "redis://h:1/2?a=b"
PUBLIC = {"ALLOWED_HOSTS": "a.org"}
CASES: list[tuple[dict[str, str], Callable[[dict[str, Any]], object], object]] = [
    (
        {"DATABASE_URL": "postgres://u:p@h/d"},
        lambda s: s["DATABASES"]["default"]["ENGINE"],
        "django.db.backends.postgresql",
    ),
    ({}, lambda s: s["DATABASES"]["default"]["OPTIONS"]["transaction_mode"], "IMMEDIATE"),
    (
        {"REDIS_URL": REDIS},
        lambda s: s["RQ_QUEUES"]["measure"]["URL"],
        f"{REDIS}&socket_connect_timeout=2&socket_timeout=5",
    ),
    ({"ALLOWED_HOSTS": "a.org, .b.org"}, lambda s: s["CSRF_TRUSTED_ORIGINS"], ["https://a.org", "https://*.b.org"]),
    ({"HF_ENDPOINT": "http://hub/"}, lambda s: s["HF_ENDPOINT"], "http://hub"),
    ({}, lambda s: s["MODEL_MEMORY_LIMIT"], 25 * 10**9),
    ({"CLOZEBOARD_MODEL_GB": "1"}, lambda s: s["MODEL_MEMORY_LIMIT"], 2.5 * 10**9),
    ({"CLOZEBOARD_MODEL_GB": "3"}, lambda s: s["MODEL_MEMORY_LIMIT"], 5 * 10**9),
    ({"CLOZEBOARD_MODEL_GB": "3", "CLOZEBOARD_MEMORY_GB": "16"}, lambda s: s["MODEL_MEMORY_LIMIT"], 16 * 10**9),
    ({}, lambda s: s["ISOLATION_REQUIRED"], False),
    (PUBLIC, lambda s: s["ISOLATION_REQUIRED"], True),
    (PUBLIC | {"DEBUG": "1"}, lambda s: s["ISOLATION_REQUIRED"], False),
    (PUBLIC | {"CLOZEBOARD_ISOLATION": "optional"}, lambda s: s["ISOLATION_REQUIRED"], False),
    ({"CLOZEBOARD_ISOLATION": "required"}, lambda s: s["ISOLATION_REQUIRED"], True),
    ({"CLOZEBOARD_TRUSTED_PROXIES": "127.0.0.1,10.0.0.0/8"}, lambda s: len(s["TRUSTED_PROXIES"]), 2),
    ({"CLOZEBOARD_FLOAT32_PARAMETERS": "350000000"}, lambda s: s["FLOAT32_PARAMETERS"], 350_000_000),
]


def test_settings_follow_the_environment(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for variables, setting, value in CASES:
        with subtests.test(str(variables)):
            assert setting(settings_with(CLOZEBOARD_DATA=str(tmp_path), **variables)) == value


def test_the_database_has_its_folder_from_the_start(tmp_path: Path) -> None:
    settings_with(CLOZEBOARD_DATA=str(tmp_path / "new" / "data"), SECRET_KEY="given")
    assert (tmp_path / "new" / "data").is_dir()


@pytest.mark.parametrize(("command", "seconds"), [("serve", 4), ("rqworker", 20)])
def test_pages_wait_for_a_locked_database_for_a_shorter_time_than_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, seconds: int
) -> None:
    monkeypatch.setattr(sys, "argv", ["manage.py", command])
    assert settings_with(CLOZEBOARD_DATA=str(tmp_path))["DATABASE_SECONDS"] == seconds


@pytest.mark.slow
def test_the_documented_settings_of_a_public_site_leave_nothing_to_warn_of(tmp_path: Path) -> None:
    usual = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL", "DEBUG")}
    documented = {"ALLOWED_HOSTS": "clozeboard.example.org", "CLOZEBOARD_HTTPS": "1"}
    environment = usual | documented | {"CLOZEBOARD_DATA": str(tmp_path)}
    command = [sys.executable, "manage.py", "check", "--deploy", "--tag", "security", "--fail-level", "WARNING"]
    checked = subprocess.run(command, env=environment, cwd=settings.BASE_DIR, capture_output=True, text=True)
    assert (checked.returncode, "no issues" in checked.stdout) == (0, True), checked.stderr


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
