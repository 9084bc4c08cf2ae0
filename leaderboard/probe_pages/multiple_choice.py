"""The pages of multiple choice, whose rows are what the defaults of `ProbePages` show."""

from leaderboard.display import labels
from leaderboard.display.sections import Section
from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages import normalisations
from leaderboard.probe_pages.multiple_choice_charts import strip_sections
from leaderboard.probe_pages.pages import ProbePages
from probing.probes.multiple_choice import MultipleChoice

METRIC = MultipleChoice.main_metric


def run_sections(run: Run) -> list[Section]:
    """Return how the figures of a run move under other normalisations."""
    section = normalisations.run_section(run, METRIC, labels.metric(METRIC))
    return [section] if section else []


def benchmark_sections(benchmark: Benchmark) -> list[Section]:
    """Return how the order of all models moves under other normalisations."""
    section = normalisations.benchmark_section(benchmark, METRIC, labels.metric(METRIC))
    return [section] if section else []


PAGES = ProbePages(
    asked_by="multiple choice",
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
    strip_sections=strip_sections,
    option_labels={"few_shot": "Examples before each item", "chat": "Use the chat template"},
)
