"""Checks of a model's weights: their size, their headers, their number format, and whether they fit into memory."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from leaderboard.intake import hub, number_format
from leaderboard.intake.checks.examination import Examination, config_of, listing_of, weights_found
from probing.errors import MissingPackage, TooLarge, UnsupportedModel
from probing.files.adapters import WEIGHTS
from probing.files.description import read_tensors, usable_config, weights_of
from probing.files.headers import WeightSummary, summarise
from probing.files.listing import Listing
from probing.files.quantisation import USE_ORIGINAL, Quantisation, read_quantisation, require_library
from probing.settings import AUTO_DTYPE


def small_enough(listing: Listing, more: int = 0) -> str:
    """Compare the size of the weights with the limit; `more`: bytes that an adapter adds."""
    size, limit = hub.weight_bytes(listing) + more, settings.MODEL_SIZE_LIMIT
    if size > limit:
        raise TooLarge(
            f"The weights take {size / 1e9:.1f} GB; this site measures models up to {limit / 1e9:.0f} GB.",
            "Submit a smaller model, or run it yourself: python -m probing run.",
        )
    return f"{size / 1e9:.2f} GB of weights, below {limit / 1e9:.0f} GB."


def size_accepted(examination: Examination) -> str:
    return small_enough(listing_of(examination), adapter_bytes(examination))


def adapter_bytes(examination: Examination) -> int:
    """Return the size of the adapter's weights, 0 without one."""
    return examination.adapter.files.get(WEIGHTS, 0) if examination.adapter else 0


def weights_intact(examination: Examination) -> str:
    """Read the headers of the weights."""
    listing = listing_of(examination)
    if listing.gguf:
        parameters = config_of(examination)["parameters"]
        examination.weights = WeightSummary(parameters, listing.files[listing.gguf.name], "float32")
        return f"{parameters:,} parameters in one GGUF file."
    examination.quantisation = quantisation = _measurable(listing.hub_id, config_of(examination))
    examination.tensors = read_tensors(listing, weights_of(listing))
    examination.weights = weights = summarise(listing.hub_id, examination.tensors, quantisation)
    quantised = f", quantised ({quantisation.title})" if quantisation else ""
    return f"{weights.parameters:,} parameters, stored in {weights.dtype}{quantised}."


def _measurable(where: str, config: Mapping[str, Any]) -> Quantisation | None:
    """Return how the weights are quantised; raise `UnsupportedModel` if this site cannot measure such weights."""
    quantisation = read_quantisation(where, config)
    if quantisation is None:
        return None
    try:
        require_library(quantisation)
    except MissingPackage as error:
        raise UnsupportedModel(
            f"This site measures no weights that are quantised ({quantisation.title}), as the library for them is not "
            "installed.",
            USE_ORIGINAL,
        ) from error
    if quantisation.needs_gpu and settings.DEVICE == "cpu":
        raise UnsupportedModel(
            f"Weights that are quantised ({quantisation.title}) need a GPU, and this site has none.", USE_ORIGINAL
        )
    return quantisation


def config_fits(examination: Examination) -> str:
    """Compare the config with the weights, before anything is built or downloaded."""
    config, where = config_of(examination), listing_of(examination).hub_id
    if examination.tensors is None:
        return "The config is part of the GGUF file."
    _, notes = usable_config(where, config, examination.tensors)
    return " ".join(["The config describes a model of this size.", *notes])


def number_format_chosen(examination: Examination) -> str:
    """Choose the number format by the model's size, unless the submitter has chosen one."""
    weights = weights_found(examination)
    if examination.settings.dtype == AUTO_DTYPE:
        examination.plan = examination.plan.with_dtype(number_format.by_device(examination.settings, weights).dtype)
        return f"{examination.settings.dtype}, which auto stands for here."
    if examination.dtype_chosen:
        return f"{examination.settings.dtype}, as chosen."
    examination.plan = examination.plan.with_dtype(number_format.resolved(examination.settings, weights).dtype)
    if listing_of(examination).gguf:
        return f"{examination.settings.dtype}, as for every GGUF file."
    return number_format.reason(examination.settings, weights)


def fits_into_memory(examination: Examination) -> str:
    return number_format.fits(examination.settings, weights_found(examination))
