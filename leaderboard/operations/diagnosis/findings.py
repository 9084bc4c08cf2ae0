"""What a check of a deployment has found, in plain words."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """One line of `manage.py doctor`: `next_step` says how to fix a problem."""

    check: str
    state: State
    message: str
    next_step: str = ""


def fine(check: str, message: str) -> Finding:
    return Finding(check, "ok", message)


def warning(check: str, message: str, next_step: str) -> Finding:
    return Finding(check, "warning", message, next_step)


def problem(check: str, message: str, next_step: str) -> Finding:
    return Finding(check, "problem", message, next_step)
