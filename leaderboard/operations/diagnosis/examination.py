"""All checks of a deployment in their order."""

from collections.abc import Callable, Iterator

from django.db import DatabaseError

from leaderboard.operations.diagnosis import database, files, machine, work
from leaderboard.operations.diagnosis.findings import Finding, problem

Check = Callable[[], Iterator[Finding]]
NEED_TABLES: list[Check] = [
    database.writable,
    database.journal,
    database.clock,
    work.lost_runs,
    work.workers,
    work.leases,
    work.forsaken,
    files.orphans,
    files.results,
    files.benchmarks,
]
OTHERS: list[Check] = [
    work.redis,
    files.storage,
    files.space,
    files.local_models,
    machine.isolation,
    machine.accelerator,
    machine.web_server,
    machine.hub,
    machine.packages,
    machine.deployment,
]


def examine() -> Iterator[Finding]:
    """Yield the findings of all checks; without a database that has all tables, of those that need none."""
    ready = True
    for check in (database.answers, database.migrations):
        if ready:
            findings = list(carried_out(check))
            yield from findings
            ready = all(finding.state == "ok" for finding in findings)
    for check in [*(NEED_TABLES if ready else []), *OTHERS]:
        yield from carried_out(check)


def carried_out(check: Check) -> Iterator[Finding]:
    """Yield the findings of a check; one that the database or the system interrupts is a problem itself."""
    try:
        yield from check()
    except (DatabaseError, OSError) as error:
        name = check.__name__.replace("_", " ")
        yield problem(name, f"It could not be checked: {error}", "Mend what is reported above, then run doctor again.")
