"""Names of models as people write them."""

import pytest

from leaderboard.intake.hub import ModelName, full_ids, parse_name, refuse_revision, suggestions
from leaderboard.models import Model
from probing.errors import BadInput
from tests.leaderboard import factories as make


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (" org/name ", ModelName("org/name")),
        ("gpt2", ModelName("gpt2")),
        ("https://huggingface.co/org/name", ModelName("org/name")),
        ("http://hf.co/org/name/", ModelName("org/name")),
        ("huggingface.co/org/name?library=transformers", ModelName("org/name")),
        ("https://huggingface.co/gpt2", ModelName("gpt2")),
        ("https://huggingface.co/gpt2/tree/v1", ModelName("gpt2", "v1")),
        ("https://huggingface.co/org/name/tree/main", ModelName("org/name")),
        ("https://huggingface.co/org/name/tree/v1.0", ModelName("org/name", "v1.0")),
        ("https://huggingface.co/org/name/blob/refs%2Fpr%2F1/README.md", ModelName("org/name", "refs/pr/1")),
        ("https://huggingface.co/org/name/discussions/3", ModelName("org/name")),
        ("https://example.org/org/name", ModelName("https://example.org/org/name")),
        ("[]", ModelName("[]")),
    ],
)
def test_ids_and_addresses_name_a_model_and_perhaps_a_revision(text: str, name: ModelName) -> None:
    assert parse_name(text) == name


def test_the_address_of_a_data_set_is_refused() -> None:
    with pytest.raises(BadInput, match="This is the address of one of the datasets"):
        parse_name("https://huggingface.co/datasets/org/name")


@pytest.mark.parametrize("revision", ["a b", "../x", "-x", "x" * 101])
def test_what_is_no_revision_is_refused(revision: str) -> None:
    with pytest.raises(BadInput, match="is not a revision"):
        refuse_revision(revision)


def test_a_short_name_stands_for_the_models_of_that_name(db: None) -> None:
    make.model("openai-community/gpt2"), make.model("org/gpt2-large")
    make.model("openai-community/gpt2", commit="", source=Model.Source.PUBLISHED)
    assert full_ids("GPT2") == ["openai-community/gpt2"]
    assert full_ids("org/gpt2") == full_ids("") == []
    assert suggestions() == ["openai-community/gpt2", "org/gpt2-large"]
