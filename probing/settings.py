"""How a benchmark is asked: everything that can change a number, and nothing that cannot."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.language_model import PLL, Reduction, Scoring


@dataclass(frozen=True)
class Settings:
    """Two runs with equal settings on the same model and benchmark version give the same rows.

    Device and batch size are left out: they change the time, not the result (beyond rounding). `decide` keeps
    predictions and replaces the scores of options that cannot win by upper bounds. An empty `relations` or
    `templates` means all of them. `options` are the probe's own (`--set name=value`).
    """

    probe: str = "multiple_choice"
    relations: tuple[str, ...] = ()
    templates: tuple[int, ...] = (0,)
    limit: int | None = None
    language: str = ""
    pll: PLL = "within_word_l2r"
    reduction: Reduction = "sum"
    decide: bool = False
    dtype: str = "float32"
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scoring(self) -> Scoring:
        return Scoring(pll=self.pll, reduction=self.reduction, decide=int(self.decide))

    @property
    def tags(self) -> dict[str, str]:
        """Which relations are asked, by tag, where a benchmark has them in several versions (methods 4)."""
        return {
            "language": self.language,
            "culture_pair": str(self.options.get("pair", "")),
            "objects": str(self.options.get("objects", "augmented")),
        }

    @property
    def digest(self) -> str:
        """SHA-256 of the settings as canonical JSON: part of a run's duplicate key."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Settings":
        """Read what `to_json` wrote; unknown names are refused, missing ones take their default."""
        unknown = set(values) - set(cls.__dataclass_fields__)
        if unknown:
            raise BadInput(f"Unknown setting {', '.join(sorted(unknown))}.")
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**{**values, **lists})


class Part(NamedTuple):
    """One relation with one template: the unit of storage, resumption and sharing between workers."""

    relation: str
    template: int
    items: int


def narrowed(benchmark: Benchmark, settings: Settings) -> Benchmark:
    """What of a benchmark a run is about."""
    return benchmark.select(settings.relations, settings.limit, settings.tags)


class Skipped(NamedTuple):
    """A relation that is chosen and cannot be asked, and why."""

    relation: str
    items: int
    why: str


def skipped(benchmark: Benchmark, settings: Settings) -> list[Skipped]:
    """Answers by generation need a question, which not every relation has in every language (methods 4.6)."""
    chosen = narrowed(benchmark, settings).relations if settings.probe == "answering" else ()
    return [
        Skipped(relation.id, len(relation.items), f"no question in {relation.tags.get('language', 'any language')}")
        for relation in chosen
        if not relation.questions
    ]


def parts(benchmark: Benchmark, settings: Settings) -> list[Part]:
    """Every part that a complete run covers, in benchmark order."""
    unasked = {each.relation: each.why for each in skipped(benchmark, settings)}
    chosen = narrowed(benchmark, settings).relations
    asked = [relation for relation in chosen if relation.id not in unasked]
    if chosen and not asked:
        reasons = "; ".join(dict.fromkeys(unasked.values()))
        raise BadInput(f"None of these relations can be asked: {reasons}.", "Choose others, or another language.")
    found = []
    for relation in asked:
        for template in settings.templates or range(len(relation.templates)):
            if not 0 <= template < len(relation.templates):
                raise BadInput(
                    f"Relation {relation.id} has no template {template}.",
                    f"Choose from 0 to {len(relation.templates) - 1}.",
                )
            found.append(Part(relation.id, template, len(relation.items)))
    return found
