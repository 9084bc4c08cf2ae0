"""curate popularity: the sitelinks of a benchmark's subjects, by which results are broken down like by exposure."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from probing.analysis.exposure import read_counts
from probing.results.result import Result
from probing.runner import run
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import complaint
from tests.probing.curation.conftest import Source
from tests.probing.curation.world import World

LINKS = {"Q657": 250, "Q79": 300, "Q17": 320}  # and not Norway's


@pytest.fixture
def source(serve: Callable[[World], Source]) -> Source:
    world = World()
    for id, links in LINKS.items():
        world.item(id, "Name", links=links)
    return serve(world)


@pytest.fixture
def curated(source: Source, bear_folder: BearFolder) -> Callable[..., int]:
    folder = str(bear_folder.write())
    options = ["--endpoint", source.endpoint_url, "--interval", "0", "--cache", str(source.cache_file)]
    return lambda out, benchmark=folder: main(["curate", "popularity", benchmark, "--out", str(out), *options])


def test_the_sitelinks_of_subjects_are_written_and_asked_once(
    source: Source, curated: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert curated(tmp_path / "a.csv") == 0
    assert "the sitelinks of the subjects of 4 of 6 facts are known, 300 in the median." in capsys.readouterr().out
    table = pd.read_csv(tmp_path / "a.csv")
    assert dict(zip(table["subject"], table["sitelinks"], strict=True)) == pytest.approx(
        {"Chad": 250, "Egypt": 300, "Japan": 320, "Norway": float("nan")}, nan_ok=True
    )
    asked = len(source.sparql.requests)
    assert curated(tmp_path / "b.parquet") == curated(tmp_path / "c.jsonl") == 0
    assert len(source.sparql.requests) == asked == 1
    for name in ("b.parquet", "c.jsonl"):
        pd.testing.assert_frame_equal(read_counts(tmp_path / name), read_counts(tmp_path / "a.csv"))


def test_results_are_broken_down_by_them(
    curated: Callable[..., int], bear_folder: BearFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, result = str(bear_folder.write()), str(tmp_path / "result")
    run(FakeModel(), folder, progress=False).save(result)
    curated(tmp_path / "a.csv")
    rescore = ["rescore", result, "--benchmark", folder, "--tags", str(tmp_path / "a.csv")]
    assert main(rescore) == 0
    groups = Result.load(result).by("popularity")
    assert groups["n"].to_dict() == {"128–255": 1, "256+": 3}
    assert groups[["low", "high"]].notna().all(axis=None)
    assert Result.load(result).by("popularity", "chance").index.tolist() == [*groups.index]
    capsys.readouterr()
    assert main(["show", result]) == 0
    assert "\npopularity\n" in capsys.readouterr().out
    assert main(rescore) == 0
    assert "Nothing has changed." in capsys.readouterr().out


def test_the_query_is_printed(bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curate", "popularity", str(bear_folder.write()), "--print-query"]) == 0
    assert "?subject wikibase:sitelinks ?subject_sitelinks" in capsys.readouterr().out


def test_bad_input_is_refused_in_a_sentence(
    curated: Callable[..., int], tmp_path: Path, bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there.csv").touch()
    for lines in bear_folder.lines.values():
        for number, line in enumerate(lines):
            line["sub_id"] = f"Q{9000 + number}"
    unknown = str(bear_folder.write())
    for arguments, message in (
        (("new.csv", "starter"), "The subjects of starter have no ids of Wikidata."),
        (("new.csv", unknown), "knows none of the subjects"),
        (("there.csv",), "exists already"),
        (("new.txt",), "has no known ending"),
    ):
        name, *benchmark = arguments
        assert curated(tmp_path / name, *benchmark) == 2
        assert message in complaint(capsys)
    assert main(["curate", "popularity", unknown]) == 2
    assert "Give --out FILE." in complaint(capsys)
