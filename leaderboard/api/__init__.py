"""/api/v1/ : everything that pages show as JSON, and submissions."""

from leaderboard.api import (
    analysis_routes,
    leaderboard_routes,
    run_routes,
    submission_routes,
    table_routes,
)
from leaderboard.api.interface import api
from leaderboard.api.interface import patterns as patterns

# In the order of the documentation.
RESULTS = [leaderboard_routes.routes, table_routes.routes, run_routes.routes, analysis_routes.routes]
GROUPS = {
    "Results": [*RESULTS, submission_routes.queue_routes],
    "Submissions": [submission_routes.routes],
}
for group, routers in GROUPS.items():
    for router in routers:
        api.add_router("", router, tags=[group])
