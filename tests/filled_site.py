"""Fill a site with every benchmark that ships and with finished runs of three small models of random weights.

Every probe then has pages with content, within seconds and without a network. The browser tests and the pictures of
pages (tests/pictures.py) use the same site.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from leaderboard.models import Benchmark, Model, Run
from leaderboard.stored import artefacts, benchmarks
from leaderboard.worker import jobs
from probing.benchmark import Benchmark as Content
from probing.catalog import CATALOG, EMBEDDED
from probing.language_model import LanguageModel
from probing.probes.normalise import normalised
from probing.probes.parts import parts
from probing.results.joining import joined
from probing.runner import probe_part
from probing.scoring.load import load
from probing.template import prompt
from tests.leaderboard import factories as make
from tests.tiny_models import build_bert, build_gpt2, build_llama, byte_level_bpe, word_piece

ITEMS = 4  # of each relation, where a benchmark is large
WHOLE = ("perplexity", "specificity")  # probes of small benchmarks, all of whose items are asked
VOCABULARY = 6000  # tokens, so that most words are one
LONGEST_WORD = 24  # letters


def fill() -> None:
    """Install the benchmarks that ship, and measure the three models on each."""
    shipped = [entry for entry in CATALOG.values() if not entry.archive]
    installed = [benchmarks.install(entry.format, EMBEDDED / entry.slug, entry.slug)[0] for entry in shipped]
    contents = [benchmarks.read(on) for on in installed]
    models = random_models([sentence for content in contents for sentence in sentences(content)])
    for on, content in zip(installed, contents, strict=True):
        for model in models:
            store(on, content, model)


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


def store(on: Benchmark, content: Content, model: LanguageModel) -> None:
    """Store a finished run as a worker does."""
    limit = None if on.probe in WHOLE else ITEMS
    settings = normalised(replace(on.settings_with({}), limit=limit), content)
    now = datetime.now(UTC)
    finished = [probe_part(model, content, settings, part) for part in parts(content, settings)]
    result = joined(finished, content, settings)
    card = model.card
    of, _ = Model.objects.get_or_create(
        hub_id=card.id,
        commit=card.commit,
        defaults={"kind": card.kind, "parameters": card.parameters, "architecture": card.architecture},
    )
    run = Run.objects.create(
        model=of,
        benchmark=on,
        state=Run.State.AGGREGATING,
        settings=settings.to_json(),
        settings_digest=settings.digest,
        started=now,
    )
    jobs.finish(run, result, artefacts.store_result(run, result))


def add_unfinished() -> None:
    """Add a run that goes on, one that waits and one that has failed; no worker may run."""
    on, other, last = (Benchmark.objects.get(slug=slug) for slug in ("starter", "culture", "pairs"))
    model = make.model("random/not-measured")
    make.running(model, on, done=58)
    make.run(model, other)
    Run.objects.fail(
        make.run(model, last), "out-of-memory", "The model did not fit into memory.", "Choose a smaller model."
    )
