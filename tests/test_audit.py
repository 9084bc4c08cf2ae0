""".ci/audit: a known vulnerability fails, a service that does not answer is said and does not fail."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def audit(*command: str, **variables: str) -> tuple[int, str]:
    """The exit code of the audit with this command in place of pip-audit, and what it prints."""
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "audit", ROOT / "requirements.txt", *command],
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def stand_in(tmp_path: Path, *packages: dict[str, object]) -> list[str]:
    """A program that answers as pip-audit does about these packages."""
    path = tmp_path / "pip_audit.py"
    path.write_text(f"print({json.dumps(json.dumps({'dependencies': packages, 'fixes': []}))})\nraise SystemExit(1)")
    return [sys.executable, str(path)]


def test_without_a_network_it_says_so_and_does_not_fail() -> None:
    nowhere = dict.fromkeys(
        ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"], "http://127.0.0.1:9"
    )
    code, text = audit(str(Path(sys.executable).parent / "pip-audit"), **nowhere, NO_PROXY="", no_proxy="")
    assert (code, "was not audited" in text) == (0, True)


def test_a_service_that_knows_no_package_has_audited_nothing(tmp_path: Path) -> None:
    code, text = audit(*stand_in(tmp_path, {"name": "django", "skip_reason": "not found"}))
    assert (code, "was not audited" in text) == (0, True)


@pytest.mark.parametrize(("vulnerable", "code"), [(False, 0), (True, 1)])
def test_a_known_vulnerability_fails(tmp_path: Path, vulnerable: bool, code: int) -> None:
    entry = {"id": "CVE-2026-1", "fix_versions": ["5.2.20"], "description": ""}
    package = {"name": "django", "version": "5.2.19", "vulns": [entry] if vulnerable else []}
    ended, text = audit(*stand_in(tmp_path, package, {"name": "rq", "version": "2.12", "vulns": []}))
    assert ended == code
    assert ("django 5.2.19 has CVE-2026-1, mended in 5.2.20." in text) == vulnerable
    assert f"2 packages of {ROOT}/requirements.txt audited: {int(vulnerable)} known vulnerabilities." in text
