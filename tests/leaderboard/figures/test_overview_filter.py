"""The facets of the overview."""

from django.http import QueryDict

from leaderboard.figures.overview import Figure, ListedModel, ModelKey, ModelRow
from leaderboard.figures.overview_filter import OverviewFilter, read_overview_filter


def row(
    hub_id: str, *provenances: str, kind: str = "causal", parameters: int | None = 10**8, weights: str = ""
) -> ModelRow:
    model = ListedModel(ModelKey(hub_id), kind, parameters, "", "float32")
    figures = {
        f"benchmark-{place}": Figure(place, 1, provenance, "{}", None, model, "accuracy", 0.5, None, None, 10)
        for place, provenance in enumerate(provenances)
    }
    return ModelRow(ModelKey(hub_id, weights), kind, parameters, figures)


def test_unknown_choices_are_left_out() -> None:
    filters = read_overview_filter(QueryDict("kind=nonsense&size=1b&several=maybe&search=+gpt+"))
    assert filters == OverviewFilter("gpt", {"size": "1b"}, several=False)


def test_everything_passes_without_a_filter() -> None:
    assert OverviewFilter().holds(row("org/a"))
    assert OverviewFilter().active == {}


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


def test_a_model_has_a_source_if_any_of_its_figures_has() -> None:
    published = OverviewFilter(chosen={"provenance": "published"})
    assert published.holds(row("org/a", "measured", "published"))
    assert published.holds(row("org/a", "third-party"))
    assert not published.holds(row("org/a", "measured"))


def test_several_benchmarks_are_at_least_two() -> None:
    assert not OverviewFilter(several=True).holds(row("org/a", "measured"))
    assert OverviewFilter(several=True).holds(row("org/a", "measured", "measured"))


def test_what_is_left_without_each_filter_is_counted() -> None:
    rows = [row("org/gpt2", "measured"), row("org/bert", "measured", kind="masked")]
    filters = OverviewFilter("gpt", {"kind": "masked"}, several=True)
    assert filters.left_without(rows) == [
        ("search", "“gpt”", 0),
        ("kind", "masked (both sides)", 0),
        ("several", "at least 2 benchmarks", 0),
    ]
    assert OverviewFilter("gpt", {"kind": "masked"}).left_without(rows) == [
        ("search", "“gpt”", 1),
        ("kind", "masked (both sides)", 1),
    ]
