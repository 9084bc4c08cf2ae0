"""Create, list and revoke the tokens of workers elsewhere."""

from argparse import ArgumentParser

from leaderboard.intake.tokens import Purpose
from leaderboard.management.token_command import TokenCommand
from leaderboard.models import WorkerToken


class Command(TokenCommand):
    help = "Create, list and revoke the tokens with which workers elsewhere measure for this site."
    name, purpose = "worker_token", Purpose.WORK
    owner = "whose token it is; shown with the parts that come from its workers"
    rights = ("trusted",)

    def add_rights(self, parser: ArgumentParser) -> None:
        parser.add_argument("--trusted", action="store_true", help="its results need no second measurement")

    def state(self, token: WorkerToken) -> str:
        return "revoked" if token.revoked else "trusted" if token.trusted else "untrusted"
