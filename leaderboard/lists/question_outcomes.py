"""The answers of all runs to one question: how many are right in each wording, and a reader's choice of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.lists.questions import BenchmarkQuestion
from leaderboard.models import Benchmark, Run
from leaderboard.stored.outcomes import NOT_COUNTED, RIGHT, answers_of, measured_on


@dataclass(frozen=True)
class QuestionOutcomes:
    """The runs that were measured here, and their outcomes in one question by template.

    `models` maps the number of each run to its model's id, `outcomes` to the outcomes, which runs without any lack.
    """

    models: Mapping[int, str]
    outcomes: Mapping[int, Sequence[int]]

    def of(self, run: int) -> Sequence[int]:
        return self.outcomes.get(run, ())

    def counted(self, template: int) -> list[int]:
        """Return the outcomes of a template that count."""
        reached = (of_run[template] for of_run in self.outcomes.values() if template < len(of_run))
        return [outcome for outcome in reached if outcome != NOT_COUNTED]

    def share(self, run: int) -> float | None:
        """Return the share of wordings in which a run is right, None where none counts."""
        counted = [outcome == RIGHT for outcome in self.of(run) if outcome != NOT_COUNTED]
        return sum(counted) / len(counted) if counted else None

    def asked(self, benchmark: Benchmark, question: BenchmarkQuestion) -> list[int]:
        """Return the templates that some run was asked, or the benchmark's usual ones where none was."""
        if question.item.wording:
            return [0]
        every = range(len(question.relation.templates))
        usual = [number for number in benchmark.settings.get("templates") or every if number in every]
        return [number for number in every if self.counted(number)] or usual or [0]

    def in_words(self, wordings: int) -> str:
        """Say in a sentence how many models are right; empty where no answer counts as right or wrong."""
        shares = [share for run in self.outcomes if (share := self.share(run)) is not None]
        if not shares:
            return ""
        if len(shares) == 1:
            return f"The only model that was asked is {_right_in(shares[0], wordings)}."
        models = "models" if len(set(self.models.values())) == len(self.models) else "runs"
        always, never = shares.count(1), shares.count(0)
        if wordings == 1:
            return f"{always} of {len(shares)} {models} {'is' if always == 1 else 'are'} right."
        if never == len(shares):
            return f"None of {never} {models} is right in any wording."
        if always == len(shares):
            return f"All {always} {models} are right in every wording."
        number, verb = f"{always} of {len(shares)} {models}", "is" if always == 1 else "are"
        return f"{number} {verb} right in every wording, {len(shares) - always - never} in some and {never} in none."

    def by_share(self) -> list[int]:
        """Return the numbers of all runs, those that are right in most wordings first."""
        shares = {run: self.share(run) for run in self.models}
        return sorted(shares, key=lambda run: (shares[run] is None, -(shares[run] or 0)))


def question_outcomes(benchmark: Benchmark, question: BenchmarkQuestion) -> QuestionOutcomes:
    """Return what all runs made of a question. Two queries."""
    runs = measured_on(benchmark).exclude(artefact="").order_by("model__hub_id", "pk")
    label, index = question.relation.label, question.item.index
    outcomes = {run: of_run.of(index) for run, of_run in answers_of(benchmark, [label])[label].items()}
    return QuestionOutcomes(dict(runs.values_list("pk", "model__hub_id")), outcomes)


def read_runs(numbers: Sequence[int]) -> list[Run]:
    """Return runs in the order of their numbers. One query."""
    runs = Run.objects.select_related("model", "benchmark").in_bulk(numbers)
    return [runs[number] for number in numbers]


def _right_in(share: float, wordings: int) -> str:
    """Say in how many of its wordings a question was answered rightly, given their share."""
    if wordings == 1:
        return "right" if share else "wrong"
    return f"right in {'every wording' if share == 1 else 'some wordings' if share else 'no wording'}"
