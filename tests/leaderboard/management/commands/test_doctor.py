"""manage.py doctor: its lines, its list for programs, and its exit code."""

import io
import json
from collections.abc import Iterator

import pytest
from django.core.management import call_command

from leaderboard.management.commands import doctor
from leaderboard.operations.diagnosis.findings import Finding, fine, problem, warning


def printed(monkeypatch: pytest.MonkeyPatch, *findings: Finding, options: tuple[str, ...] = ()) -> tuple[str, int]:
    """What it prints about these findings, and its exit code."""
    output = io.StringIO()
    monkeypatch.setattr(doctor, "examine", lambda: iter(findings))
    try:
        call_command("doctor", *options, stdout=output)
    except SystemExit as end:
        return output.getvalue(), int(end.code)
    return output.getvalue(), 0


def test_each_line_has_a_mark_and_a_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = [fine("database", "It answers."), warning("hub", "It is silent.", "Wait.")]
    text, code = printed(monkeypatch, *findings)
    assert text.splitlines() == ["✓ database: It answers.", "! hub: It is silent.", "    Wait."]
    assert code == 0


def test_a_problem_makes_the_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    text, code = printed(monkeypatch, problem("tables", "Some are missing.", "Run manage.py migrate."))
    assert (code, text.splitlines()[0]) == (1, "✗ tables: Some are missing.")


def test_programs_get_json(monkeypatch: pytest.MonkeyPatch) -> None:
    text, code = printed(monkeypatch, problem("tables", "Missing.", "Migrate."), options=("--json",))
    assert code == 1
    assert json.loads(text) == [{"check": "tables", "state": "problem", "message": "Missing.", "next_step": "Migrate."}]


@pytest.mark.django_db
def test_every_finding_about_a_real_site_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    findings: Iterator[Finding] = doctor.examine()
    for finding in findings:
        assert finding.message.endswith((".", ")")) or finding.state != "ok"
        assert bool(finding.next_step) == (finding.state != "ok"), finding
