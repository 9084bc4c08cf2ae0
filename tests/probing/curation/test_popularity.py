"""curate popularity: sitelinks and page views of a benchmark's subjects, by which results are broken down."""

import json
from collections.abc import Callable, Iterator
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
from tests.probing.curation.servers import Fault, Server, serving
from tests.probing.curation.world import World

LINKS = {"Q657": 250, "Q79": 300, "Q17": 320}  # and not Norway's
VIEWS = {"Tschad": [40, 2], "Ägypten/Land": [900, 0, 500]}  # by month, and none of Japan; Norway has no article
PATH = "/per-article/de.wikipedia/all-access/user/{}/monthly/2025010100/2025123100"


@pytest.fixture
def source(serve: Callable[[World], Source]) -> Source:
    world = World()
    for id, links in LINKS.items():
        world.item(id, "Name", links=links)
    for id, title in {"Q657": "Tschad", "Q79": "Ägypten/Land", "Q17": "Japan"}.items():
        world.article(id, "de", title, 100)
    world.article("Q657", "en", "Chad", 100)
    return serve(world)


@pytest.fixture
def views_api() -> Iterator[Server]:
    """Serve the views of some articles in German, as Wikimedia does: status 404 for those that it does not know."""

    def answer(path: str, _: dict[str, list[str]]) -> tuple[int, bytes]:
        for title, months in VIEWS.items():
            if path == PATH.format(title):
                items = [{"article": title, "timestamp": "2025010100", "views": views} for views in months]
                return 200, json.dumps({"items": items}).encode()
        return 404, json.dumps({"status": 404, "title": "Not Found", "detail": "not loaded yet"}).encode()

    with serving(answer) as server:
        yield server


@pytest.fixture
def views(views_api: Server) -> list[str]:
    """Return the options that ask for page views."""
    return ["--views", "2025", "--language", "de", "--views-api", views_api.url]


@pytest.fixture
def curated(source: Source, bear_folder: BearFolder) -> Callable[..., int]:
    folder = str(bear_folder.write())
    options = ["--endpoint", source.endpoint_url, "--interval", "0", "--cache", str(source.cache_file)]
    return lambda out, benchmark=folder, more=(): main(
        ["curate", "popularity", benchmark, "--out", str(out), *options, *more]
    )


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


def test_page_views_are_those_of_the_article_in_a_year_and_asked_once(
    source: Source,
    curated: Callable[..., int],
    views_api: Server,
    views: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert curated(tmp_path / "a.csv", more=views) == 0
    printed = capsys.readouterr().out
    assert "the sitelinks of the subjects of 4 of 6 facts are known, 300 in the median." in printed
    assert "The page views of the articles about them in de.wikipedia in 2025 of 3 of 6 facts are known" in printed
    table = read_counts(tmp_path / "a.csv").drop_duplicates("subject").set_index("subject")
    assert table["sitelinks"].dropna().to_dict() == {"Chad": 250, "Egypt": 300, "Japan": 320}
    assert table["yearly_views"].dropna().to_dict() == {"Chad": 42, "Egypt": 1400}, "unknown ones are not 0"
    assert table["article"].to_dict() == {"Chad": "Tschad", "Egypt": "Ägypten/Land", "Japan": "Japan", "Norway": ""}
    assert sorted(views_api.requests) == [PATH.format(title) for title in ("Japan", "Tschad", "Ägypten/Land")]
    assert {agent.split("/")[0] for agent in views_api.agents} == {"Clozeboard"}
    assert curated(tmp_path / "b.parquet", more=views) == curated(tmp_path / "c.jsonl", more=views) == 0
    assert len(views_api.requests) == 3
    for name in ("b.parquet", "c.jsonl"):
        again = read_counts(tmp_path / name)
        assert again["yearly_views"].tolist() == read_counts(tmp_path / "a.csv")["yearly_views"].tolist()


def test_an_interruption_loses_no_page_views(
    curated: Callable[..., int],
    views_api: Server,
    views: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    views_api.faults.extend([Fault(), Fault(429, {"Retry-After": "0"}), Fault(), Fault(400, body="broken")])
    assert curated(tmp_path / "a.csv", more=views) == 2
    assert "refuses the request: 400 broken. Check --endpoint, --wikipedia or --views-api" in capsys.readouterr().err
    assert not (tmp_path / "a.csv").exists()
    views_api.requests.clear()
    assert curated(tmp_path / "a.csv", more=views) == 0
    assert views_api.requests == [PATH.format("Ägypten/Land")]
    assert read_counts(tmp_path / "a.csv")["yearly_views"].sum() == 42 + 2 * 1400


def test_results_are_broken_down_by_page_views(
    curated: Callable[..., int], views: list[str], bear_folder: BearFolder, tmp_path: Path
) -> None:
    folder, result = str(bear_folder.write()), str(tmp_path / "result")
    run(FakeModel(), folder, progress=False).save(result)
    curated(tmp_path / "a.csv", more=views)
    rescore = ["rescore", result, "--benchmark", folder]
    assert main([*rescore, "--tags", str(tmp_path / "a.csv")]) == 0
    groups = Result.load(result).by("page_views")
    assert groups["n"].to_dict() == {"10–99": 1, "1,000–9,999": 2}
    assert groups[["low", "high"]].notna().all(axis=None)
    assert Result.load(result).by("page_views", "chance").index.tolist() == [*groups.index]
    sentence = "Page views are those of the subject's article in de.wikipedia in 2025."
    assert sentence in Result.load(result).notes
    assert Result.load(result).items["yearly_views"].dropna().tolist() == [42, 1400, 1400]
    (tmp_path / "links.csv").write_text((tmp_path / "a.csv").read_text().replace("yearly_views", "other"))
    assert main([*rescore, "--tags", str(tmp_path / "links.csv")]) == main(rescore) == 0
    assert Result.load(result).by("page_views")["n"].to_dict() == groups["n"].to_dict(), "they are kept"
    assert sentence in Result.load(result).notes


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
    assert "?subject wikibase:sitelinks ?subject_sitelinks" in (printed := capsys.readouterr().out)
    assert "schema:about" not in printed
    assert main(["curate", "popularity", str(bear_folder.write()), "--print-query", "--views", "2025"]) == 0
    assert "FILTER(?site IN (<https://en.wikipedia.org/>))" in capsys.readouterr().out


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
    assert main(["curate", "popularity", "starter", "--out", str(tmp_path / "new.csv")]) == 2
    assert "have no ids of Wikidata" in complaint(capsys), "in one line, also without a contact"
    assert main(["curate", "popularity", unknown]) == 2
    assert "Give --out FILE." in complaint(capsys)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--views", "2015"), "The page views of 2015 are not there for every month. Choose 2016 to"),
        (("--views", "9999"), "The page views of 9999 are not there for every month"),
        (("--views", "2025", "--language", "d/e"), "'d/e' is no code of a Wikipedia. Give --language such as en."),
        (
            ("--views", "2025", "--language", "fr"),
            "No subject has an article in fr.wikipedia. Give another --language.",
        ),
        (("--views", "2025", "--views-api", "here"), "'here' is not a web address. Give --views-api such as https"),
    ],
)
def test_page_views_that_cannot_be_had_are_refused_in_a_sentence(
    options: tuple[str, ...],
    message: str,
    curated: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert curated(tmp_path / "new.csv", more=options) == 2
    assert message in complaint(capsys)
