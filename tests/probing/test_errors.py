"""Errors as people and programs read them: message and next step, codes, and whether waiting helps."""

import copy
import pickle

import pytest

from probing.errors import BadInput, NonFiniteScores, NoSpace, ProbingError, SlowDownload, SourceUnavailable


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
