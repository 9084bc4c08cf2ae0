"""The site's settings, with artefacts on a disk that can be made full."""

from leaderboard.settings import *  # noqa: F403
from leaderboard.settings import DATA, STORAGES

STORAGES["artefacts"] = {
    "BACKEND": "tests.chaos.full_disk.DiskThatFills",
    "OPTIONS": {"location": DATA / "artefacts"},
}
