"""Expected work, its progress, and the time left that it tells: right within 30 % from a quarter of the run on."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from probing import runner, time_left
from probing.benchmark import Benchmark, Item, Relation
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.kinds import Kind
from probing.language_model import FEWEST_STATEMENTS, Continuation, LanguageModel
from probing.plan import Part, plan_of
from probing.runner import run
from probing.scoring import pruning
from probing.scoring.causal import CausalModel
from probing.scoring.masked import MaskedModel
from probing.settings import Settings
from probing.statements.prompting import vanilla
from probing.template import prompt
from probing.time_left import (
    ITEMS,
    MOST_REMEMBERED,
    Length,
    Pace,
    PartsProgress,
    WorkEstimate,
    estimate_work,
    median_pace,
    usual_length,
)
from tests.fakes import FAKE_CARD, FakeModel
from tests.probing.scoring import pair_models
from tests.probing.scoring.stubs import bigram, random_table, right_neighbour, whole_words, word_pieces

WORDS = [f"w{first}{second}" for first in "abcdefghij" for second in "abcdefghijklmnopqrst"]


def relation(name: str, options: int, items: int) -> Relation:
    """Answers of one word or two."""
    draw = Random(name)
    answers = tuple({" ".join(draw.sample(WORDS, draw.choice((1, 2)))): None for _ in range(options)})
    questions = tuple(Item(number, " ".join(draw.sample(WORDS, 3)), (0,)) for number in range(items))
    return Relation(name, ("waa wab [X] [Y] wac wad", "waa [X] wab wac wad wae waf wag [Y]"), answers, questions)


def mixed(*sizes: tuple[int, int]) -> Benchmark:
    """A relation for each number of options and of items."""
    relations = (relation(f"r{number}", *size) for number, size in enumerate(sizes))
    return Benchmark("mixed", "1", "0", tuple(relations))


CHEAP_FIRST = ((5, 60), (5, 60), (80, 20), (80, 20))
MANY = ((5, 15),) * 15 + ((80, 5),) * 15
MIXED = {
    "cheap first": mixed(*CHEAP_FIRST),
    "cheap last": mixed(*CHEAP_FIRST[::-1]),
    "in turns": mixed(*CHEAP_FIRST[::2], *CHEAP_FIRST[::2]),
    "only one": mixed((40, 60)),
}


def causal() -> CausalModel:
    """As sure of itself as a trained model, so that deciding saves something."""
    tokenizer = whole_words([*WORDS, "."])
    model = CausalModel(bigram(random_table(len(tokenizer)) * 4), tokenizer, batch_tokens=600)
    assert model.use_fast_path
    return model


def masked() -> MaskedModel:
    tokenizer = word_pieces(WORDS)
    model = MaskedModel(right_neighbour(random_table(len(tokenizer)) * 4), tokenizer, batch_tokens=600)
    assert model.use_fast_path
    return model


class Bar:
    """In place of the progress bar: at each batch, the time and the estimate of the whole. Time is positions here."""

    model: LanguageModel

    def __init__(self, total: float, done: float) -> None:
        self.total, self.n, self.pace = total, done, Pace()
        self.now = self.model.usage.positions
        self.heard: list[tuple[int, float]] = []

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *error: object) -> None:
        assert self.n == pytest.approx(self.total)

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        pass

    def advance(self, work: float) -> None:
        assert work >= -1e-6
        before, self.now = self.now, self.model.usage.positions
        self.n += work
        self.pace.add(work, self.now - before)
        if self.pace.rate:
            self.heard.append((self.now, self.now + (self.total - self.n) / self.pace.rate))


@pytest.fixture
def largest_error(monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """Runs a benchmark; how far the estimates of the whole time are off from the first quarter to the end."""

    def measure(model: LanguageModel, benchmark: Benchmark, **options: object) -> float:
        bars: list[Bar] = []
        monkeypatch.setattr(Bar, "model", model, raising=False)
        monkeypatch.setattr(runner, "progress_bar", lambda *sums, **more: bars.append(Bar(*sums)) or bars[-1])
        start = model.usage.positions
        run(model, benchmark, **options)
        whole = model.usage.positions - start
        late = [estimate - start for time, estimate in bars[0].heard if time - start >= whole / 4]
        return max(abs(estimate / whole - 1) for estimate in late)

    return measure


@pytest.mark.parametrize("make", [causal, pytest.param(masked, marks=pytest.mark.slow)])
@pytest.mark.parametrize("order", MIXED)
def test_multiple_choice(largest_error: Callable[..., float], make: Callable[[], LanguageModel], order: str) -> None:
    assert largest_error(make(), MIXED[order]) < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [MANY, MANY[::-1]], ids=["cheap first", "cheap last"])
@pytest.mark.parametrize("fewest", [1, FEWEST_STATEMENTS])
def test_deciding(
    largest_error: Callable[..., float],
    sizes: Sequence[tuple[int, int]],
    fewest: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a model decides, it scores only some of the options to their ends; within a part this is told in steps."""
    for module in (pruning, time_left):
        monkeypatch.setattr(module, "FEWEST_STATEMENTS", fewest)
    assert largest_error(causal(), mixed(*sizes), decide=True, templates=0) < 0.3


def test_real_names_where_words_are_tokens(largest_error: Callable[..., float]) -> None:
    names = ["country_continent", "city_country", "novel_author", "author_language"]
    benchmark = open_benchmark("starter").select(names, limit=8)
    prompts = (
        (prompt(relation.templates[0], item.subject), relation)
        for relation in benchmark.relations
        for item in relation.items
    )
    texts = [text.fill(option).text for text, relation in prompts for option in relation.answer_space]
    model = pair_models.causal(pair_models.byte_level(texts))
    assert model.use_fast_path
    assert largest_error(model, benchmark) < 0.3


def test_perplexity(largest_error: Callable[..., float]) -> None:
    assert largest_error(FakeModel(), open_benchmark("graph")) < 0.3


class Writer(FakeModel):
    """Writes nothing, at the cost of a word per token."""

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        for text in texts:
            self.usage.add("generate", 1, len(text.split()) + tokens)
            yield Continuation("")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_cloze(largest_error: Callable[..., float], kind: Kind) -> None:
    model = Writer(card=replace(FAKE_CARD, kind=kind))
    assert largest_error(model, open_benchmark("geography"), limit=40) < 0.3


@pytest.mark.parametrize("prompting", ["vanilla", "few-shot"])
def test_probes_that_use_several_verbs(largest_error: Callable[..., float], prompting: str) -> None:
    benchmark = open_benchmark("pairs").select(["lies_in", "kind_of"], limit=20)
    questions = [question for each in benchmark.relations for question in vanilla(each, 0, 0, 0)]
    texts = [question.prompt.fill(option).text for question in questions for option in question.item.options]
    texts += [word for question in questions for word in (question.item.subject, *question.item.options)]
    model = pair_models.causal(pair_models.byte_level(texts), batch_tokens=300)
    assert model.use_fast_path
    assert largest_error(model, benchmark, probe="specificity", prompting=prompting) < 0.3


def work_of(
    benchmark: Benchmark, settings: Settings, kind: Kind = "causal", length: Length = usual_length
) -> WorkEstimate:
    """The expected work of the single part."""
    plan = plan_of(benchmark, settings)
    (part,) = plan.parts
    return estimate_work(plan, part, kind, length)


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_a_sample_stands_for_the_rest(kind: Kind) -> None:
    """Every statement is counted, though only some are looked at."""
    all_of_them, half = (work_of(mixed((7, items)), Settings(), kind) for items in (10 * ITEMS, 5 * ITEMS))
    assert all_of_them.statements["score"] == pytest.approx(7 * 10 * ITEMS)
    assert all_of_them.work == pytest.approx(2 * half.work, rel=0.05)


def test_few_shot_prompting_may_show_more_than_a_sample() -> None:
    benchmark = open_benchmark("pairs").select(["lies_in"])
    settings = Settings(probe="specificity", options={"prompting": "few-shot", "shots": 45})
    assert work_of(benchmark, settings).statements["fill"] == 2 * benchmark.size > 2 * 45


def test_what_cannot_be_asked_is_told_beforehand() -> None:
    benchmark = open_benchmark("pairs").select(["lies_in"])
    settings = Settings(probe="specificity", options={"prompting": "few-shot", "shots": 500})
    with pytest.raises(BadInput, match="too few to show 500 others"):
        work_of(benchmark, settings)


def positions(
    template: str, options: Sequence[str], kind: Kind, length: Length = usual_length, **settings: object
) -> float:
    """The expected positions of a part with one item."""
    asked = Relation("r", (template,), tuple(options), (Item(0, "Oslo", (0,)),))
    return work_of(Benchmark("one", "1", "0", (asked,)), Settings.from_json(settings), kind, length).work


def test_each_kind_of_model_reads_once_what_it_can_share() -> None:
    """Each letter is a token; an option has one more, by which it ends."""
    assert positions("[X] is [Y]", ["big", "old"], "causal", len) == len("Oslo is ") + 2 * (1 + len("big"))
    assert positions("[Y] is [X]", ["big", "old"], "causal", len) == 2 * (1 + len("Big") + len(" is Oslo"))
    whole = 1 + len("Oslo is big")
    assert positions("[X] is [Y]", ["big", "old"], "masked", len) == 2 * whole**2
    assert positions("[X] is [Y]!", ["big", "old"], "encoder-decoder", len) == len("Oslo is !") + 2 * (1 + len("big"))


def test_without_a_tokenizer_a_letter_of_a_rarer_script_counts_for_more() -> None:
    latin, arabic = usual_length("Cairo is the capital"), usual_length("القاهرة هي العاصمة")
    assert 4 < latin < arabic


def test_an_option_that_the_tokenizer_splits_is_no_single_token() -> None:
    """A pair of such options is scored as well as filled."""
    benchmark = open_benchmark("pairs").select(["lies_in"], limit=4)
    settings = Settings(probe="specificity")
    split, single = (work_of(benchmark, settings, length=length) for length in (len, lambda text: 1.0))
    assert "score" in split.statements and "score" not in single.statements


def test_verbs_are_done_one_by_one() -> None:
    work = WorkEstimate({"fill": 10, "embed": 30}, {"fill": 900, "embed": 100})
    assert work.work == 1000
    assert work.share({}) == 0
    assert work.share({"embed": 30}) == 0.1
    assert work.share({"fill": 5, "embed": 30}) == 0.55
    assert work.share({"fill": 20, "embed": 99}) == 1


LONG, SHORT = Part("P30", 0, 4), Part("P36", 0, 2)
WORK = {LONG: WorkEstimate({"score": 4}, {"score": 30.0}), SHORT: WorkEstimate({"score": 2}, {"score": 10.0})}


def test_what_is_done_of_several_parts_adds_up() -> None:
    done: list[float] = []
    progress = PartsProgress(WORK, done.append)
    progress.begin(LONG)
    progress.begin(SHORT)
    progress.move(LONG, 0.5)
    progress.move(SHORT, 0.25)
    assert sum(done) == 17.5
    progress.move(LONG, 0.75)
    assert sum(done) == 25
    progress.end(SHORT, 0)
    assert sum(done) == 32.5, "a part that has ended is done as it was expected"


def test_it_names_the_relations_that_are_being_asked() -> None:
    shown: list[str] = []
    other = LONG._replace(relation="P19")
    progress = PartsProgress(WORK | {other: WORK[LONG]}, lambda work: None, shown.append)
    progress.begin(LONG)
    progress.begin(SHORT)
    assert shown[-1] == "P30, P36"
    progress.end(LONG, 3)
    progress.begin(other)
    assert shown[-1] == "P36, P19, 3 too long"


def test_the_pace_is_a_median_so_that_a_stall_does_not_change_it_and_none_before_any_work() -> None:
    steps = [(10, 1)] * 100
    assert median_pace(steps) == 10
    assert cast(float, median_pace([*steps[:50], (10, 20), *steps[50:]])) == pytest.approx(10, rel=0.01)
    assert Pace().rate is None
    assert median_pace([]) is None
    assert median_pace([(0, 3)]) is None


def test_what_takes_time_without_work_belongs_to_the_work() -> None:
    pace = Pace()
    for _ in range(20):
        pace.add(300, 1)
        pace.add(0, 1)
    assert pace.rate == pytest.approx(150, rel=0.1)


def test_a_long_run_is_remembered_in_few_steps() -> None:
    pace = Pace()
    for _ in range(10 * MOST_REMEMBERED):
        pace.add(3, 2)
    assert len(pace._steps) <= MOST_REMEMBERED
    assert pace.rate == pytest.approx(1.5)


RECORDED_RUNS: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_runs.json").read_text(encoding="utf-8"))[
    "runs"
]


def steps_of(run: Mapping[str, Any]) -> list[tuple[float, float]]:
    columns = (map(float, run["steps"][name].split()) for name in ("work", "seconds"))
    return list(zip(*columns, strict=True))


def errors(steps: Sequence[tuple[float, float]]) -> list[float]:
    """The relative errors of the whole time as estimated after each step; what is estimated as too long is positive."""
    whole, elapsed, left, pace = sum(seconds for _, seconds in steps), 0.0, sum(work for work, _ in steps), Pace()
    relative = []
    for work, seconds in steps:
        pace.add(work, seconds)
        elapsed, left = elapsed + seconds, left - work
        seconds_left = left / pace.rate if pace.rate else float("inf")
        if elapsed >= whole / 4:
            relative.append((elapsed + seconds_left) / whole - 1)
    return relative


@pytest.mark.parametrize("name", RECORDED_RUNS)
def test_the_time_left_of_a_recorded_run_is_near(name: str) -> None:
    assert max(map(abs, errors(steps_of(RECORDED_RUNS[name])))) < 0.3


def test_work_that_was_taken_for_more_than_it_is_makes_the_time_too_short_at_first() -> None:
    assert errors([(1, 0.5)] * 500 + [(1, 1.5)] * 500)[0] < -0.4
