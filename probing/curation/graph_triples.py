"""Knowledge graphs in words, for the probe perplexity (methods 3.1): triples from Wikidata, and samples of statements.

A sample is drawn from a graph, put into phrasings, corrected, and stored as a benchmark of its own.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import probing
from probing.catalog import named_folder
from probing.curation import wordings
from probing.curation.facts import (
    ENGLISH,
    TripleCounts,
    facts_query,
    label_of,
    option,
    subjects_of,
    write_json,
    write_manifest,
)
from probing.curation.wikidata import EXAMPLE_ITEM, Endpoint, Query, best_value, chunks, item_number
from probing.errors import BadInput
from probing.files.folders import new_folder, refuse_occupied
from probing.formats.knowledge_graph import (
    ENTITIES,
    RELATION_MAPPING,
    SamplingPlan,
    graph_folder,
    read_graph,
    read_sampling,
    store,
)
from probing.statements.graph_statements import (
    HEAD_SLOT,
    TAIL_SLOT,
    Graph,
    GraphStatement,
    Sampling,
    Triple,
    Wording,
    draw,
)
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

TRIPLES = "triples.tsv"
NAME_MISSING = "a name is missing"
BEYOND_BEST_KNOWN = "beyond the best known subjects"


@dataclass(frozen=True)
class GraphPlan:
    """Settings for the curation of a knowledge graph. `templates`: at most one sentence by property."""

    properties: tuple[str, ...] = field(metadata=option("such as P36", flag="--property", metavar="ID"))
    at_most: int = field(default=5000, metadata=option("the most triples of a property"))
    least_sitelinks: int = field(default=30, metadata=option("the fewest sitelinks of a subject"))
    templates: Mapping[str, Sequence[str]] = field(
        default_factory=dict,
        metadata=option("such as 'P36=[Y] governs [X].'; may be repeated", flag="--template", metavar="ID=TEXT"),
    )

    def __post_init__(self) -> None:
        wordings.check_properties((*self.properties, *self.templates))
        wordings.check_curated(self.templates, self.properties)
        object.__setattr__(self, "properties", tuple(dict.fromkeys(self.properties)))
        if repeated := [id for id, texts in self.templates.items() if len(texts) > 1]:
            raise BadInput(
                f"A graph has one template for each property, but {', '.join(repeated)} has more.", "Give one."
            )
        if self.at_most < 1:
            raise BadInput(f"at_most cannot be {self.at_most}.", "Give 1 or more.")


def curate(endpoint: Endpoint, plan: GraphPlan, folder: Path) -> None:
    """Write the graph into a new folder, which appears only when it is complete."""
    with new_folder(folder) as new:
        texts = wordings.property_templates(endpoint, plan.properties, ENGLISH, plan.templates)
        triples: list[Triple] = []
        names: dict[str, str] = {}
        counts_by_property = {}
        for property in plan.properties:
            triple_counts = TripleCounts()
            triples += _named_triples(endpoint, property, plan, names, triple_counts)
            counts_by_property[property] = triple_counts.to_json()
        if not triples:
            raise BadInput("There are no such triples.", "Lower the number of sitelinks, or check the properties.")
        write_json(new / RELATION_MAPPING, {id: _graph_sentence(templates[0]) for id, templates in texts.items()})
        _write_table(new / TRIPLES, triples)
        _write_table(new / ENTITIES[0], _entities(endpoint, triples, names))
        write_manifest(new, "graph", endpoint, asdict(plan), counts_by_property)


def queries(plan: GraphPlan) -> Iterator[Query]:
    """Yield the queries for facts, which are not those for labels; queries about certain items have an example item."""
    yield from (facts_query(property, plan.least_sitelinks, current_only=True) for property in plan.properties)
    yield categories_query((EXAMPLE_ITEM,))


def categories_query(items: tuple[str, ...]) -> Query:
    return Query("What kinds of things these are", ("item", "kind"), (best_value("item", "P31", "kind"),), items)


def _named_triples(
    endpoint: Endpoint, property: str, plan: GraphPlan, names: dict[str, str], triple_counts: TripleCounts
) -> Iterator[Triple]:
    """Yield the triples whose items have names, the best-known subjects first, and add those names to `names`."""
    subjects = subjects_of(endpoint, property, plan.least_sitelinks, triple_counts, current_only=True)
    triples = [Triple(subject.id, property, item) for subject in subjects for item in subject.objects]
    triple_counts.drop(BEYOND_BEST_KNOWN, len(triples[plan.at_most :]))
    triples = triples[: plan.at_most]
    labels = endpoint.labels({item for triple in triples for item in (triple.head, triple.tail)}, [ENGLISH])
    for triple in triples:
        head, tail = (_on_one_line(label_of(labels, item)) for item in (triple.head, triple.tail))
        if head and tail:
            names |= {triple.head: head, triple.tail: tail}
            triple_counts.kept += 1
            yield triple
        else:
            triple_counts.drop(NAME_MISSING)


def _entities(endpoint: Endpoint, triples: Iterable[Triple], names: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Yield the id and the name of each item and the names of its classes."""
    items = sorted({item for triple in triples for item in (triple.head, triple.tail)}, key=item_number)
    classes: dict[str, list[str]] = defaultdict(list)
    for row in endpoint.all_rows([categories_query(chunk) for chunk in chunks(items)]):
        if row["kind"].startswith("Q"):
            classes[row["item"]].append(row["kind"])
    labels = endpoint.labels({id for item_classes in classes.values() for id in item_classes}, [ENGLISH])
    for item in items:
        class_names = (_on_one_line(label_of(labels, id)) for id in classes[item])
        yield [item, names[item], *dict.fromkeys(filter(None, class_names))]


def _graph_sentence(template: str) -> str:
    """Return a template with the slots of a graph and, as in all statements of a graph, without a final period."""
    return template.removesuffix(".").replace(SUBJECT_SLOT, HEAD_SLOT).replace(ANSWER_SLOT, TAIL_SLOT)


def _on_one_line(name: str) -> str:
    """Replace tabs and line breaks, which would end the name's column."""
    return " ".join(name.split())


def _write_table(path: Path, rows: Iterable[Sequence[str]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


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
    source, choices = named_folder(graph), (samples, repetitions, resampled, within_category, seed, ladder)
    plan = _chosen_plan(read_sampling(graph_folder(source)), choices, _remarks(phrasings, wording))
    content = read_graph(source, Path(phrasings) if phrasings else None)
    _store(Path(out), content, *_drawn(content, plan, wording, correct))
    return Path(out)


def _chosen_plan(plan: SamplingPlan, choices: Sequence[Any], remarks: Sequence[str]) -> SamplingPlan:
    """Return the plan with the choices that are not None; they stand in the order of the fields of `Sampling`."""
    chosen = {option.name: value for option, value in zip(fields(Sampling), choices, strict=True) if value is not None}
    return SamplingPlan(replace(plan.sampling, **chosen), (*plan.remarks, *remarks))


def _drawn(
    graph: Graph, plan: SamplingPlan, wording: OwnWording | None, correct: str
) -> tuple[tuple[GraphStatement, ...], SamplingPlan]:
    """Return the statements in words, and the plan with a remark on the model that corrected them, if one did."""
    statements = draw(replace(graph, wording=_checked(wording)) if wording else graph, plan.sampling)
    if not correct:
        return statements, plan
    statements, remark = _corrected(statements, correct)
    return statements, replace(plan, remarks=(*plan.remarks, remark))


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
