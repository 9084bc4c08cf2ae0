"""Pushing results: what the site gets, and what becomes of its answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from probing.benchmark import Benchmark
from probing.errors import BadInput, ProbingError
from probing.remote.connection import NotWelcome, SiteRefused, SiteUnavailable
from probing.remote.site import Pushed, ResultSite, result_folders
from probing.runner import run
from tests.fakes import FakeModel
from tests.kept_folder import kept_folder
from tests.probing.remote.receiving_site import CREATED, Answer, ReceivingSite, problem, receiving


@pytest.fixture
def site() -> Iterator[ReceivingSite]:
    with receiving() as server:
        yield server


@pytest.fixture
def result(benchmark: Benchmark, tmp_path: Path) -> Path:
    def measure(out: Path) -> None:
        run(FakeModel(), benchmark, out=out, progress=False)

    return kept_folder(__name__, tmp_path / "step1000", measure)


def client(site: ReceivingSite) -> ResultSite:
    return ResultSite(site.url, "secret", attempts=0)


def change_model(folder: Path, **facts: Any) -> None:
    record = json.loads((folder / "run.json").read_text())
    record["model"] |= facts
    (folder / "run.json").write_text(json.dumps(record))


def test_the_site_gets_rows_record_and_fields(site: ReceivingSite, result: Path) -> None:
    pushed = client(site).push(result, model="org/name", source="the lab")
    assert pushed == Pushed(12, f"{site.url}/runs/12/", "finished", True)
    (upload,) = site.uploads
    assert (upload.path, upload.token) == ("/api/v1/results", "Bearer secret")
    assert upload.fields == {"model": "org/name", "revision": "step1000", "source": "the lab"}
    assert upload.files == {
        "items": ("items.parquet", (result / "items.parquet").read_bytes()),
        "record": ("run.json", (result / "run.json").read_bytes()),
    }


@pytest.mark.parametrize(
    ("recorded", "chosen", "sent"), [("", "", "step1000"), ("step7", "", "step7"), ("step7", "v2", "v2")]
)
def test_the_revision_is_the_chosen_the_recorded_or_the_one_of_the_folder(
    site: ReceivingSite, result: Path, recorded: str, chosen: str, sent: str
) -> None:
    change_model(result, revision=recorded)
    client(site).push(result, model="org/name", revision=chosen)
    assert site.uploads[0].fields["revision"] == sent


def test_a_result_of_a_hub_model_needs_no_name(site: ReceivingSite, result: Path) -> None:
    with pytest.raises(BadInput, match="does not say which model of the hub it is of"):
        client(site).push(result)
    change_model(result, source="hub")
    client(site).push(result)
    assert "model" not in site.uploads[0].fields


def test_a_result_that_is_there_already_is_the_same_run(site: ReceivingSite, result: Path) -> None:
    site.answers = [(200, CREATED[1])]
    assert client(site).push(result, model="org/name") == Pushed(12, f"{site.url}/runs/12/", "finished", False)


REFUSALS: list[tuple[Answer, type[ProbingError], str]] = [
    (problem(400, "bad-result", "The rows do not fit."), SiteRefused, "The rows do not fit. Do that."),
    (problem(401, "unauthorized", "This token is unknown."), NotWelcome, "This token is unknown. Do that."),
    ((404, "nothing"), NotWelcome, "There is no Clozeboard site that takes results at"),
    ((413, "too large"), SiteRefused, "does not take files as large as this"),
    ((503, "busy"), SiteUnavailable, r"not able to answer now \(status 503\)"),
    ((201, {"run": 12}), NotWelcome, "is not a Clozeboard site of this version"),
    ((201, {"run": 12, "url": "https://b.example/", "state": "finished"}), NotWelcome, "is not a Clozeboard site"),
]


@pytest.mark.parametrize(("answer", "kind", "message"), REFUSALS, ids=lambda value: str(value)[:30])
def test_every_other_answer_is_one_sentence(
    site: ReceivingSite, result: Path, answer: Answer, kind: type[ProbingError], message: str
) -> None:
    site.answers = [answer]
    with pytest.raises(kind, match=message) as raised:
        client(site).push(result, model="org/name")
    assert "secret" not in str(raised.value)


def test_what_is_no_result_is_not_sent(site: ReceivingSite, result: Path) -> None:
    (result / "run.json").write_text("[]")
    with pytest.raises(BadInput, match=r"run\.json cannot be read"):
        client(site).push(result)
    (result / "items.parquet").unlink()
    with pytest.raises(BadInput, match=r"items\.parquet is missing"):
        client(site).push(result)
    assert not site.uploads


def test_the_results_of_a_sweep_are_pushed_in_the_order_of_their_steps(tmp_path: Path) -> None:
    for name in ("step1000", "step500", "main"):
        (tmp_path / name).mkdir()
        for file in ("items.parquet", "run.json"):
            (tmp_path / name / file).touch()
    (tmp_path / "step2000.partial").mkdir()
    (tmp_path / "step2000.partial" / "run.json").touch()
    assert [path.name for path in result_folders(tmp_path)] == ["main", "step500", "step1000"]
    assert result_folders(tmp_path / "main") == [tmp_path / "main"]
    for folder in (tmp_path / "none", tmp_path / "step2000.partial" / "run.json"):
        with pytest.raises(BadInput, match="There is no folder"):
            result_folders(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="holds no result"):
        result_folders(tmp_path / "empty")
