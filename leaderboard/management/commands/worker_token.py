"""Create, list and revoke the tokens of workers elsewhere."""

from argparse import ArgumentParser
from typing import Any

from leaderboard.intake import tokens
from leaderboard.management.base import PlainCommand
from leaderboard.models import WorkerToken


class Command(PlainCommand):
    help = "Create, list and revoke the tokens with which workers elsewhere measure for this site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        create = actions.add_parser("create", help="make a token and print its secret once")
        create.add_argument("name", help="whose token it is; shown with the parts that come from its workers")
        create.add_argument("--trusted", action="store_true", help="its results need no second measurement")
        actions.add_parser("list", help="list all tokens, without their secrets")
        revoke = actions.add_parser("revoke", help="make a token invalid")
        revoke.add_argument("name")

    def run(self, *, action: str, **options: Any) -> None:
        if action == "create":
            self.say(tokens.create(options["name"], trusted=options["trusted"]))
        elif action == "revoke":
            tokens.revoke(options["name"])
            self.say(f"The token {options['name']} is revoked.")
        else:
            self.list_tokens()

    def list_tokens(self) -> None:
        rows = WorkerToken.objects.order_by("name")
        if not rows:
            self.say("There are no tokens. Create one: manage.py worker_token create NAME")
        for token in rows:
            state = "revoked" if token.revoked else "trusted" if token.trusted else "untrusted"
            seen = f"last used {token.last_seen:%Y-%m-%d %H:%M}" if token.last_seen else "never used"
            self.say(f"{token.name}  {state}  {seen}")
