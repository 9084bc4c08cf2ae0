"""The pages of multiple choice, whose rows are what the defaults of `ProbePages` show."""

from leaderboard.probe_pages.multiple_choice_charts import strip_sections
from leaderboard.probe_pages.pages import ProbePages

PAGES = ProbePages(
    asked_by="multiple choice",
    strip_sections=strip_sections,
    option_labels={"few_shot": "Examples before each item", "chat": "Use the chat template"},
)
