"""The pages of multiple choice, whose rows are what the defaults of `ProbePages` show."""

from leaderboard.probe_pages.pages import ProbePages

PAGES = ProbePages()
