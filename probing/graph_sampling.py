"""Samples of knowledge graphs in words: drawn, put into phrasings, corrected, and stored as benchmarks of their own."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import probing
from probing.catalog import named_folder
from probing.errors import BadInput
from probing.files.folders import refuse_occupied
from probing.formats.graph_sample import SamplingPlan, read_sampling, store
from probing.formats.knowledge_graph import graph_folder, read_graph
from probing.statements.graph_statements import Graph, GraphStatement, Sampling, Wording, draw

OwnWording = Callable[[str, str, str], str | Sequence[str]]


def sample_graph(
    graph: str | Path,
    out: str | Path,
    *,
    samples: int | None = None,
    repetitions: int | None = None,
    resampled: int | None = None,
    within_category: bool | None = None,
    seed: int | None = None,
    ladder: bool | None = None,
    phrasings: str | Path | None = None,
    wording: OwnWording | None = None,
    correct: str = "",
) -> Path:
    """Draw true and false statements from a knowledge graph, and write them as a benchmark folder.

    What is not chosen is that of the graph's own plan (`sampling.json`), or else the default.

    Args:
        graph: the name of a known graph, such as "wn18rr", or the folder of one.
        out: the folder to write, which must not exist yet.
        samples: true statements of each repetition, and as many false ones.
        repetitions: how often the sample is drawn.
        resampled: how many of a triple's three parts are drawn again to make it false; 1 is hardest.
        within_category: replace a part only by one of the same category.
        seed: the seed of the draws.
        ladder: draw false statements at six levels of difficulty, in place of `resampled` and `within_category`.
        phrasings: a JSON file that maps each relation to a sentence with `{HEAD}` and `{TAIL}`, or to a list of them.
        wording: a function that puts a triple into words, from the name of the head, the id of the relation and the
            name of the tail; it returns a sentence, or a list of several phrasings, as many for every triple.
        correct: a text-to-text model that corrects the grammar.

    Returns:
        The folder, which `probing.run` takes as a benchmark.

    Raises:
        BadInput: a choice is out of range, or the folder exists already.
        BadBenchmark: the graph or the phrasings have a fault.

    Examples:
        >>> import probing
        >>> def passive(head, relation, tail):
        ...     return [f"{tail} is the {relation} of {head}", f"The {relation} of {head} is {tail}"]
        >>> folder = probing.sample_graph("mygraph", "in-words", samples=20, repetitions=2, wording=passive)
        >>> len(probing.open_benchmark(str(folder)).relations[0].templates)
        2
    """
    refuse_occupied(Path(out))
    if phrasings and wording:
        raise BadInput("A file of phrasings and a function cannot both put triples into words.", "Give one of them.")
    source = named_folder(graph)
    plan = read_sampling(graph_folder(source))
    choices: dict[str, Any] = {
        "samples": samples,
        "repetitions": repetitions,
        "resampled": resampled,
        "within_category": within_category,
        "seed": seed,
        "ladder": ladder,
    }
    sampling = replace(plan.sampling, **{name: value for name, value in choices.items() if value is not None})
    content = read_graph(source, Path(phrasings) if phrasings else None)
    remarks = [*plan.remarks, *_remarks(phrasings, wording)]
    statements = draw(replace(content, wording=_checked(wording)) if wording else content, sampling)
    if correct:
        statements, remark = _corrected(statements, correct)
        remarks.append(remark)
    _store(Path(out), content, statements, SamplingPlan(sampling, tuple(remarks)))
    return Path(out)


def sampling_names() -> list[str]:
    """Return the names of the settings for drawing samples, which are the fields of `Sampling`."""
    return [option.name for option in fields(Sampling)]


def _remarks(phrasings: str | Path | None, wording: OwnWording | None) -> list[str]:
    if phrasings:
        return [f"Phrasings of the file {Path(phrasings).name}."]
    return [f"Put into words by the function {getattr(wording, '__name__', 'of a caller')}."] if wording else []


def _checked(wording: OwnWording) -> Wording:
    """Return the function with its result as several phrasings, each of which must be a text that is not empty."""

    def sentences(head: str, relation: str, tail: str) -> tuple[str, ...]:
        result = wording(head, relation, tail)
        texts = (result,) if isinstance(result, str) else tuple(result)
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise BadInput(
                f"The function gave {result!r:.80} for {head}, {relation}, {tail}.",
                "Let it return a sentence, or a list of sentences.",
            )
        return texts

    return sentences


def _corrected(statements: Sequence[GraphStatement], model: str) -> tuple[tuple[GraphStatement, ...], str]:
    """Return the statements with all their phrasings corrected, and a remark that names the model."""
    corrector = probing.Corrector.load(model)
    corrected = iter(corrector.correct([text for statement in statements for text in statement.texts]))
    texts = [tuple(next(corrected) for _ in statement.texts) for statement in statements]
    pairs = zip(statements, texts, strict=True)
    return tuple(replace(statement, texts=own) for statement, own in pairs), corrector.remark


def _store(folder: Path, graph: Graph, statements: Sequence[GraphStatement], plan: SamplingPlan) -> None:
    """Write the folder; with several phrasings, its plan asks all of them."""
    numbers = {len(statement.texts) for statement in statements}
    if len(numbers) > 1:
        raise BadInput(
            f"Triples have {' or '.join(map(str, sorted(numbers)))} phrasings.",
            "Let the function return equally many for every triple.",
        )
    phrasings = max(numbers, default=1)
    settings: dict[str, Any] = {"templates": list(range(phrasings))} if phrasings > 1 else {}
    store(folder, graph, statements, plan, settings)
