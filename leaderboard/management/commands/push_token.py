"""Create, list and revoke the tokens of third parties that push results."""

from leaderboard.intake.tokens import Purpose
from leaderboard.management.token_command import TokenCommand


class Command(TokenCommand):
    help = "Create, list and revoke the tokens with which third parties push results to this site."
    name, purpose = "push_token", Purpose.PUSH
    owner = "whose token it is; shown as the source of its results unless they name another"
