"""The pages of answering: questions, and the texts that models wrote in answer."""

from leaderboard.probe_pages.item_columns import ItemColumns
from leaderboard.probe_pages.item_pages import ItemPage, ItemRow, facts_table
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.question_forms import FREE_TEXT
from leaderboard.probe_pages.ranking import HIDDEN, METRIC_LABELS
from leaderboard.probe_pages.ranking import PAGES as RANKING

ITEM_COLUMNS = ItemColumns(("subject", "statement", "answer_label", "prediction_label", "correct"))


def item_page(item: ItemRow) -> ItemPage:
    """Return the page of a question with everything that is stored of it."""
    return ItemPage("item_facts.html", {}, [facts_table(item, ITEM_COLUMNS)])


PAGES = ProbePages(
    metric_labels=METRIC_LABELS,
    asked_by="questions, answered in writing",
    offers_options=False,
    option_labels={"pair": "Culture pair", "chat": "Use the chat template", "tokens": "Tokens to write"},
    hidden_dimensions=HIDDEN,
    fine_dimensions=RANKING.fine_dimensions,
    default_dimensions=("culture_pair",),
    topic=RANKING.topic,
    split=RANKING.split,
    item_columns=ITEM_COLUMNS,
    item_page=item_page,
    question_form=FREE_TEXT,
    published_scores=RANKING.published_scores,
)
