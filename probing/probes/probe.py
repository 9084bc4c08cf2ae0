"""The base class of probes: options, the columns that all rows share, scores, and the relations that can be asked."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import floor, isnan
from typing import Any, ClassVar, TypeVar

import pandas as pd

from probing.analysis.accuracy import tidy
from probing.analysis.added_tags import FORMER_NUMBERS
from probing.analysis.breakdowns import main_part
from probing.analysis.details import FIGURES
from probing.analysis.paired_tests import CORRECT, Correctness, ResultRows, compare
from probing.analysis.ranks import item_values
from probing.benchmark import Item, Relation
from probing.errors import BadInput, TooLong, UnsupportedModel, suggestion
from probing.kinds import Kind
from probing.language_model import LanguageModel
from probing.settings import SETTINGS, Option, Settings, declared

Row = dict[str, Any]
MadeT = TypeVar("MadeT")
# Fixed by a probe that never scores statements.
UNSCORED: Mapping[str, Any] = {"pll": Settings.pll, "reduction": Settings.reduction, "decide": Settings.decide}
# Tags that repeat the relation or are equal in every row of a run, so that scores are not broken down by them.
VERSION_TAGS = frozenset({"predicate", "objects"})
# The columns of every row, the last one where the model says what it read. `ITEM_COLUMNS` of `results.rows` says what
# each column of a probe holds.
ROW_COLUMNS = frozenset({"relation", "template", "index", "subject", "subject_id", "prompt"})


class Probe(ABC):
    """A way to ask a model about a relation. Subclasses are frozen dataclasses whose fields are the probe's options.

    `main_metric`: the metric that models are ranked by. `correctness`: what two results are compared by.
    `columns`: the declared columns of the rows, those of `ROW_COLUMNS` among them; any further column is a tag.
    `fixed`: settings that the probe leaves no choice of, so that a run records what was done and another choice is
    refused.
    `harness_protocol`: whether lm-evaluation-harness has a protocol for it (the setting `protocol`).
    `needs`: what the main metric needs, in words, where a run may have none of it.
    `remarks`: sentences that whoever reads the scores must know; the command `show` prints them.
    `noun`: what an item is called. `finds`: what a model does with a share of n items. `ahead`: how far one model is
    ahead of another, in points. `has_log_probs`: whether the scores of options are log-probabilities.
    """

    name: ClassVar[str]
    main_metric: ClassVar[str]
    columns: ClassVar[frozenset[str]]
    correctness: ClassVar[Correctness] = CORRECT
    fixed: ClassVar[Mapping[str, Any]] = {}
    harness_protocol: ClassVar[bool] = False
    needs: ClassVar[str] = ""
    remarks: ClassVar[Sequence[str]] = ()
    noun: ClassVar[str] = "question"
    finds: ClassVar[str] = "knows {share} of these {n} facts"
    ahead: ClassVar[str] = "knows {points} points {more}"
    has_log_probs: ClassVar[bool] = True
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @abstractmethod
    def rows(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[Row | TooLong]:
        """Yield one row per item, in the items' order, as the model answers.

        In place of the row of an item that is too long for the model, yield that error.
        """

    @abstractmethod
    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return tidy scores of stored rows, which may be condensed."""

    def baselines(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the tidy scores that need no model, of rows of items without answers; none where nothing is guessed.

        Beside the tags, such rows have the columns of items, `answer_label` and the number of options.
        """
        return tidy([])

    def condensed(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return all rows of some relations with as little as `scores` needs of each."""
        return rows

    @classmethod
    def compare(cls, results: ResultRows) -> pd.DataFrame:
        """Compare each further result with the first on what they share, overall and by every tag that all have.

        The columns are those of `paired_tests.compare`.
        """
        return compare(results, shared_tags(cls, results), cls.correctness)

    @classmethod
    def compared_columns(cls) -> list[str]:
        """Return the columns that a comparison reads beside the key and the tags."""
        return [cls.correctness.column, "subject_id"] if cls.correctness.column else []

    @classmethod
    def way(cls, kind: str, options: Mapping[str, Any]) -> str:
        """Return in words what counts as right for models of a kind, where it is another thing for other kinds.

        Figures of two such ways are never ranked together. `options`: those of the run.
        """
        return ""

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        """Return the rows of a part as a table whose column types do not depend on the values."""
        return pd.DataFrame(rows)

    def row_tags(self, relation: Relation, item: Item, row: Mapping[str, Any]) -> Row:
        """Return the columns of a stored row that hold tags, renewed when a run is rescored: those of its item.

        A breakdown of one's own is a tag that the format sets on items, not a column that is added here.
        """
        return tag_cells(relation, item)

    def item_figures(self, rows: pd.DataFrame) -> dict[str, pd.Series]:
        """Return the metrics that models are ranked by, each with the figures of the items whose mean it is.

        These are indexed by relation and item (see `item_values`); items that do not count for the model are left out.
        """
        column, rows = self.correctness.column, main_part(rows)
        return {self.main_metric: item_values(rows, rows[column])} if column else {}

    def relation_tags(self) -> Mapping[str, str]:
        """Return the tags by which options choose among versions of a relation; an empty value stands for any."""
        return {}

    def refuse_settings(self, settings: Settings) -> None:
        """Raise `BadInput` where a setting is chosen that the probe does not use, so that no record names it.

        Probes add the settings that their options exclude.
        """
        for name, value in self.fixed.items():
            if getattr(settings, name) not in (value, SETTINGS[name].default):
                raise BadInput(f"The probe {self.name} leaves no choice of {name}: it is {value}.", "Leave it out.")

    def refuse_part(self, relation: Relation, template: int) -> None:
        """Raise `BadInput` where the options do not fit this relation and template, before a model is loaded."""
        return  # most probes have no such options

    def refuse_kind(self, kind: Kind) -> None:
        """Raise `UnsupportedModel` where the probe cannot ask models of this kind."""
        if why := self.why_not_kind(kind):
            raise UnsupportedModel(why, "Choose another probe or other options, or a model of another kind.")

    def why_not_kind(self, kind: Kind) -> str:
        """Return why models of this kind cannot be asked, or an empty text if they can."""
        return ""

    def why_not(self, relation: Relation) -> str:
        """Return why this relation cannot be asked, or an empty text if it can."""
        return ""


def finding(
    finds: str, value: float, interval: tuple[float, float], n: float, without_model: Mapping[str, float]
) -> str:
    """Return what a model does, in words: "knows 49 % (41 to 57) of these 155 facts; guessing 13 %".

    `finds`: as `Probe` has it. `without_model`: what is reached without the model, by how.
    """
    low, high = interval
    share = percent(value) if isnan(low) else f"{percent(value)} ({percent(low)[:-2]} to {percent(high)[:-2]})"
    sentence = re.sub(r"\bthese 1 (\w+)s\b", r"this one \1", finds.format(share=share, n=f"{n:,.0f}"))
    return "; ".join(filter(None, [sentence, reached_without(without_model)]))


def reached_without(figures: Mapping[str, float]) -> str:
    """Return what is reached without a model; a way that reaches as much as the one before it is left out."""
    ways: dict[str, str] = {}
    for way, value in figures.items():
        ways.setdefault(percent(value), f"{way} {percent(value)}")
    return ", ".join(ways.values())


def percent(share: float) -> str:
    """Write a share in percent, below 10 with one digit behind the point."""
    whole = floor(100 * share + 0.5)  # of 12.5 the 13 that readers expect, where formatting would take the even 12
    return f"{whole} %" if share >= 0.0995 or share == 0 else f"{100 * share:.1f} %"


def unless_too_long(make: Callable[..., MadeT], *answers: Any) -> MadeT | TooLong:
    """Return what is made of answers, or the first of them that is the error that an item is too long."""
    return next((answer for answer in answers if isinstance(answer, TooLong)), None) or make(*answers)


def tag_columns(probe: Probe | type[Probe], columns: Iterable[str]) -> list[str]:
    """Return those of the columns that are tags, in their order."""
    return [column for column in columns if column not in probe.columns and column not in {*FIGURES, *FORMER_NUMBERS}]


def shared_tags(probe: type[Probe], results: ResultRows) -> list[str]:
    """Return the tags that all results have, in the order of the first one."""
    first, *others = (tag_columns(probe, rows.columns) for rows in results.values())
    return [tag for tag in first if all(tag in tags for tags in others)]


def declared_options(kind: type[Probe]) -> Mapping[str, Option]:
    """Return the options that a probe declares, by name."""
    return declared(kind, kind.name)


def offered_options(kind: type[Probe]) -> dict[str, Option]:
    """Return what whoever submits a model may choose: offered settings that the probe leaves open, and its options."""
    closed = {*kind.fixed, *(() if kind.harness_protocol else ("protocol",))}
    settings = {name: setting for name, setting in SETTINGS.items() if setting.offered and name not in closed}
    return {**settings, **declared_options(kind)}


def changed_options(probe: Probe) -> dict[str, Any]:
    """Return the options that differ from their defaults: those that enter the settings digest."""
    values = {name: getattr(probe, name) for name in declared_options(type(probe))}
    return {name: value for name, value in values.items() if value != declared_options(type(probe))[name].default}


def make(kind: type[Probe], values: Mapping[str, Any]) -> Probe:
    """Return the probe with these options, each checked against its declaration."""
    options = declared_options(kind)
    refuse_unknown(values, options, f"The probe {kind.name}")
    return kind(**{name: options[name].check(value) for name, value in values.items()})


def parse(options: Mapping[str, Option], assignments: Sequence[str], owner: str) -> dict[str, Any]:
    """Return the options that texts of the form `name=value` set, as values of the declared types.

    An option that takes many values takes them with commas between. `owner`: what error messages say the options
    belong to.
    """
    values: dict[str, Any] = {}
    names = {option.called: name for name, option in options.items()}
    for assignment in assignments:
        called, equals, text = assignment.partition("=")
        if not equals:
            raise BadInput(f"{assignment!r} is not an option.", "Write it as name=value.")
        name = names.get(called, called)
        refuse_unknown([name], options, owner)
        chosen = options[name]
        values[name] = [chosen.parse(part.strip()) for part in text.split(",")] if chosen.many else chosen.parse(text)
    return values


def refuse_unknown(names: Iterable[str], options: Mapping[str, Option], owner: str) -> None:
    """Raise `BadInput` where one of the names is none of the owner's options."""
    for name in names:
        if name not in options:
            step = suggestion(name, options) if options else "It has none."
            raise BadInput(f"{owner} has no option {name!r}.", step)


def prompt_cells(prompt: str) -> Row:
    """Return the column with all that the model read; none for a model that does not say it."""
    return {"prompt": prompt} if prompt else {}


def item_cells(item: Item) -> dict[str, Any]:
    """Return the number of an item, its subject and its right answers as columns of its row."""
    return {
        "index": item.index,
        "subject": item.subject,
        "subject_id": item.subject_id,
        "answer": item.answers[0],
        "answers": list(item.answers),
    }


def tag_cells(relation: Relation, item: Item) -> dict[str, Any]:
    """Return the tags of an item as columns of its row; a tag with several values is a list."""
    tags = relation.tags_of(item).items()
    return {tag: list(value) if isinstance(value, tuple) else value for tag, value in tags}
