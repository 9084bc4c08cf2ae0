"""The pages of similarity: options ranked by the cosine of their vectors to the subject's."""

from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import CLOSENESS

PAGES = ProbePages(
    asked_by="the answer whose vector is closest to the subject's",
    question_form=CLOSENESS,
)
