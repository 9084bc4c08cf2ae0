"""Models that a server computes: servers of OpenAI's completions that return the log-probabilities of a prompt.

vLLM, SGLang and the server of llama-cpp-python are such servers. Texts are tokenized here and sent one by one, many at
a time. Before the first score, a handshake compares what the server says about a few texts in several ways, because
servers have returned log-probabilities of other tokens, or of other requests, without a word (`_Handshake`).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Self, TypeVar

import httpx2
import numpy as np
from transformers import PreTrainedTokenizerBase

from probing.arrays import Floats, Ids
from probing.errors import HIDDEN, BadInput, ProbingError, TooLong, UnsupportedModel
from probing.language_model import Continuation, ModelCard, OptionScores, Request, Scoring, Usage
from probing.model_source import SERVED
from probing.remote.connection import EXAMPLE, Connection, NotWelcome, SiteRefused
from probing.scoring.chats import in_chat, with_prompts
from probing.scoring.encoded import Encoded
from probing.scoring.hf_model import by_prompt
from probing.scoring.networks import load_tokenizer_alone
from probing.scoring.tokens import Encoder, Window, chosen_start, facts_of, unknown, windows
from probing.start_token import AUTO
from probing.template import Prompt, Statement

KEY = "OPENAI_API_KEY"
PARALLEL = 16  # requests that a server has at the same time
TEXTS_PER_WINDOW = 512
# Texts of the handshake, and the largest difference of one log-probability in it: half precision makes tenths of it,
# other tokens or other texts make several.
TEXTS = (
    "The capital of France is",
    "Water is a liquid that boils at one hundred",
    "The opposite of hot is",
    "In spring the days become longer, and in autumn they become",
    "One, two, three, four,",
)
TOLERANCE = 0.5
TOKEN_ID = "token_id:"
LOAD_IT = "Use another server or version, or load the model itself."
# One token is written, since some servers take 0 for no limit; vLLM then names tokens by their ids.
ONE_TOKEN = {"max_tokens": 1, "logprobs": 1, "return_tokens_as_token_ids": True}
# llama-cpp-python and vLLM have penalties of their own on words that were written before, under these names.
NO_PENALTY = {"repeat_penalty": 1.0, "repetition_penalty": 1.0}
Sent = str | Sequence[int]  # how the tokens of a text are sent
Question = TypeVar("Question")
Answer = TypeVar("Answer")


class UnfitServer(UnsupportedModel):
    """What the server says about prompts is not usable; the message has the evidence."""

    code = "unfit-server"


def connect(address: str, *, tokenizer: str = "") -> "ServedModel":
    """Return a model that a server computes, which can be probed any number of times.

    `address`: such as `openai:http://host:8000/v1#model`, with the name that the server has for the model behind #. The
    key is taken from the variable OPENAI_API_KEY, if it is set. `tokenizer`: the hub id, folder or GGUF file of the
    model's tokenizer; by default the hub id that the model's name is. Only the probe `answering` needs none.
    Raises `BadInput` for an address of another form, and what `load` raises for a tokenizer that was named. What the
    server returns is checked before the first score, which raises `UnfitServer`.

    Examples:
        >>> import probing
        >>> model = probing.connect("openai:http://localhost:8000/v1#org/name")  # doctest: +SKIP
        >>> probing.run(model, "starter").record["model"]["source"]  # doctest: +SKIP
        'served'
    """
    location, _, name = address.removeprefix(SERVED).partition("#")
    if not name or "@" in location or "?" in location:
        raise BadInput(
            f"{location.rpartition('@')[2]!r:.200} does not say which model is asked, or holds more than an address.",
            f"Write {EXAMPLE}, and set the key as {KEY}.",
        )
    server = CompletionServer(location, name, os.environ.get(KEY) or None)
    try:
        return ServedModel(server, load_tokenizer_alone(tokenizer or name) if tokenizer or "/" in name else None)
    except ProbingError:
        if tokenizer:
            raise
        return ServedModel(server, None)


class CompletionServer(Connection):
    """A server and one of its models."""

    def __init__(self, address: str, model: str, key: str | None) -> None:
        super().__init__(address, key)
        self.model = model
        self._own: Mapping[str, Any] = NO_PENALTY

    def read(self, ids: Ids, prompt: Sent, start: Ids) -> Floats:
        """Return the log-probability of each token of a text, NaN where the server gives none, as for the first.

        `prompt`: how its tokens are sent. `start`: the start token.
        """
        answer = self._post("completions", prompt=prompt, echo=True, **ONE_TOKEN)
        try:
            logprobs, usage = answer["choices"][0]["logprobs"], answer["usage"]
            if logprobs is None:
                raise self.unfit("returns no log-probabilities of a prompt")
            tokens, read, new = logprobs["tokens"], usage["prompt_tokens"], usage["completion_tokens"]
            values = [np.nan if value is None else float(value) for value in logprobs["token_logprobs"]]
        except (LookupError, TypeError, ValueError) as error:
            raise self._unknown_form(answer) from error
        if read != len(ids):
            raise self.unfit(f"reads {read} tokens where the tokenizer has {len(ids)}")
        values = values[: len(values) - new]
        if ids[: len(start)] == start and len(values) == len(ids) - len(start):  # llama-cpp-python leaves it out
            values = [np.nan] * len(start) + values
        if len(values) != len(ids):
            raise self.unfit(f"returns {len(values)} log-probabilities for the {len(ids)} tokens of a prompt")
        if tokens[0].startswith(TOKEN_ID) and tokens[: len(ids)] != [f"{TOKEN_ID}{token}" for token in ids]:
            raise self.unfit("reads other tokens than the tokenizer has")
        log_probs = np.array(values)
        if (impossible := log_probs[(log_probs > TOLERANCE) | np.isinf(log_probs)]).size:
            raise self.unfit(f"returns {impossible[0]:.4g} as a log-probability")
        return log_probs

    def next(self, prompt: Sent) -> tuple[str, float]:
        """Return the token that the server writes behind a text, and its log-probability; an empty one at an end."""
        answer = self._post("completions", prompt=prompt, **ONE_TOKEN)
        try:
            logprobs = answer["choices"][0]["logprobs"]
            return (
                (str(logprobs["tokens"][-1]), float(logprobs["token_logprobs"][-1])) if logprobs["tokens"] else ("", 0)
            )
        except (LookupError, TypeError, ValueError) as error:
            raise self._unknown_form(answer) from error

    def write(self, text: str, *, tokens: int, chat: bool, system: str) -> str:
        """Return a greedy continuation of a text, or with `chat` the answer to it as a user's message."""
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": text})
        route, content = ("chat/completions", {"messages": messages}) if chat else ("completions", {"prompt": text})
        try:
            answer = self._post(route, max_tokens=tokens, **content, **self._own)
        except SiteRefused as error:
            if "penalty" not in error.message:
                raise
            self._own = {}  # this server refuses names that OpenAI does not have
            answer = self._post(route, max_tokens=tokens, **content)
        try:
            choice = answer["choices"][0]
            return str((choice["message"]["content"] if chat else choice["text"]) or "")
        except (LookupError, TypeError) as error:
            raise self._unknown_form(answer) from error

    def unfit(self, problem: str) -> UnfitServer:
        """Return the error for a server that does this."""
        return UnfitServer(f"{self.address} {problem}.", LOAD_IT)

    def _unknown_form(self, answer: Any) -> UnfitServer:
        return self.unfit(f"answers in an unknown form: {answer!s:.200}")

    def _post(self, route: str, **content: Any) -> Any:
        """Return the answer to a request; raise `TooLong` where the text does not fit into the model's context."""
        try:
            return self._send(route, {"model": self.model, "temperature": 0, **content}).json()
        except SiteRefused as error:
            if "context length" in error.message:
                raise TooLong(error.message, "Shorten it, or choose a model that takes longer texts.") from error
            raise
        except ValueError as error:
            raise self.unfit("does not answer in JSON") from error

    def _refusal(self, response: httpx2.Response) -> ProbingError:
        if response.status_code in (401, 403):
            return NotWelcome(f"{self.address} does not accept the key.", f"Set {KEY} to one that it accepts.")
        error = super()._refusal(response)
        if response.status_code == 404 and not isinstance(error, SiteRefused):
            next_step = "Check the address. Where only chats are served, the probe is answering."
            return NotWelcome(f"The server has no {response.url.path}.", next_step)
        if isinstance(error, SiteRefused):
            told = error.message.replace(self._key, HIDDEN) if self._key else error.message
            return SiteRefused(f"{self.address} refuses {self.model}: {told}", "", error.status)
        return error


class ServedModel:
    """A model that a server computes. It is asked by its tokens, which its tokenizer makes here."""

    device, dtype, batch_tokens = "server", "unknown", 0

    def __init__(self, server: CompletionServer, tokenizer: PreTrainedTokenizerBase | None) -> None:
        self.server, self.tokenizer = server, tokenizer
        self.card = ModelCard(
            f"{SERVED}{server.address}#{server.model}", "causal", architecture="", parameters=0, source="served"
        )
        self.usage = Usage(
            notes=[f"Served by {server.address}: the weights are not pinned, and may be others tomorrow."]
        )
        self._greeted: dict[Ids, _Way] = {}
        self._start(AUTO)

    def _start(self, start: str) -> None:
        if self.tokenizer is not None:
            self._encoder = Encoder(self.tokenizer, special_tokens=False, start=start)
            self.card = replace(self.card, tokenizer=facts_of(self.tokenizer, chosen_start(self.tokenizer, start)))
        elif start != AUTO:
            raise BadInput(f"Without its tokenizer, {self.card.id} has no tokens to choose from.", "Leave out --start.")

    def scoring_state(self) -> AbstractContextManager[None]:
        """Return an empty context, as the network is elsewhere."""
        return nullcontext()

    def starting(self, start: str) -> Self:
        """Return this model with another start token; the connection, the handshakes and all counts are shared."""
        started = copy(self)
        started._start(start)
        return started

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores | TooLong]:
        """Yield scores as `LanguageModel` says; equal texts of a window are sent once."""
        if self.tokenizer is None:
            raise UnsupportedModel(
                f"{self.card.id} is scored by its tokens, and there is no tokenizer for them.",
                "Name the hub id or folder of the model that is served: --tokenizer org/name.",
            )
        encoder = self._encoder if scoring.start else self._encoder.without_start()
        way = self._greeted.get(encoder.start) or _Handshake(self.server, encoder).way()
        self._greeted[encoder.start] = way
        if way.skips_first and way.note not in self.usage.notes:
            self.usage.notes.append(way.note)
        blank = str(self.tokenizer.eos_token or "")

        def scores(rendered_requests: Iterator[Request]) -> Iterator[OptionScores | TooLong]:
            for window in windows(rendered_requests, encoder, blank, scoring.span):
                yield from self._score_window(window, way)

        rendered = (in_chat(self.card, self.tokenizer, request) for request in requests)
        yield from with_prompts(rendered, scores, encoder, blank)

    def _score_window(self, window: Window, way: "_Way") -> Iterator[OptionScores | TooLong]:
        distinct = list(dict.fromkeys(statement.ids for statement in window.statements))
        rows: dict[Ids, Floats | TooLong] = {}
        for ids, row in _parallel(partial(way.read, self.server), distinct):
            rows[ids] = row
            self.usage.add("score", len(window.statements) / len(distinct), len(ids))
        for prompt in window.prompts:
            error = next((row for statement in prompt if isinstance(row := rows[statement.ids], TooLong)), None)
            yield error or self._scores(prompt, rows, way)

    def _scores(self, prompt: Sequence[Encoded], rows: dict[Ids, Any], way: "_Way") -> OptionScores:
        statements = [way.scored(statement) for statement in prompt]
        log_probs = [rows[statement.ids][list(statement.scored)] for statement in statements]
        for statement, row in zip(statements, log_probs, strict=True):
            if not len(row) or np.isnan(row).any():
                missing = f"{np.isnan(row).sum()} of {len(row)} log-probabilities"
                raise self.server.unfit(f"lacks {missing} of {statement.text!r:.100}")
        return next(by_prompt(Window.of([statements]), log_probs))

    def generate(
        self, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation | TooLong]:
        """Yield continuations as `LanguageModel` says. The server writes the chat, and begins texts, in its own way."""
        write = partial(self.server.write, tokens=tokens, chat=chat, system=system)
        stream = map(str, texts)
        while window := list(islice(stream, TEXTS_PER_WINDOW)):
            distinct = list(dict.fromkeys(window))
            written: dict[str, Continuation | TooLong] = {}
            for text, answer in _parallel(write, distinct):
                written[text] = answer if isinstance(answer, TooLong) else Continuation(answer, self._ends(answer))
                self.usage.add("generate", len(window) / len(distinct), 0)
            yield from (written[text] for text in window)

    def _ends(self, text: str) -> list[int]:
        """Return where the tokens of a text end; an empty list without a tokenizer."""
        if self.tokenizer is None:
            return []
        return [end for _, end in self.tokenizer(text, add_special_tokens=False).encodings[0].offsets]

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Any:
        """Raise `UnsupportedModel`: a server tells the probabilities of a few tokens only."""
        raise UnsupportedModel(f"{self.card.id} is served, and no server ranks its whole vocabulary.", LOAD_IT)

    def embed(self, texts: Iterable[str]) -> Any:
        """Raise `UnsupportedModel`: completions have no vectors."""
        raise UnsupportedModel(f"{self.card.id} is served, and completions have no vectors of texts.", LOAD_IT)

    def unknown(self, requests: Iterable[Request]) -> Iterator[list[bool]]:
        """Yield which options are unknown as `LanguageModel` says; without a tokenizer none is."""
        if self.tokenizer is None:
            return ([False] * len(options) for _, options in requests)
        return unknown(requests, self._encoder)


@dataclass(frozen=True)
class _Way:
    """How texts are sent to a server, and which of their tokens it gives a log-probability.

    `prompt`: makes what is sent from tokens. `start`: the start token of texts. `skips_first`: whether the server gives
    none for the token behind the start token, so that it is not scored.
    """

    prompt: Callable[[Ids], Sent]
    start: Ids
    skips_first: bool = False
    note = "The server gives no log-probability of a text's first token, so that it is not scored."

    def read(self, server: CompletionServer, ids: Ids) -> Floats:
        return server.read(ids, self.prompt(ids), self.start)

    def scored(self, statement: Encoded) -> Encoded:
        """Return the statement with the tokens that the server scores."""
        if not self.skips_first or statement.scored[:1] != (len(self.start),):
            return statement
        first, last = statement.answer.start, statement.answer.stop
        answer = slice(max(first - 1, 0), max(last - 1, 0))
        return replace(statement, scored=statement.scored[1:], answer=answer, spans=statement.spans[1:])


class _Handshake:
    """Comparisons of what a server says about a few texts, before anything is scored.

    A token that the server writes behind a text must have the same log-probability when it is read there: this is not
    so where log-probabilities belong to the next token, as those of llama-cpp-python do if no start token stands before
    the text. A longer text must begin with the log-probabilities of the shorter one. And all must stay the same when
    they are sent together and in another order, in which those of vLLM have differed.
    """

    def __init__(self, server: CompletionServer, encoder: Encoder) -> None:
        self._server, self._tokenizer, self._start = server, encoder.tokenizer, encoder.start
        self._texts = [one.ids for one in encoder.encode([Statement(text, 0, len(text)) for text in TEXTS])]

    def way(self) -> _Way:
        """Return the way of sending texts that passes; raise `UnfitServer` if none does."""
        way = self._accepted()
        alone = {ids: way.read(self._server, ids) for ids in self._texts}
        for ids in self._texts:
            token, written = self._server.next(way.prompt(ids))
            if longer := self._with_token(ids, token):
                alone[longer] = way.read(self._server, longer)
                self._compare_written(ids, written, alone[longer][-1])
                self._compare(ids, alone[ids], alone[longer][:-1], "with a token behind it")
        if len(alone) == len(self._texts):
            raise self._server.unfit("writes no token that the tokenizer has")
        for ids, row in _parallel(partial(way.read, self._server), list(alone)[::-1]):
            if isinstance(row, TooLong):
                raise row
            self._compare(ids, alone[ids], row, "among others")
        return replace(way, skips_first=self._skips_first(alone))

    def _skips_first(self, rows: Mapping[Ids, Floats]) -> bool:
        """Return whether the token behind the start token never has a log-probability.

        Raises `UnfitServer` where others have none, or all are 0.
        """
        first = len(self._start)
        skips_first = first > 0 and all(np.isnan(row[first]) for row in rows.values())
        for ids, row in rows.items():
            own = row[first + 1 if skips_first or not first else first :]
            if np.isnan(own).any() or not own.any():
                told = ", ".join("none" if np.isnan(value) else f"{value:.2f}" for value in row)
                raise self._server.unfit(f"gives {self._decoded(ids)!r} these log-probabilities: {told}")
        return skips_first

    def _accepted(self) -> _Way:
        """Return the first way of sending a text after which the server has read its tokens."""
        refusals: list[ProbingError] = []
        for prompt in (list, self._decoded, lambda ids: self._decoded(ids[len(self._start) :])):
            way = _Way(prompt, self._start)
            try:
                way.read(self._server, self._texts[0])
            except (UnfitServer, SiteRefused, NotWelcome) as error:
                refusals.append(error)
            else:
                return way
        raise next((error for error in refusals if isinstance(error, UnfitServer)), refusals[-1])

    def _decoded(self, ids: Ids) -> str:
        return str(self._tokenizer.decode(ids, clean_up_tokenization_spaces=False))

    def _with_token(self, ids: Ids, token: str) -> Ids | None:
        """Return a text with the token that the server has written behind it, None if it is not one token."""
        if token.startswith(TOKEN_ID):
            return (*ids, int(token.removeprefix(TOKEN_ID)))
        longer = self._tokenizer(self._decoded(ids) + token, add_special_tokens=False).input_ids
        return tuple(longer) if tuple(longer[:-1]) == ids else None

    def _compare_written(self, ids: Ids, written: float, read: float) -> None:
        if not abs(written - read) <= TOLERANCE:
            raise self._server.unfit(
                f"gives a token behind {self._decoded(ids)!r} the log-probability {written:.2f} where it writes it, "
                f"and {read:.2f} where it reads it: they stand at other tokens"
            )

    def _compare(self, ids: Ids, alone: Floats, otherwise: Floats, where: str) -> None:
        if np.abs(np.nan_to_num(alone) - np.nan_to_num(otherwise)).max() > TOLERANCE:
            raise self._server.unfit(
                f"gives {self._decoded(ids)!r} log-probabilities that add up to {np.nansum(alone):.2f} alone, and to "
                f"{np.nansum(otherwise):.2f} {where}"
            )


def _parallel(
    ask: Callable[[Question], Answer], questions: Iterable[Question]
) -> Iterator[tuple[Question, Answer | TooLong]]:
    """Yield questions with their answers, `PARALLEL` at a time; the answer to one that is too long is the error."""

    def answer(question: Question) -> tuple[Question, Answer | TooLong]:
        try:
            return question, ask(question)
        except TooLong as error:
            return question, error

    pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="ask")
    try:
        yield from pool.map(answer, questions)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
