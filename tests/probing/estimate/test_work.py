"""Expected work, and the time left that it tells: right within 20 % once a tenth is done. Time is positions here."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest

from probing import runner
from probing.benchmark import Benchmark, Item, Relation
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.estimate import work as estimate
from probing.estimate.load import USUAL_COSTS, Load
from probing.estimate.work import ITEMS, WorkEstimate, estimate_work
from probing.kinds import Kind
from probing.language_model import Continuation, LanguageModel
from probing.plan import Part, Plan, plan_of
from probing.runner import run
from probing.scoring.causal import CausalModel
from probing.scoring.masked import MaskedModel
from probing.settings import Settings
from probing.statements.prompting import vanilla
from probing.template import prompt
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
MANY = ((5, 15),) * 30 + ((80, 5),) * 30
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
    """In place of the progress bar: at each batch, the time and the share that is done."""

    def __init__(self, total: Load, done: Load) -> None:
        self.total, self.n = total.work, done.work
        self.heard: list[tuple[int, float]] = []

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *error: object) -> None:
        assert self.n == pytest.approx(self.total)

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        pass

    def advance(self, expected: Load, actual: Load) -> None:
        assert expected.work >= -1e-6
        self.n += expected.work
        self.heard.append((self.model.usage.positions, self.n / self.total))

    model: LanguageModel


@pytest.fixture
def largest_error(monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """Runs a benchmark; how far the estimates of the whole time are off from the first tenth to the end."""

    def measure(model: LanguageModel, benchmark: Benchmark, **options: object) -> float:
        bars: list[Bar] = []
        monkeypatch.setattr(Bar, "model", model, raising=False)
        monkeypatch.setattr(runner, "progress_bar", lambda *sums, **more: bars.append(Bar(*sums)) or bars[-1])
        start = model.usage.positions
        run(model, benchmark, **options)
        whole = model.usage.positions - start
        late = [(time - start, share) for time, share in bars[0].heard if time - start >= 0.1 * whole]
        return max(abs(time / share / whole - 1) for time, share in late)

    return measure


@pytest.mark.parametrize("make", [causal, masked])
@pytest.mark.parametrize("order", MIXED)
def test_multiple_choice(largest_error: Callable[..., float], make: Callable[[], LanguageModel], order: str) -> None:
    assert largest_error(make(), MIXED[order]) < 0.2


@pytest.mark.parametrize("sizes", [MANY, MANY[::-1]], ids=["cheap first", "cheap last"])
def test_deciding(largest_error: Callable[..., float], sizes: Sequence[tuple[int, int]]) -> None:
    """Where a model decides, what its texts share is most of the work; within a part it is told in steps."""
    assert largest_error(causal(), mixed(*sizes), decide=True, templates=0) < 0.2


@pytest.mark.parametrize("order", ["cheap first", "cheap last"])
def test_counting_items_would_not_do(
    largest_error: Callable[..., float], order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards the tests here: their benchmarks are hard enough."""

    def by_items(plan: Plan, part: Part, kind: str, cut: object) -> WorkEstimate:
        work = estimate_work(plan, part, "causal")
        return WorkEstimate({"score": Load(work.loads["score"].statements, part.items)})

    monkeypatch.setattr(estimate, "estimate_work", by_items)
    assert largest_error(causal(), MIXED[order]) > 0.5


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
    assert largest_error(model, benchmark) < 0.2


def test_perplexity(largest_error: Callable[..., float]) -> None:
    assert largest_error(FakeModel(), open_benchmark("graph")) < 0.2


class Writer(FakeModel):
    """Writes nothing, at the cost of a word per token."""

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        for text in texts:
            self.usage.add("generate", 1, len(text.split()) + tokens)
            yield Continuation("")


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_cloze(largest_error: Callable[..., float], kind: Kind) -> None:
    model = Writer(card=replace(FAKE_CARD, kind=kind))
    assert largest_error(model, open_benchmark("geography")) < 0.2


@pytest.mark.parametrize("prompting", ["vanilla", "few-shot"])
def test_probes_that_use_several_verbs(largest_error: Callable[..., float], prompting: str) -> None:
    benchmark = open_benchmark("pairs").select(["lies_in", "kind_of"], limit=20)
    questions = [question for each in benchmark.relations for question in vanilla(each, 0, 0, 0)]
    texts = [question.prompt.fill(option).text for question in questions for option in question.item.options]
    texts += [word for question in questions for word in (question.item.subject, *question.item.options)]
    model = pair_models.causal(pair_models.byte_level(texts), batch_tokens=300)
    assert model.use_fast_path
    assert largest_error(model, benchmark, probe="specificity", prompting=prompting) < 0.2


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_a_sample_stands_for_the_rest(kind: Kind) -> None:
    """Every statement is counted, though only some are looked at."""
    benchmark = mixed((7, 10 * ITEMS))
    settings = Settings()
    (part,) = plan_of(benchmark, settings).parts
    work = estimate_work(plan_of(benchmark, settings), part, kind)
    assert work.loads["score"].statements == pytest.approx(7 * part.items)
    few = mixed((7, 5 * ITEMS))
    assert work.positions == pytest.approx(
        2 * estimate_work(plan_of(few, settings), plan_of(few, settings).parts[0], kind).positions, rel=0.05
    )


def test_few_shot_prompting_may_show_more_than_a_sample() -> None:
    benchmark = open_benchmark("pairs").select(["lies_in"])
    settings = Settings(probe="specificity", options={"prompting": "few-shot", "shots": 45})
    (part,) = plan_of(benchmark, settings).parts
    assert part.items > 45
    assert estimate_work(plan_of(benchmark, settings), part, "causal").loads["fill"].statements == 2 * part.items


def test_what_cannot_be_asked_is_told_beforehand() -> None:
    benchmark = open_benchmark("pairs").select(["lies_in"])
    settings = Settings(probe="specificity", options={"prompting": "few-shot", "shots": 500})
    (part,) = plan_of(benchmark, settings).parts
    with pytest.raises(BadInput, match="too few to show 500 others"):
        estimate_work(plan_of(benchmark, settings), part, "causal")


def test_verbs_are_done_one_by_one() -> None:
    work = WorkEstimate({"fill": Load(10, 900, 4), "embed": Load(30, 100)})
    assert work.load == Load(40, 1000, 4)
    assert work.done({}) == Load()
    assert work.done({"embed": 30}) == Load(30, 100)
    assert work.done({"fill": 5, "embed": 30}) == Load(35, 550, 2)
    assert work.done({"fill": 20, "embed": 99}) == work.load


def test_passes_cost_as_much_as_some_positions() -> None:
    work = WorkEstimate({"fill": Load(10, 100, 5), "embed": Load(30, 100)})
    assert (work.positions, work.work) == (200, 200 + 5 * USUAL_COSTS.passes)


def test_a_part_has_as_many_passes_however_many_items_it_has() -> None:
    loads = []
    for items in (40, 4 * ITEMS):
        benchmark, settings = mixed((7, items)), Settings(decide=True)
        (part,) = plan_of(benchmark, settings).parts
        loads.append(estimate_work(plan_of(benchmark, settings), part, "causal").loads["score"])
    few, many = loads
    assert many.positions > 5 * few.positions
    assert 1 < few.passes <= many.passes < 2 * few.passes
