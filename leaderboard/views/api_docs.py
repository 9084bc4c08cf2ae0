"""/api/ : the routes of the API, with answers to some of them."""

import json
from functools import lru_cache
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse


class Route(NamedTuple):
    """A route of the API: what it gives, and the names of its parameters."""

    method: str
    path: str
    gives: str
    asks: str = ""


ROUTES = (
    Route(
        "GET",
        "leaderboard",
        "The rows of a leaderboard, in its order.",
        "benchmark, kind, size, provenance, search, columns, published, part",
    ),
    Route(
        "GET",
        "overview",
        "The models of the overview with their figures on all benchmarks, 200 per page: the columns of its CSV.",
        "search, kind, size, weights, provenance, several, part, topic, sort, page",
    ),
    Route("GET", "models", "Every model at every commit."),
    Route(
        "GET",
        "models/<org>/<name>/training",
        "A model at several steps of its training: all points, groups, and the questions learned and forgotten.",
        "benchmark, settings, by, with, from, to, change, page",
    ),
    Route("GET", "benchmarks", "Every benchmark in its current version, once for each probe."),
    Route(
        "GET",
        "benchmarks/<name>/items",
        "The questions of a benchmark, 200 per page, with how many answers to each were right.",
        "search, relation, order, page",
    ),
    Route("GET", "runs", "Runs, the newest first, 200 per page.", "model, benchmark, probe, state, page"),
    Route("GET", "runs/<id>", "A run: state, progress, history, provenance record."),
    Route("GET", "runs/<id>/scores", "The scores of a run: one object per metric and group."),
    Route(
        "GET",
        "runs/<id>/items",
        "The items of a run, 200 per page.",
        "correct, relation, template, search, any tag, page",
    ),
    Route("GET", "compare", "A paired comparison of two to eight runs on the same items.", "m (repeated), benchmark"),
    Route(
        "POST",
        "submit",
        "Takes a submission, or one for each benchmark and revision of a list.",
        "JSON: model (id or address), benchmark or benchmarks, revisions, options",
    ),
    Route("GET", "submissions/<token>", "A submission: its state, its checks so far, and its run once it has one."),
    Route("POST", "submissions/<token>/cancel", "Withdraws it; cancels the run if nobody else submitted the same."),
    Route("POST", "submissions/<token>/retry", "Tries it again after it was refused, cancelled, or its run failed."),
    # For third parties, with the header "Authorization: Bearer TOKEN". `python -m probing push` uses them.
    Route(
        "POST",
        "results",
        "For third parties: stores a result (201), or lets a worker check a large one first (202).",
        "form: items (Parquet), record (JSON), source, model, revision",
    ),
    Route("DELETE", "results/<id>", "For third parties: withdraws a result that was pushed with the same token."),
    # For workers elsewhere, with the header "Authorization: Bearer TOKEN". `python -m probing work` uses them.
    Route("GET", "work/", "For workers with a token: the version of the interface."),
    Route(
        "POST",
        "work/claim",
        "For workers: a part of a run under a lease; status 204 if there is none.",
        "protocol, worker, lanes, memory_gb, device, version, run, as a JSON body",
    ),
    Route("GET", "work/benchmarks/<digest>.tar.gz", "For workers: the files of a benchmark."),
    Route("POST", "work/<lease>/renew", "For workers: keeps the lease; says whether to go on.", "share"),
    Route(
        "POST", "work/<lease>/rows", "For workers: stores the rows of the part.", "rows (Parquet) and record, as a form"
    ),
    Route(
        "POST", "work/<lease>/fail", "For workers: says why a part failed.", "code, message, next_step, permanent, log"
    ),
    Route("POST", "work/<lease>/release", "For workers: gives the part back."),
)


def api_docs_view(request: HttpRequest) -> HttpResponse:
    context = {
        "routes": ROUTES,
        "base": request.build_absolute_uri("/api/v1/"),
        "board": request.build_absolute_uri(reverse("board")),
        "answers": answers(),
    }
    return render(request, "api.html", context)


@lru_cache(maxsize=1)
def answers() -> list[tuple[str, str]]:
    """Return routes with an answer to each, lists cut to one member; a test compares them with real answers."""
    stored = json.loads((settings.BASE_DIR / "docs" / "api-answers.json").read_text(encoding="utf-8"))
    return [(route, json.dumps(answer, indent=2, ensure_ascii=False)) for route, answer in stored.items()]
