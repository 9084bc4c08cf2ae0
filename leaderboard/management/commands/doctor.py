"""Say in plain words what is wrong with a deployment and how to mend it."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from leaderboard.management.base import PlainCommand
from leaderboard.operations.diagnosis.examination import examine

MARKS = {"ok": "✓", "warning": "!", "problem": "✗"}


class Command(PlainCommand):
    help = "Check database, queue, workers, files, machine and settings. The exit code is 1 if there is a problem."
    requires_system_checks: list[str] = []  # it reports them among its own findings

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="print a list for programs")

    def run(self, *, as_json: bool, **options: Any) -> None:
        findings = []
        for finding in examine():
            findings.append(finding)
            if not as_json:
                self.say(f"{MARKS[finding.state]} {finding.check}: {finding.message}")
                if finding.next_step:
                    self.say(f"    {finding.next_step}")
        if as_json:
            self.say(json.dumps([asdict(finding) for finding in findings], indent=1, ensure_ascii=False))
        if any(finding.state == "problem" for finding in findings):
            sys.exit(1)
