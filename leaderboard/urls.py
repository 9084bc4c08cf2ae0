"""The site map, grouped by what an address shows."""

from django.contrib import admin
from django.contrib.sitemaps import views as sitemaps
from django.urls import include, path, re_path, register_converter
from django.urls.converters import IntConverter, StringConverter
from django.views.generic import RedirectView

from leaderboard import api
from leaderboard.pages.benchmark_page import benchmark_view, benchmarks_view
from leaderboard.pages.board_page import board_view
from leaderboard.pages.compare_page import compare_view
from leaderboard.pages.feeds import SITEMAPS, ResultsFeed, robots_view
from leaderboard.pages.items_page import items_view, lines_view, parquet_view
from leaderboard.pages.machine_pages import health_view, metrics_view
from leaderboard.pages.methods_page import methods_view
from leaderboard.pages.model_page import model_view
from leaderboard.pages.overview_page import overview_view
from leaderboard.pages.paper_page import paper_view, papers_view
from leaderboard.pages.question_page import former_item_view, question_view
from leaderboard.pages.questions_page import questions_view
from leaderboard.pages.queue_page import queue_view
from leaderboard.pages.relation_page import relation_view
from leaderboard.pages.run_files import (
    evaluation_samples_view,
    evaluation_view,
    requirements_view,
    script_view,
)
from leaderboard.pages.run_page import run_view
from leaderboard.pages.search_page import gone, search_view, suggestions_view
from leaderboard.pages.submission_page import submission_view
from leaderboard.pages.submit_page import submit_view
from leaderboard.pages.training_page import training_view
from leaderboard.serving.page_cache import kept


class NumberConverter(IntConverter):
    """A whole number that fits into 64 bits, as those of the database and of Parquet files do."""

    regex = "[0-9]{1,18}"


class ModelNameConverter(StringConverter):
    """A model's name without its organisation; that of an adapter follows behind a plus: `base+org/adapter`."""

    regex = r"[^/]+(?:\+[^/]+/[^/]+)?"


class BenchmarkNameConverter(StringConverter):
    """The name of a benchmark; one of its further probes follows behind a colon: `culture:answering`."""

    regex = "[-a-zA-Z0-9_]+(?::[a-z_]+)?"


register_converter(BenchmarkNameConverter, "benchmark")
register_converter(NumberConverter, "number")
register_converter(ModelNameConverter, "model")
handler400 = "leaderboard.serving.errors.bad_request"
handler403 = "leaderboard.serving.errors.forbidden"
handler404 = "leaderboard.pages.search_page.not_found"
handler500 = "leaderboard.serving.errors.server_error"
runs = [
    path("", kept(run_view), name="run"),
    path("reproduce.sh", kept(script_view), name="script"),
    path("requirements.txt", kept(requirements_view), name="requirements"),
    path("every-eval-ever.json", kept(evaluation_view), name="evaluation"),
    path("every-eval-ever-samples.jsonl", evaluation_samples_view, name="evaluation_samples"),
    path("items/", kept(items_view), name="items"),
    path("items.parquet", parquet_view, name="parquet"),
    path("items.jsonl", lines_view, name="lines"),
]
benchmarks = [
    path("", kept(benchmarks_view), name="benchmarks"),
    path("<benchmark:name>/", kept(benchmark_view), name="benchmark"),
    path("<benchmark:name>/items/", kept(questions_view), name="questions"),
    path("<benchmark:name>/items/<path:question>/", kept(question_view), name="question"),
    path("<benchmark:name>/relations/<str:relation>/", kept(relation_view), name="relation"),
]
# What version 1 of the API had besides, and where that is now.
GONE_FROM_API = {
    "leaderboard": "/?format=json",
    "overview": "/?topic=all&format=json",
    "queue": "/queue/?format=json",
    "compare": "/compare/?format=json",
    "benchmarks/<benchmark:name>/items": "/benchmarks/{name}/items/?format=json",
    "benchmarks/<benchmark:name>/items/<path:question>": "/benchmarks/{name}/items/{question}/?format=json",
    "benchmarks/<benchmark:name>/relations/<str:relation>": "/benchmarks/{name}/relations/{relation}/?format=json",
    "models/<str:org>/<model:name>/training": "/models/{org}/{name}/training/?format=json",
    "runs": "/board.parquet",
    "changes": "/board.parquet",
    "snapshots": "/board.parquet",
    "submissions": "/api/",
    "openapi.json": "/api/",
}
v1 = [
    path("models", api.models_view),
    path("benchmarks", api.benchmarks_view),
    path("runs/<number:run>", api.run_view, name="run_record"),
    path("runs/<number:run>/scores", api.scores_view),
    path("runs/<number:run>/items", api.items_view),
    path("submit", api.submit_view),
    path("submissions/<str:secret>", api.submission_view),
    path("submissions/<str:secret>/cancel", api.cancel_view),
    path("submissions/<str:secret>/retry", api.retry_view),
    *(path(route, api.gone_view, {"instead": address}) for route, address in GONE_FROM_API.items()),
    path("results", api.no_results_view),
    path("results/<path:rest>", api.no_results_view),
    path("", api.no_such_route),
    path("<path:rest>", api.no_such_route),
]
# A sitemap has at most 50,000 addresses, so that there is one of sitemaps, and one for each kind of page.
crawlers = [
    path("robots.txt", robots_view),
    path("sitemap.xml", sitemaps.index, {"sitemaps": SITEMAPS, "sitemap_url_name": "sitemap_part"}, "sitemap"),
    path("sitemap-<section>.xml", sitemaps.sitemap, {"sitemaps": SITEMAPS}, "sitemap_part"),
]
# Addresses of what is no more lead to what is nearest, or say that it is gone.
GONE = [
    "runs/<number:pk>/badge.svg",
    "runs/<number:pk>/picture.png",
    "runs/<number:pk>/eval-results.yaml",
    "runs/<number:pk>/model-card.md",
    "benchmarks/<benchmark:name>/eval.yaml",
    "benchmarks/<benchmark:name>/picture.png",
    "benchmarks/<benchmark:name>/croissant.json",
    "embed/<path:page>",
    "embed/",
    "history/",
    "changes/",
    "snapshots/",
    "snapshots/<path:page>",
]
former = [
    re_path(r"^feeds/.*\.atom$", RedirectView.as_view(pattern_name="feed", permanent=True)),
    path("runs/<number:pk>/map/", RedirectView.as_view(pattern_name="run")),
    path("runs/<number:pk>/cite/", RedirectView.as_view(pattern_name="run")),
    path("runs/<number:pk>/items/<str:relation>/<number:template>/<number:index>/", former_item_view),
    path("benchmarks/<benchmark:name>/try/", RedirectView.as_view(pattern_name="questions")),
    *(path(address, gone) for address in GONE),
]
urlpatterns = [
    path("", include(crawlers)),
    path("", include(former)),
    path("board.parquet", board_view, name="board"),
    path("feed.atom", kept(ResultsFeed()), name="feed"),
    path("", kept(overview_view, seconds=5), name="overview"),
    path("models/<str:org>/<model:name>/", kept(model_view), name="model"),
    path("models/<str:org>/<model:name>/training/", kept(training_view), name="training"),
    path("runs/<number:pk>/", include(runs)),
    path("compare/", kept(compare_view), name="compare"),
    path("search/", kept(search_view), name="search"),
    path("suggestions/", kept(suggestions_view), name="suggestions"),
    path("benchmarks/", include(benchmarks)),
    path("submit/", kept(submit_view, seconds=5), name="submit"),
    path("submissions/<str:token>/", submission_view, name="submission"),
    path("queue/", kept(queue_view, seconds=5), name="queue"),
    path("methods/", kept(methods_view), name="methods"),
    path("methods/<slug:name>/", kept(methods_view), name="methods_page"),
    path("papers/", kept(papers_view), name="papers"),
    path("papers/<slug:name>/", kept(paper_view), name="paper"),
    path("api/", kept(api.documentation_view), name="api"),
    path("api/v1/", include(v1)),
    path("status/", RedirectView.as_view(pattern_name="queue", permanent=True)),
    path("healthz", health_view, name="healthz"),
    path("metrics", metrics_view, name="metrics"),
    path("admin/", admin.site.urls),
]
