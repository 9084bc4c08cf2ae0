"""The pages of similarity: options ranked by the cosine of their vectors to the subject's."""

from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.questions_in_words import CLOSENESS

PAGES = ProbePages(
    asked_by="the answer whose vector is closest to the subject's",
    question_form=CLOSENESS,
)
