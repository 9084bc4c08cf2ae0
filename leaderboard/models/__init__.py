"""The database tables. Models and benchmarks come first; runs are about both, and all other tables are about runs."""

from leaderboard.models.benchmark import Benchmark
from leaderboard.models.model import FormerName, Model
from leaderboard.models.printed import Entry, Printed, PrintedRow
from leaderboard.models.run import STALE, Claim, Run, RunEvent, RunPart, Score
from leaderboard.models.site import Submission
from leaderboard.models.standing import ItemFigures, ItemSet, RelationCounts, RelationOutcomes, RunRank

__all__ = [
    "STALE",
    "Benchmark",
    "Claim",
    "Entry",
    "FormerName",
    "ItemFigures",
    "ItemSet",
    "Model",
    "Printed",
    "PrintedRow",
    "RelationCounts",
    "RelationOutcomes",
    "Run",
    "RunEvent",
    "RunPart",
    "RunRank",
    "Score",
    "Submission",
]
