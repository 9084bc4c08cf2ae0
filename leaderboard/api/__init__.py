"""/api/v1/ : everything that pages show as JSON, submissions, results of third parties, and parts for workers."""

from leaderboard.api import analyses, leaderboards, runs, submissions, tables, work
from leaderboard.api.interface import api
from leaderboard.api.interface import patterns as patterns

# In the order of the documentation.
RESULTS = [leaderboards.routes, tables.routes, runs.routes, analyses.routes]
GROUPS = {
    "Results": [*RESULTS, submissions.queue_routes],
    "Submissions": [submissions.routes],
    "Results of third parties": [submissions.push_routes],
    "Workers elsewhere": [work.routes],
}
for group, routers in GROUPS.items():
    for router in routers:
        api.add_router("", router, tags=[group])
