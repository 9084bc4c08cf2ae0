"""The database tables. Models and benchmarks come first; runs are about both, and all other tables are about runs."""

from leaderboard.models.benchmark import Benchmark
from leaderboard.models.change import Change
from leaderboard.models.model import FormerName, Model
from leaderboard.models.part import RunPart, WorkerToken
from leaderboard.models.questions import RelationCounts, RelationOutcomes
from leaderboard.models.ranks import ItemFigures, ItemSet, RunRank
from leaderboard.models.run import LEASE, Run, RunEvent
from leaderboard.models.score import Score
from leaderboard.models.snapshot import Snapshot
from leaderboard.models.submission import Submission

__all__ = [
    "LEASE",
    "Benchmark",
    "Change",
    "FormerName",
    "ItemFigures",
    "ItemSet",
    "Model",
    "RelationCounts",
    "RelationOutcomes",
    "Run",
    "RunEvent",
    "RunPart",
    "RunRank",
    "Score",
    "Snapshot",
    "Submission",
    "WorkerToken",
]
