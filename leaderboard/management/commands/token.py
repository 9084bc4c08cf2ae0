"""Create, list and revoke the tokens of programs elsewhere: `token push` and `token submit`."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from leaderboard.intake import tokens
from leaderboard.intake.tokens import Purpose
from leaderboard.management.base import PlainCommand
from leaderboard.models import AccessToken
from probing.errors import BadInput

HELP = {
    Purpose.PUSH: "tokens of third parties that push results to this site",
    Purpose.SUBMIT: "tokens of programs that submit models to this site",
}
OWNER = {
    Purpose.PUSH: "shown as the source of its results unless they name another",
    Purpose.SUBMIT: "what is submitted with it counts for this name",
}

QUOTA = "submissions open at a time and within a day; 0: no limit (default: the limits of everybody)"


class Command(PlainCommand):
    help = "Create, list and revoke the tokens of programs elsewhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        purposes = parser.add_subparsers(required=True, metavar="PURPOSE")
        for purpose in Purpose:
            of_purpose = purposes.add_parser(purpose.value, help=HELP[purpose])
            of_purpose.set_defaults(purpose=purpose)
            owner = f"whose token it is: {OWNER[purpose]}; without a name all tokens are listed"
            of_purpose.add_argument("name", nargs="?", help=owner)
            of_purpose.add_argument("--revoke", action="store_true", help="make the token invalid")
            if purpose == Purpose.SUBMIT:
                of_purpose.add_argument("--quota", type=_number_of_submissions, metavar="N", help=QUOTA)

    def run(self, *, purpose: Purpose, name: str | None, revoke: bool, **options: Any) -> None:
        if revoke and name is None:
            raise BadInput("No token is named.", "Name the one to revoke.")
        if name is None:
            self.list_tokens(purpose)
        elif revoke:
            tokens.revoke(name, purpose)
            self.say(f"The token {name} is revoked.")
        else:
            self.say(tokens.create(name, purpose, options.get("quota")))

    def list_tokens(self, purpose: Purpose) -> None:
        """Print a line for each token, without its secret."""
        rows = AccessToken.objects.filter(purpose=purpose).order_by("name")
        if not rows:
            self.say(f"There are no tokens. Create one: manage.py token {purpose} NAME")
        for token in rows:
            last_use = f"last used {token.last_seen:%Y-%m-%d %H:%M}" if token.last_seen else "never used"
            self.say(f"{token.name}  {_state(token)}  {last_use}")


def _number_of_submissions(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**31:
        raise ArgumentTypeError(f"{text!r} is not a number of submissions")
    return int(text)


def _state(token: AccessToken) -> str:
    """Say whether a token is valid, and how much may be submitted with it."""
    quota = "" if token.quota is None else f", {token.quota or 'no limit of'} submissions"
    return f"{'revoked' if token.revoked else 'valid'}{quota}"
