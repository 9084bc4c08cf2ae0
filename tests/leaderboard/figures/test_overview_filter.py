"""The facets of the overview."""

from leaderboard.figures.overview import Figure, ListedModel, ModelKey, ModelRow
from leaderboard.figures.overview_filter import OverviewFilter


def row(
    hub_id: str, *provenances: str, kind: str = "causal", parameters: int | None = 10**8, weights: str = ""
) -> ModelRow:
    model = ListedModel(ModelKey(hub_id), kind, parameters, "", "float32")
    figures = {
        f"benchmark-{place}": Figure(place, 1, provenance, "{}", None, model, "accuracy", 0.5, None, None, 10)
        for place, provenance in enumerate(provenances)
    }
    return ModelRow(ModelKey(hub_id, weights), kind, parameters, figures)


def test_a_range_of_sizes_begins_with_its_lower_end() -> None:
    size = OverviewFilter(chosen={"size": "1b"})
    assert size.holds(row("org/a", parameters=10**8))
    assert not size.holds(row("org/a", parameters=10**9))
    assert not size.holds(row("org/a", parameters=None))


def test_quantised_weights_with_an_adapter_are_of_two_kinds() -> None:
    rows = {
        "full": row("org/a"),
        "file": row("org/a", weights="F16, GGUF, local file"),
        "4 bits": row("org/a", weights="Q4_1, 4 bits, GGUF"),
        "adapter": row("org/a+org/lora", weights="with a LoRA adapter"),
        "both": row("org/a+org/lora", weights="with a LoRA adapter, bitsandbytes, 4 bits"),
    }

    def passing(choice: str) -> list[str]:
        return [name for name, of in rows.items() if OverviewFilter(chosen={"weights": choice}).holds(of)]

    assert passing("full") == ["full", "file"]
    assert passing("quantised") == ["4 bits", "both"]
    assert passing("adapter") == ["adapter", "both"]
