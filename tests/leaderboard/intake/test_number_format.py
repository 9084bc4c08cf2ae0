"""The number format that the site chooses by a model's size, and the memory in it."""

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.changed_settings import dtype_by_size
from leaderboard.intake import number_format
from leaderboard.intake.checks import Examination, number_format_chosen
from leaderboard.models import Benchmark
from probing.catalog import open_benchmark
from probing.errors import TooLarge
from probing.files.listing import Listing
from probing.files.weights import WeightSummary
from probing.plan import plan_of
from probing.settings import Settings

SMALL = WeightSummary(135_000_000, 270_000_000, "bfloat16")
LARGE = WeightSummary(7_200_000_000, 14_400_000_000, "bfloat16")
STARTER = open_benchmark("starter")


@pytest.fixture(autouse=True)
def limits(settings: DjangoSettings) -> None:
    settings.FLOAT32_PARAMETERS, settings.MODEL_MEMORY_LIMIT = 10**9, 25 * 10**9


def test_small_models_are_computed_in_float32_and_larger_ones_as_they_are_stored() -> None:
    used = {
        (135_000_000, "bfloat16"): "float32",
        (10**9, "float16"): "float32",
        (10**9 + 1, "float16"): "float16",
        (7_200_000_000, "bfloat16"): "bfloat16",
        (7_200_000_000, "float32"): "float32",
    }
    assert {model: dtype_by_size(*model) for model in used} == used


def test_the_reason_names_the_size_and_the_rule() -> None:
    assert number_format.reason(Settings(dtype="bfloat16"), LARGE) == (
        "bfloat16, as stored: 7.2 billion parameters are more than 1 billion."
    )
    assert number_format.reason(Settings(), SMALL) == "float32: 135 million parameters are no more than 1 billion."


def test_a_model_fits_with_a_quarter_more_than_its_weights() -> None:
    assert number_format.fits(Settings(dtype="bfloat16"), LARGE) == (
        "18.0 GB of memory in bfloat16 (14.4 GB of weights and a quarter more for the computation), within 25.0 GB."
    )


def test_a_model_that_fits_in_bfloat16_only_is_refused_in_float32_with_that_advice() -> None:
    with pytest.raises(TooLarge) as refusal:
        number_format.fits(Settings(), LARGE)
    assert refusal.value.message == (
        "In float32 the model takes 36.0 GB of memory (28.8 GB of weights and a quarter more for the computation); "
        "this site has 25.0 GB."
    )
    assert refusal.value.next_step == f"Choose bfloat16 (18.0 GB), or {number_format.ON_YOUR_OWN}."


def test_a_model_that_fits_in_no_format_is_refused_without_that_advice(settings: DjangoSettings) -> None:
    settings.MODEL_MEMORY_LIMIT = 10**9
    with pytest.raises(TooLarge) as refusal:
        number_format.fits(Settings(dtype="float16"), LARGE)
    assert refusal.value.next_step == "Measure it on a machine of your own, with the library of this site."


def test_the_rule_is_told_with_the_limit_of_this_site(settings: DjangoSettings) -> None:
    settings.FLOAT32_PARAMETERS = 350_000
    assert "up to 350,000 parameters float32" in number_format.rule()
    assert "GGUF" in number_format.rule()


def test_a_gguf_file_is_computed_in_float32_and_the_check_says_so() -> None:
    weights = WeightSummary(LARGE.parameters, 4_000_000_000, "float32")
    listing = Listing("org/gguf", "c0ffee", {"model.gguf": weights.bytes}, Path("folder"))
    examination = Examination(
        "org/gguf",
        Benchmark(),
        plan_of(STARTER, Settings()),
        listing=listing,
        weights=weights,
        dtype_chosen=False,
    )
    assert number_format_chosen(examination) == "float32, as for every GGUF file."
    assert examination.settings.dtype == "float32"


@pytest.mark.parametrize(
    ("device", "weights", "used"),
    [
        ("auto", LARGE, "bfloat16"),
        ("cuda:1", SMALL, "bfloat16"),
        ("cpu", LARGE, "float32"),
    ],
)
def test_auto_is_the_stored_format_unless_the_site_computes_on_a_cpu(
    device: str, weights: WeightSummary, used: str, settings: DjangoSettings
) -> None:
    settings.DEVICE = device
    chosen = Settings(dtype="auto")
    listing = Listing("org/model", "c0ffee", {"model.safetensors": weights.bytes}, Path("folder"))
    examination = Examination("org/model", Benchmark(), plan_of(STARTER, chosen), listing=listing, weights=weights)
    assert number_format_chosen(examination) == f"{used}, which auto stands for here."
    assert examination.settings.digest == Settings(dtype=used).digest
