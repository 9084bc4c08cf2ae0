"""The pages of similarity: options ranked by the cosine of their vectors to the subject's."""

from leaderboard.probe_pages.pages import ProbePages

PAGES = ProbePages(asked_by="the answer whose vector is closest to the subject's")
