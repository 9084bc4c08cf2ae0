"""The pages of multiple choice, of which all that they show is what the pages of every probe show."""

from leaderboard.probes.probe_pages import ProbePages

PAGES = ProbePages(
    asked_by="multiple choice",
    option_labels={"few_shot": "Examples before each item", "chat": "Use the chat template"},
)
