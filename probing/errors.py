"""Errors that people get to read: each has a code, one sentence, a next step, and tells whether waiting helps.

Secrets are removed from text that is logged or shown, and panics of the tokenizers library, which is written in Rust,
become errors like others.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

HIDDEN = "***"
SECRETS = re.compile(
    r"\b(?:hf_|sk-|ghp_)\w{8,}"  # tokens of the hub and of other well-known services
    r"|\bcb[wps]_[\w-]{8,}"  # tokens of programs at a site of this project
    r"|(?<=Bearer )[^\s'\"]+"
    r"|(?<=://)[^\s/@]*:[^\s/@]+(?=@)"  # user and password in an address
    r"|(?<![\w-])[\w-]{43}(?![\w-])"  # secrets.token_urlsafe(): the addresses of submissions
)
# A name that announces a secret, with its value; only for the output of other programs, as it hides much else.
ASSIGNMENTS = re.compile(r"(?i:(?:token|secret|password|authorization)\S{0,40}\s{0,9}[=:]\s*)\S+")
NEARNESS = 0.6  # from 0 to 1: how alike a wrong name and a right one must be for the latter to be suggested
FEW = 4  # names that are all listed beside the nearest one
WIKIDATA_ID = re.compile(r"[PQ]\d+")  # two of them may look alike and have nothing in common
AGAIN = "Load it with AutoTokenizer and save it with save_pretrained."


def nearest(name: str, names: Iterable[str], nearness: float = NEARNESS) -> str:
    """Return the one of the names of which this is probably a misspelling, or an empty text."""
    return next(iter(get_close_matches(name, list(names), 1, nearness)), "")


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return the next step of whoever gave a name that is none of these: the nearest one, all where they are few."""
    names = list(names)
    near = "" if WIKIDATA_ID.fullmatch(name) else nearest(name, names)
    question, choice = f"Did you mean {near!r}?", f"Choose from: {', '.join(names)}."
    if not near:
        return choice
    return f"{choice} {question}" if len(names) <= FEW else question


def first_named(names: Sequence[str], most: int) -> str:
    """Return the first of these names, separated by commas, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


class ProbingError(Exception):
    """Base class of all failures that the library reports to the command line and the site.

    `code` is stable and documented (docs/errors.md); `permanent` is False where trying again later may succeed.
    `log`: the last lines of the process that failed, if it was another one, without paths and secrets.
    `retry_after`: seconds after which another attempt may succeed, 0 if unknown.
    """

    code = "probing"
    permanent = True
    log = ""
    retry_after = 0

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.message} {self.next_step}".strip()


class BadInput(ProbingError):
    """The request cannot be fulfilled: an unknown relation, option or device (exit code 2)."""

    code = "bad-input"


class BadBenchmark(BadInput):
    """A benchmark folder that cannot be read; the message names the file and the line."""

    code = "bad-benchmark"


class MissingPackage(BadInput):
    """A task needs a package that is not installed; the next step names the extra that has it."""

    code = "missing-package"


class OtherQuestions(BadInput):
    """Stored rows answer other questions than the benchmark asks now, so that its tags cannot be joined to them."""

    code = "other-questions"


class TooLong(BadInput):
    """A text takes more tokens than the model; also a model's answer to a request that does not fit into its context.

    `limit`: how many tokens the model takes.
    """

    code = "too-long"

    def __init__(self, message: str, next_step: str = "", limit: int = 0) -> None:
        super().__init__(message, next_step)
        self.limit = limit


class ModelNotFound(BadInput):
    """The model is not on the hub, and it is neither a folder nor a GGUF file."""

    code = "model-not-found"


class UnsupportedModel(BadInput):
    """The model exists but cannot be probed, because of its architecture, its files or its kind."""

    code = "unsupported-model"


class UnsafeModel(UnsupportedModel):
    """The model would need code or pickled weights of its own; neither is ever run."""

    code = "unsafe-model"


class UnsafeLink(UnsafeModel):
    """A file of the model is a symbolic link that leads out of its folder."""

    code = "unsafe-link"


class Gated(UnsupportedModel):
    """The model's files need an agreement or an account, so that nobody else could repeat the measurement."""

    code = "gated"


class UnknownArchitecture(UnsupportedModel):
    """The installed transformers does not know this type of model."""

    code = "unknown-architecture"


class NoHead(UnsupportedModel):
    """The model has no language modelling head, be it causal, masked or that of an encoder-decoder."""

    code = "no-head"


class NoFastTokenizer(UnsupportedModel):
    """The model comes without tokenizer.json."""

    code = "no-fast-tokenizer"


class BrokenTokenizer(UnsupportedModel):
    """The tokenizer cannot be loaded, or fails on ordinary text."""

    code = "broken-tokenizer"


class BadConfig(UnsupportedModel):
    """The model's config is no usable JSON, or describes another model than the weights."""

    code = "bad-config"


class BadWeights(UnsupportedModel):
    """The files of weights are damaged or incomplete."""

    code = "bad-weights"


class QuantisedWeights(UnsupportedModel):
    """The weights are stored in a quantised format."""

    code = "quantised-weights"


class TooLarge(UnsupportedModel):
    """The model or one of its files is larger than what is accepted here, or than the device's memory."""

    code = "too-large"


class WrongSizes(UnsupportedModel):
    """The hub states no usable sizes of the model's files, or sends files of other sizes."""

    code = "wrong-sizes"


class NonFiniteScores(ProbingError):
    """The model returned NaN or infinity. Such an item is not counted as wrong; the run fails."""

    code = "non-finite-scores"

    @classmethod
    def of(cls, model_id: str, location: str, quantity: str = "score") -> "NonFiniteScores":
        """Return the error for a quantity that is not finite; `place` tells where, with a preposition."""
        return cls(
            f"{model_id} gave a {quantity} that is not a number {location}.",
            "Try --dtype float32; if it stays so, the weights are damaged.",
        )


class Incomplete(ProbingError):
    """The model answered fewer items than it was given, so that there is no result."""

    code = "incomplete"


class OutOfMemory(ProbingError):
    """Even the smallest batch did not fit on the device."""

    code = "out-of-memory"


class NoSpace(ProbingError):
    """The disk is full; what was completed before is kept."""

    code = "no-space"
    permanent = False


class SourceUnavailable(ProbingError):
    """The hub or a benchmark's official source did not answer."""

    code = "source-unavailable"
    permanent = False


class SlowDownload(SourceUnavailable):
    """The hub sends its files too slowly."""

    code = "slow-download"


class DigestMismatch(ProbingError):
    """A download is not the file that was expected."""

    code = "digest-mismatch"


def without_secrets(text: str) -> str:
    """Return the text with everything that looks like a token or a password replaced by "***"."""
    return SECRETS.sub(HIDDEN, text)


def without_assigned_secrets(text: str) -> str:
    """Return the text without secrets, and without any value that a name such as "password" announces."""
    return ASSIGNMENTS.sub(HIDDEN, without_secrets(text))


@contextmanager
def without_panics(model_id: str) -> Iterator[None]:
    """Turn a panic of the tokenizers library, which is no `Exception`, into `BrokenTokenizer`."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        reason = str(error).strip().split("\n")[0].rstrip(".: ")[:200]
        raise BrokenTokenizer(f"The tokenizer of {model_id} fails on a text: {reason}.", AGAIN) from error
