"""/runs/<id>/items/<relation>/<template>/<index>/ : one item with everything that is stored of it."""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from leaderboard.lists.questions import question_id
from leaderboard.models import Run
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.item_pages import ItemRow
from leaderboard.probe_pages.questions_in_words import relation_name
from leaderboard.stored import benchmarks, item_rows
from leaderboard.stored.item_rows import ItemsMissing
from leaderboard.views.items import items_missing
from leaderboard.views.page import show
from probing.errors import ProbingError


def item_view(request: HttpRequest, pk: int, relation: str, template: int, index: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        row = item_rows.item(run, relation, template, index)
        content = benchmarks.read(run.benchmark).relation_of(relation, index)
    except ItemsMissing as error:
        return items_missing(request, run, error, "Item")
    except ProbingError as error:
        raise Http404(str(error)) from error
    if row is None:
        raise Http404("There is no such item in this run.")
    item = next(item for item in content.items if item.index == index)
    page = pages_of(run.benchmark).item_page(ItemRow(run, row, content, item))
    facts = {"question_id": question_id(content, item), "relation_name": relation_name(content)}
    return show(
        request,
        page.template,
        {"run": run, "row": row, **facts, **page.context},
        page.tables,
    )
