"""Statements of a knowledge graph: a sample of its triples as a benchmark, in one's own phrasings."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import probing
from probing.catalog import named_folder
from probing.errors import BadInput
from probing.files.folders import refuse_occupied
from probing.formats.knowledge_graph import graph_folder, read_graph, read_sampling, store
from probing.statements.graph_statements import GraphStatement, Wording, draw

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
    """Draw true and false statements from a knowledge graph, and write them as a benchmark folder, which is returned.

    `samples` to `ladder` say how, as `probing.statements.graph_statements.Sampling` explains them. What is not chosen
    is that of the graph's own plan (`sampling.json`), or else the default. Raises `BadInput` for a choice out of range
    or a folder that exists already, and `BadBenchmark` for a fault of the graph or the phrasings.

    Args:
        graph: the name of a known graph, such as "wn18rr", or the folder of one.
        out: the folder to write, which must not exist yet and which `probing.run` then takes as a benchmark.
        phrasings: a JSON file that maps each relation to a sentence with `{HEAD}` and `{TAIL}`, or to a list of them.
        wording: a function of the head's name, the relation's id and the tail's name, which returns a sentence, or a
            list of phrasings, as many for every triple.
        correct: a text-to-text model that corrects the grammar.

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
    sampling, remarks = read_sampling(graph_folder(source))
    choices: dict[str, Any] = {
        **{"samples": samples, "repetitions": repetitions, "resampled": resampled, "seed": seed},
        **{"within_category": within_category, "ladder": ladder},
    }
    sampling = replace(sampling, **{name: value for name, value in choices.items() if value is not None})
    content = read_graph(source, Path(phrasings) if phrasings else None)
    statements = draw(replace(content, wording=_checked(wording)) if wording else content, sampling)
    remarks = (*remarks, *_remarks(phrasings, wording))
    if correct:
        statements, remark = _corrected(statements, correct)
        remarks = (*remarks, remark)
    store(Path(out), content, statements, sampling, remarks, _settings(statements))
    return Path(out)


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


def _settings(statements: Sequence[GraphStatement]) -> dict[str, Any]:
    """Return the settings of runs on the statements, which ask all phrasings where there are several."""
    numbers = {len(statement.texts) for statement in statements}
    if len(numbers) > 1:
        raise BadInput(
            f"Triples have {' or '.join(map(str, sorted(numbers)))} phrasings.",
            "Let the function return equally many for every triple.",
        )
    phrasings = max(numbers, default=1)
    return {"templates": list(range(phrasings))} if phrasings > 1 else {}
