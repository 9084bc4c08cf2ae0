"""The one finding of a check."""

from leaderboard.operations.diagnosis.findings import Finding


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    assert finding.message.strip() and (finding.state == "ok") == (not finding.next_step)
    return finding
