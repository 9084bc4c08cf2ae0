"""/api/v1/ : everything that pages show as JSON, submissions, results of third parties, and parts for workers.

Importing the modules declares their routes, in the order of the documentation.
"""

from leaderboard.api import leaderboards, tables, runs, queue, comparison, training, submissions, results, work  # noqa: I001, F401
from leaderboard.api.routes import patterns as patterns
