"""Errors as people and programs read them: message and next step, codes, whether waiting helps, and no secrets."""

import copy
import pickle

import pytest

from probing.errors import (
    BadInput,
    NonFiniteScores,
    NoSpace,
    ProbingError,
    SlowDownload,
    SourceUnavailable,
    suggestion,
    without_assigned_secrets,
    without_secrets,
)


def subclasses(error: type[ProbingError]) -> list[type[ProbingError]]:
    """Return the library's errors of this class and below."""
    below = [kind for direct in error.__subclasses__() for kind in subclasses(direct)]
    return [error, *below] if error.__module__ == "probing.errors" else below


ERRORS = subclasses(ProbingError)


def test_an_error_reads_as_its_message_and_its_next_step() -> None:
    assert str(BadInput("No such relation.", "Choose another.")) == "No such relation. Choose another."
    assert str(BadInput("No such relation.")) == "No such relation."


def test_each_error_has_a_code_and_only_a_full_disk_and_a_silent_source_may_pass() -> None:
    codes = [error.code for error in ERRORS]
    assert len(set(codes)) == len(codes) > 5
    assert [error for error in ERRORS if not error.permanent] == [NoSpace, SourceUnavailable, SlowDownload]


def test_an_error_keeps_its_parts_on_the_way_between_processes(subtests: pytest.Subtests) -> None:
    for error in ERRORS:
        with subtests.test(error.__name__):
            original = error("It failed.", "Do this.")
            for received in (pickle.loads(pickle.dumps(original)), copy.copy(original)):
                assert type(received) is error
                assert (received.message, received.next_step) == ("It failed.", "Do this.")


def test_scores_that_are_not_finite_are_told_with_their_model_and_place() -> None:
    error = NonFiniteScores.of("gpt2", "for item 3 of P36", "perplexity")
    assert error.message == "gpt2 gave a perplexity that is not a number for item 3 of P36."
    assert "--dtype float32" in error.next_step


@pytest.mark.parametrize(
    "secret",
    [
        *("hf_0123456789abcdef", "sk-0123456789", "ghp_0123456789", "user:word@host", "Zk3-" * 10 + "abc"),
        *(f"{prefix}_{'Zk3-' * 10}abc" for prefix in ("cbw", "cbp", "cbs")),
    ],
)
def test_what_looks_like_a_secret_is_hidden(secret: str) -> None:
    text = without_secrets(f"get https://{secret} now")
    assert secret not in text and text.startswith("get https://***") and text.endswith(" now")


@pytest.mark.parametrize("text", ["0a" * 32, "0a" * 20, "org/name-135M", "http://host:8000/runs/12/"])
def test_digests_names_and_addresses_are_kept(text: str) -> None:
    assert without_secrets(text) == text


def test_an_announced_value_is_hidden_in_the_output_of_other_programs() -> None:
    assert without_assigned_secrets("export API_TOKEN = abc; go on") == "export API_*** go on"
    assert without_secrets("the token: abc") == "the token: abc"


@pytest.mark.parametrize(
    ("names", "step"),
    [
        (["sum", "mean"], "Choose from: sum, mean. Did you mean 'mean'?"),
        (["sum", "mean", "max", "min", "first", "last"], "Did you mean 'mean'?"),
        (["sum", "first"], "Choose from: sum, first."),
    ],
)
def test_a_wrong_name_gets_the_nearest_one_and_all_where_they_are_few(names: list[str], step: str) -> None:
    assert suggestion("maen", names) == step


def test_an_id_of_wikidata_is_no_misspelling_of_another() -> None:
    assert suggestion("P36", ["P37"]) == "Choose from: P37."
