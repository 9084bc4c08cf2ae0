"""Create, list and revoke the tokens with which programs submit models."""

from argparse import ArgumentParser, ArgumentTypeError

from leaderboard.intake.tokens import Purpose
from leaderboard.management.token_command import TokenCommand
from leaderboard.models import WorkerToken


def whole_number(text: str) -> int:
    """Read a number of submissions."""
    if not text.isdecimal() or int(text) >= 2**31:
        raise ArgumentTypeError(f"{text!r} is not a number of submissions")
    return int(text)


class Command(TokenCommand):
    help = "Create, list and revoke the tokens with which programs submit models to this site."
    name, purpose = "submit_token", Purpose.SUBMIT
    owner = "whose token it is; what is submitted with it counts for this name"
    rights = ("quota",)

    def add_rights(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--quota",
            type=whole_number,
            metavar="N",
            help="submissions open at a time and within a day; 0: no limit (default: the limits of everybody)",
        )

    def state(self, token: WorkerToken) -> str:
        quota = "" if token.quota is None else f", {token.quota or 'no limit of'} submissions"
        return f"{super().state(token)}{quota}"
