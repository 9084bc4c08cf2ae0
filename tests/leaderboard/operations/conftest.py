from collections.abc import Iterator

import django_rq
import pytest
from rq import Queue, Worker

from leaderboard.intake.embedded import embedded_server


@pytest.fixture
def redis() -> Iterator[None]:
    """Run the embedded Valkey during the test."""
    with embedded_server():
        yield


@pytest.fixture
def rq_worker(redis: None) -> Iterator[Worker]:
    """Return a worker of both lanes that has not registered yet."""
    connection = django_rq.get_connection()
    worker = Worker([Queue("large", connection), Queue("default", connection)], "host-1", connection=connection)
    yield worker
    worker.register_death()
