"""Every sentence is true for what is on the page, in each state that a site can be in.

Each state fills a site; its pages are then read as people read them, and their numbers and promises are held against
what is stored: figures, counts and their nouns, chance, ranks, workers, and times.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.figures.benchmarks import folder_of
from leaderboard.figures.live_workers import live_workers
from leaderboard.figures.ranks import refresh_standings
from leaderboard.models import Benchmark, Claim, Model, Printed, Run, RunRank
from leaderboard.models.printed import printed_rows
from leaderboard.ui.spelled import figure, uncertainty
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.pages.html_table import Tables

pytestmark = pytest.mark.django_db
NOUNS = ("model", "benchmark", "question", "run", "relation", "wording", "worker", "group", "figure", "answer", "item")
COUNTED = re.compile(rf"(?<![\d.,–−-])(\d(?:[\d,]*\d)?) ({'|'.join(NOUNS)})(s?)\b")
NOT_WRITTEN = re.compile(r"\b(nan|None(?! recently)|inf|True|False)\b")
TIME_LEFT = re.compile(r"\d (s|min|h|days?) (left|of measuring)")
NO_WORKER = "No worker has reported lately"


# The states of a site.


def nothing(small: Benchmark) -> None:
    Run.objects.all().delete()
    Benchmark.objects.all().delete()


def no_model(small: Benchmark) -> None:
    pass


def one_model(small: Benchmark) -> None:
    make.measured(small, make.model("org/first"), skill=2, seed=1)
    _finish(small)


def two_models(small: Benchmark) -> None:
    make.measured(small, make.model("org/second", kind="masked"), skill=3, seed=2)
    one_model(small)


def published_only(small: Benchmark) -> None:
    for value in (0.25, 0.5):
        make.published(small, value)


def published_beside_measured(small: Benchmark) -> None:
    make.published(small, 0.25)
    two_models(small)


def waiting_without_a_worker(small: Benchmark) -> None:
    two_models(small)
    make.run(make.model("org/waiting"), small)
    make.running(make.model("org/interrupted"), small)
    Claim.objects.update(seen=timezone.now() - timedelta(hours=1))


def one_worker(small: Benchmark) -> None:
    two_models(small)
    make.running(make.model("org/running"), small)
    make.run(make.model("org/waiting"), small)


def many_workers(small: Benchmark) -> None:
    for number in range(3):
        run = make.running(make.model(f"org/running-{number}"), small, done=10 * number)
        Claim.objects.filter(run=run).update(worker=f"host-{number}")


def without_its_file(small: Benchmark) -> None:
    two_models(small)
    shutil.rmtree(folder_of(small))


def partial_runs(small: Benchmark) -> None:
    two_models(small)
    part = make.measured(small, make.model("org/part"), skill=1, templates=(0,))
    Run.objects.filter(pk=part.pk).update(settings={**part.settings, "limit": 1})
    left_out = make.measured(small, make.model("org/left-out"), skill=1, seed=5)
    Run.objects.filter(pk=left_out.pk).update(items_left_out=2)
    Run.objects.regroup()
    refresh_standings(small)


def _finish(on: Benchmark) -> None:
    on.settings = {"templates": [0, 1]}
    on.save()
    make.restore_figures(on)
    refresh_standings(on)


STATES = (
    *(nothing, no_model, one_model, two_models, published_only, published_beside_measured),
    *(waiting_without_a_worker, one_worker, many_workers, without_its_file, partial_runs),
)


def pages() -> Iterator[str]:
    """Yield the addresses of the site's pages in its state."""
    yield from ("/", "/benchmarks/", "/queue/", "/submit/", "/compare/")
    for benchmark in Benchmark.objects.filter(current=True):
        yield benchmark.get_absolute_url()
    for run in Run.objects.all()[:12]:
        yield run.get_absolute_url()
    for hub_id in Model.objects.values_list("hub_id", flat=True)[:6]:
        yield f"/models/{hub_id}/"


class Reader(Client):
    """A client that remembers what it has read, as several checks look at each page."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Any] = {}

    def get(self, address: str, *arguments: Any, **request: Any) -> Any:
        if address not in self.answers:
            self.answers[address] = super().get(address, *arguments, **request)
        return self.answers[address]


def read(client: Client, address: str) -> str:
    """Return what a page says: its text without markup and scripts, one space between words."""
    response = client.get(address)
    assert response.status_code == 200, address
    html = re.sub(r"<(script|style|template)\b.*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def numbers_agree_with_their_nouns_and_none_is_missing(client: Client) -> None:
    for address in pages():
        text = read(client, address)
        for number, noun, plural in COUNTED.findall(text):
            assert (number == "1") != bool(plural), f"{address}: {number} {noun}{plural}"
        assert not NOT_WRITTEN.findall(text), address


def a_run_is_headed_by_its_stored_figure(client: Client) -> None:
    for run in Run.objects.filter(state=Run.State.FINISHED):
        score = run.scores.get(metric="accuracy", dimension="overall")
        text = read(client, run.get_absolute_url())
        assert f"Accuracy: {figure(score.value)} {uncertainty(score.value, score.low, score.high)}".strip() in text
        assert f"over {score.n:g} question" in text
        chance = run.scores.filter(metric="chance", dimension="overall").first()
        assert (f"chance {figure(chance.value)}" in text) if chance else ("chance 0" not in text)


def a_rank_is_among_the_runs_that_are_ranked(client: Client) -> None:
    ranked = RunRank.objects.filter(metric="accuracy", best__isnull=False)
    for run in Run.objects.filter(state=Run.State.FINISHED):
        named = re.findall(r"rank ([\d–]+) of (\d+)", read(client, run.get_absolute_url()))
        own = ranked.filter(run=run).first()
        alike = [rank for rank in ranked.select_related("run__model") if rank.run.settings_group == run.settings_group]
        assert named == ([(own.rank_range, str(len(alike)))] if own and len(alike) > 1 else []), "1 of 1 says nothing"


def lists_count_the_models_that_are_there(client: Client) -> None:
    finished = Run.objects.filter(state=Run.State.FINISHED)
    for row in csv_rows(client, "/benchmarks/"):
        measured = finished.filter(provenance=Run.Provenance.MEASURED)
        for name, rows in (("measured", measured), ("published", Printed.objects.filter(baseline=False))):
            of_benchmark = rows.filter(benchmark__title=row["benchmark"])
            assert row[name] == str(of_benchmark.values("model__hub_id").distinct().count()), row
    comparable = finished.filter(items_left_out=0).select_related("model", "benchmark")
    usual = {run.model.hub_id for run in comparable if not run.settings_group}
    usual |= {row.model.hub_id for row in printed_rows(Printed.objects.all())}
    open_models = set(Run.objects.exclude(state__in=Run.FINAL).values_list("model__hub_id", flat=True))
    assert {row["hub_id"] for row in csv_rows(client, "/?topic=all")} == usual | open_models


def figures_of_the_overview_are_stored_and_those_of_papers_are_marked(client: Client) -> None:
    for row in csv_rows(client, "/"):
        if row.get("small"):
            run = Run.objects.filter(pk=row["small_run"] or None).first()
            scores = run.scores if run else Printed.objects.filter(model__hub_id=row["hub_id"])
            assert float(row["small"]) == scores.get(metric="accuracy", dimension="overall").value
            assert row["small_provenance"] == (run.provenance if run else "published")
    if not Printed.objects.exists():
        assert "○ published" not in client.get("/").content.decode().partition("<table")[2]


def every_usual_run_is_in_the_default_table_of_the_front_page(client: Client) -> None:
    table = Tables(client.get("/").content.decode()).found.get("overview", [])
    measured = Run.objects.filter(state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED, items_left_out=0)
    for run in measured.select_related("model", "benchmark"):
        value = figure(run.scores.get(metric="accuracy", dimension="overall").value)
        shown = any(run.model.hub_id in row[0] and value in " ".join(row) for row in table[1:])
        assert shown or run.settings_group, run.model.hub_id


def nothing_promises_when_a_run_ends_without_a_worker(client: Client) -> None:
    is_alive = bool(live_workers())
    open_runs = list(Run.objects.exclude(state__in=Run.FINAL))
    texts = {address: read(client, address) for address in ("/queue/", *(run.get_absolute_url() for run in open_runs))}
    for address, text in texts.items():
        if not is_alive:
            assert not TIME_LEFT.search(text), address
            assert (NO_WORKER in text) == bool(open_runs), address
        elif address == "/queue/":
            assert NO_WORKER not in text
    assert is_alive or not re.search("seconds|minutes", read(client, "/submit/"))
    listed = csv_rows(client, "/queue/", "workers")
    assert len(listed) == len(live_workers())
    working = sum(worker.run is not None for worker in live_workers())
    assert f"{working} run{'' if working == 1 else 's'} being measured" in texts["/queue/"]


def what_was_not_measured_is_not_said_to_be(client: Client) -> None:
    for run in Run.objects.exclude(state=Run.State.FINISHED):
        assert "Figures measured here" not in read(client, run.get_absolute_url()), run.state
    for benchmark in Benchmark.objects.filter(current=True):
        runs = benchmark.runs.filter(state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED, items_left_out=0)
        usual = [run for run in runs if not run.settings_group]
        text = read(client, benchmark.get_absolute_url())
        assert (f"Fewer than two models have been measured here on all {benchmark.nouns}" in text) <= (len(usual) < 2)


CHECKS = (
    numbers_agree_with_their_nouns_and_none_is_missing,
    a_run_is_headed_by_its_stored_figure,
    a_rank_is_among_the_runs_that_are_ranked,
    lists_count_the_models_that_are_there,
    figures_of_the_overview_are_stored_and_those_of_papers_are_marked,
    every_usual_run_is_in_the_default_table_of_the_front_page,
    nothing_promises_when_a_run_ends_without_a_worker,
    what_was_not_measured_is_not_said_to_be,
)


@pytest.mark.parametrize("fill", STATES, ids=lambda state: state.__name__)
def test_every_sentence_is_true(fill: Callable[[Benchmark], None], small: Benchmark, subtests: pytest.Subtests) -> None:
    fill(small)
    reader = Reader()
    for check in CHECKS:
        with subtests.test(check.__name__):
            check(reader)


def test_partial_runs_are_called_that_and_stand_apart(client: Client, small: Benchmark) -> None:
    partial_runs(small)
    rows = client.get(small.get_absolute_url()).context["leaderboard"]["file"]
    headings = {row["model"]: row["heading"] for row in rows}
    assert headings["org/first"] == headings["org/second"] == ""
    assert headings["org/part"].startswith("Some of the questions")
    assert headings["org/left-out"] not in ("", headings["org/first"], headings["org/part"])
