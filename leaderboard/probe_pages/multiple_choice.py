"""The pages of multiple choice, whose rows are what the defaults of `ProbePages` show."""

from leaderboard.probe_pages.pages import ProbePages

PAGES = ProbePages(
    metric_labels={"relative_accuracy_lm_pub_quiz": "Relative accuracy"},
    # The T-REx figures of LM-PUB-QUIZ are relative to the same model before its training.
    published_metrics={"trex": "relative_accuracy_lm_pub_quiz"},
)
