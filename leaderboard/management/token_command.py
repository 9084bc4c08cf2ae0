"""The base class of the commands that create, list and revoke tokens of one purpose."""

from argparse import ArgumentParser
from typing import Any, ClassVar

from leaderboard.intake import tokens
from leaderboard.management.base import PlainCommand
from leaderboard.models import WorkerToken


class TokenCommand(PlainCommand):
    """Create, list and revoke tokens.

    `owner`: what the name of a token says, for its help. `rights`: the names of the flags that `add_rights` adds.
    """

    name: ClassVar[str]
    purpose: ClassVar[tokens.Purpose]
    owner: ClassVar[str]
    rights: ClassVar[tuple[str, ...]] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        create = actions.add_parser("create", help="make a token and print its secret once")
        create.add_argument("name", help=self.owner)
        self.add_rights(create)
        actions.add_parser("list", help="list all tokens, without their secrets")
        revoke = actions.add_parser("revoke", help="make a token invalid")
        revoke.add_argument("name")

    def add_rights(self, parser: ArgumentParser) -> None:
        """Add the flags of rights that only tokens of this purpose have."""

    def run(self, *, action: str, **options: Any) -> None:
        if action == "create":
            rights = {right: options[right] for right in self.rights}
            self.say(tokens.create(options["name"], self.purpose, **rights))
        elif action == "revoke":
            tokens.revoke(options["name"], self.purpose)
            self.say(f"The token {options['name']} is revoked.")
        else:
            self.list_tokens()

    def list_tokens(self) -> None:
        rows = WorkerToken.objects.filter(purpose=self.purpose).order_by("name")
        if not rows:
            self.say(f"There are no tokens. Create one: manage.py {self.name} create NAME")
        for token in rows:
            last_use = f"last used {token.last_seen:%Y-%m-%d %H:%M}" if token.last_seen else "never used"
            self.say(f"{token.name}  {self.state(token)}  {last_use}")

    def state(self, token: WorkerToken) -> str:
        return "revoked" if token.revoked else "valid"
