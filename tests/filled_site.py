"""Fill a site with every benchmark that ships and with finished runs of three small models of random weights.

Every probe then has pages with content, within seconds and without a network. The browser tests and the pictures of
pages (tests/tools/pictures.py) use the same site.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from leaderboard.figures import artefacts, benchmarks
from leaderboard.figures.ranks import refresh_standings
from leaderboard.models import Benchmark, Model, Run, Submission
from leaderboard.worker.finishing import finish
from probing.benchmark import Benchmark as Content
from probing.catalog import CATALOG, EMBEDDED
from probing.language_model import LanguageModel
from probing.part_runner import probe_part
from probing.plan import plan, plan_of
from probing.results.joining import joined
from probing.results.result import Result
from probing.scoring.load import load
from probing.settings import Settings
from probing.template import prompt
from tests.leaderboard import factories as make
from tests.tiny_models import build_bert, build_gpt2, build_llama, byte_level_bpe, word_piece

ITEMS = 4  # of each relation, where a benchmark is large
WHOLE = ("perplexity", "specificity")  # probes of small benchmarks, all of whose items are asked
VOCABULARY = 6000  # tokens, so that most words are one
LONGEST_WORD = 24  # letters
SHOWN_APART = 12  # revisions that were sent together, more than a page shows one by one


def fill() -> None:
    """Install the benchmarks that ship, and measure the three models on each.

    Somebody else has measured a training, whose three steps are the three models.
    """
    shipped = [entry for entry in CATALOG.values() if not entry.downloads]
    installed = [benchmarks.install(entry.format, EMBEDDED / entry.slug, entry.slug)[0] for entry in shipped]
    contents = [benchmarks.read(on) for on in installed]
    models = random_models([sentence for content in contents for sentence in sentences(content)])
    pairs = list(zip(installed, contents, strict=True))
    results = {on.slug: [measured(on, content, model) for model in models] for on, content in pairs}
    for on in installed:
        for model, (settings, result) in zip(models, results[on.slug], strict=True):
            store(on, settings, result, row_of(model))
    for place, (settings, result) in enumerate(results[installed[0].slug]):
        step = 1000 * place
        of = make.model("random/checkpoints", step=step, tokens=4000 * step, revision=f"step{step}")
        sent = {"provenance": Run.Provenance.ELSEWHERE, "reference": "A made-up source"}
        store(installed[0], settings, result, of, **sent)
    for on in installed:
        refresh_standings(on)
    add_submissions(installed[0])


def sentences(content: Content) -> Iterator[str]:
    """Yield the first wording of every item with its answer."""
    for relation in content.relations:
        for item in relation.items:
            answer = relation.options_of(item)[item.answers[0]]
            yield prompt(relation.template_of(item, 0), item.subject).fill(answer).text


def random_models(texts: Sequence[str]) -> list[LanguageModel]:
    """Build and load three models of random weights, whose vocabularies have the words of these texts."""
    models: list[LanguageModel] = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        folders = {
            "random/gpt2-tiny": build_gpt2(folder / "gpt2", tokenizer=byte_level_bpe("", VOCABULARY, texts)),
            "random/llama-tiny": build_llama(folder / "llama", tokenizer=byte_level_bpe("<s>", VOCABULARY, texts)),
            "random/bert-tiny": build_bert(folder / "bert", tokenizer=word_piece(texts, LONGEST_WORD)),
        }
        for model_id, files in folders.items():
            model = load(str(files), device="cpu")
            model.card = replace(model.card, id=model_id)
            models.append(model)
    return models


def row_of(model: LanguageModel) -> Model:
    card = model.card
    facts = {"kind": card.kind, "parameters": card.parameters, "architecture": card.architecture}
    return Model.objects.get_or_create(hub_id=card.id, commit=card.commit, defaults=facts)[0]


def measured(on: Benchmark, content: Content, model: LanguageModel) -> tuple[Settings, Result]:
    """Measure a model on the first items of each relation, or on all of a small benchmark."""
    limit = None if on.probe in WHOLE else ITEMS
    settings = plan(content, replace(on.settings_with({}), limit=limit)).settings
    order = plan_of(content, settings)
    return settings, joined({part: probe_part(model, order, part) for part in order.parts}, order)


def store(on: Benchmark, settings: Settings, result: Result, of: Model, **fields: str) -> None:
    """Store a finished run as a worker does."""
    now = datetime.now(UTC)
    run = Run.objects.create(
        model=of,
        benchmark=on,
        state=Run.State.AGGREGATING,
        settings=settings.to_json(),
        settings_digest=settings.digest,
        started=now,
        **fields,
    )
    finish(run, result, artefacts.store_result(run, result))


def add_submissions(on: Benchmark) -> None:
    """Add a submission in each state that lasts, and one of many revisions."""
    state = Submission.State
    passed = {"name": "well-formed id", "state": "ok", "message": "The id names a model."}
    no_answer = {"name": "exists", "state": "warning", "message": "The hub did not answer.", "next_step": ""}
    no_model = {
        "name": "exists",
        "state": "failed",
        "message": "There is no model “org/missing” on the hub.",
        "next_step": "Copy its id from the page of the model.",
    }
    run = Run.objects.filter(benchmark=on, state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED).first()
    submit("accepted", on, state.ACCEPTED, [passed], run=run)
    submit("waiting", on, state.WAITING, [passed, no_answer])
    submit("refused", on, state.REFUSED, [passed, no_model])
    submit("withdrawn", on, state.WITHDRAWN, [])
    for number in range(SHOWN_APART):
        name = f"revision-{number}" if number else "revisions"
        submit(name, on, state.REFUSED, [passed, no_model], group="made-up-revisions", revision=f"step{1000 * number}")
    Submission.objects.filter(revision="step1000").update(state=state.ACCEPTED, run=run, checks=[passed])


def submit(name: str, on: Benchmark, state: str, checks: Sequence[Mapping[str, str]], **fields: Any) -> None:
    Submission.objects.create(
        token=f"made-up-{name}", model_id="org/missing", benchmark=on, state=state, checks=list(checks), **fields
    )


def add_unfinished() -> None:
    """Add a run that goes on, one that waits and one that has failed; no worker may run."""
    on, other, last = (Benchmark.objects.get(slug=slug, main=True) for slug in ("starter", "culture", "pairs"))
    model = make.model("random/not-measured")
    make.running(model, on, done=58)
    make.run(model, other)
    Run.objects.fail(
        make.run(model, last), "out-of-memory", "The model did not fit into memory.", "Choose a smaller model."
    )
