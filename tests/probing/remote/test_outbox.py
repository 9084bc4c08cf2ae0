from pathlib import Path

import pandas as pd

from probing.remote.outbox import Outbox
from probing.results.joining import PartResult

SITE = "https://site.example"


def result(number: int) -> PartResult:
    return PartResult(pd.DataFrame({"index": [number]}), {"items_done": number})


def numbers(outbox: Outbox) -> list[int]:
    return sorted(pd.read_parquet(delivery.rows)["index"][0] for delivery in outbox.waiting())


def test_rows_wait_until_they_are_forgotten(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox", SITE)
    delivery = outbox.put("lease", result(1))
    (waiting,) = outbox.waiting()
    assert waiting == delivery
    assert (waiting.lease, waiting.record) == ("lease", '{"items_done": 1}')
    delivery.forget()
    assert not list(outbox.waiting())
    outbox.close()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_a_worker_takes_over_what_a_dead_one_left_and_not_what_a_living_one_has(tmp_path: Path) -> None:
    living, dead = Outbox(tmp_path, SITE), Outbox(tmp_path, SITE)
    living.put("a", result(1))
    dead.put("b", result(2))
    dead.close()
    following = Outbox(tmp_path, SITE)
    assert numbers(following) == [2]
    assert numbers(living) == [1]


def test_rows_for_another_site_stay(tmp_path: Path) -> None:
    first = Outbox(tmp_path, SITE)
    first.put("a", result(1))
    first.close()
    other = Outbox(tmp_path, "https://other.example")
    assert not list(other.waiting())
    other.close()
    assert numbers(Outbox(tmp_path, SITE)) == [1]


def test_rows_without_a_record_are_not_whole(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path, SITE)
    outbox.put("a", result(1))
    next(outbox.folder.glob("*.json")).unlink()
    assert not list(outbox.waiting())
    outbox.close()
    assert not list(Outbox(tmp_path, SITE).folder.iterdir())
