"""What can go wrong, in words for people: a code, one sentence, the next step, and whether waiting helps."""


class ProbingError(Exception):
    """The one currency of failure between the library, the command line and the site.

    `code` is stable and documented (docs/errors.md); `permanent` is False where trying again later may succeed.
    """

    code = "probing"
    permanent = True

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.message} {self.next_step}".strip()


class BadInput(ProbingError):
    """The user asked for something that cannot be: an unknown relation, option, device (exit code 2)."""

    code = "bad-input"


class BadBenchmark(BadInput):
    """A benchmark folder that cannot be read; the message names the file and the line."""

    code = "bad-benchmark"


class ModelNotFound(BadInput):
    """No such model: not on the hub, not a folder, not a GGUF file."""

    code = "model-not-found"


class UnsupportedModel(BadInput):
    """The model exists but cannot be probed: its architecture, its files, or a verb that its kind lacks."""

    code = "unsupported-model"


class UnsafeModel(UnsupportedModel):
    """The model would need code or pickled weights of its own; neither is ever run."""

    code = "unsafe-model"


class NonFiniteScores(ProbingError):
    """The model returned NaN or infinity; such an item is never counted as wrong, the run fails."""

    code = "non-finite-scores"


class Incomplete(ProbingError):
    """Fewer rows than items: the result is not a result."""

    code = "incomplete"


class OutOfMemory(ProbingError):
    """Even the smallest batch did not fit on the device."""

    code = "out-of-memory"


class NoSpace(ProbingError):
    """The disk is full; what was complete before is kept."""

    code = "no-space"
    permanent = False


class SourceUnavailable(ProbingError):
    """The hub or a benchmark's official source did not answer."""

    code = "source-unavailable"
    permanent = False


class DigestMismatch(ProbingError):
    """A download is not the file that was expected."""

    code = "digest-mismatch"
