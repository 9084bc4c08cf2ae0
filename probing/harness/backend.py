"""The model `clozeboard` of lm-evaluation-harness: its model `hf` with scoring that computes shared prefixes once.

Loading, tokenization, truncation, chat templates and generation are those of `hf`, so that results differ by rounding
only. What is replaced is the scoring of requests: those of all tasks are sorted, so that options of an item, items of a
template and few-shot examples share what they have in common. Importing this module registers the model.
"""

import logging
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.api.registry import model_registry
from lm_eval.models.huggingface import HFLM
from lm_eval.utils import get_rolling_token_windows, make_disjoint_window
from tqdm import tqdm

from probing.errors import BadInput, OutOfMemory, ProbingError
from probing.scoring.causal import CausalModel
from probing.scoring.in_memory import wrap

Tokens = list[int]
Texts = tuple[str, str]
Request = tuple[Texts | None, Tokens, Tokens]
Answer = tuple[float, bool]

NAME = "clozeboard"
# Token positions of the table of the requests that are scored together: padded to the longest, 32 MiB.
WINDOW_POSITIONS = 2**22
logger = logging.getLogger(__name__)


class ClozeboardLM(HFLM):  # type: ignore[misc]  # the harness has no types here
    """The model `hf` of the harness, with every distinct prefix of the requests computed once.

    It takes the arguments of `hf`. For log-likelihoods the size of batches is found by measuring, whatever `batch_size`
    is. What cannot be computed as a prefix tree is scored by `hf` itself: encoder-decoders, networks that ignore a mask
    for pairs of tokens, and texts that are longer than a sliding window.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if "," in str(options.get("device")):
            raise BadInput(
                f"The harness takes one device, not {options['device']!r:.80}.",
                "Name one, or start it by accelerate launch.",
            )
        super().__init__(*arguments, **options)

    @cached_property
    def scorer(self) -> CausalModel | None:
        """The network as a model of this library, None where `hf` itself scores all requests; the log says why."""
        reason = self._unlike_hf()
        if not reason:
            try:
                model = wrap(self.model, self.tokenizer)
            except ProbingError as error:
                reason = error.message
            else:
                if isinstance(model, CausalModel) and model.longest_shared:
                    return model
                why = "; ".join(note.rpartition(": ")[2] for note in model.usage.notes) or model.kind
                reason = f"{type(self.model).__name__} takes no prefix tree ({why})."
        logger.warning("clozeboard: the requests are scored as by --model hf. %s", reason)
        return None

    def _unlike_hf(self) -> str:
        """Return why scores would not be those of `hf`, empty where they are."""
        if self.backend != "causal":
            return "The network is an encoder-decoder."
        if self.mixed_precision_dtype is not None:
            return "Mixed precision is computed by hf alone."
        if self.softmax_dtype not in (None, torch.float32):
            return f"A softmax in {self.softmax_dtype} is computed by hf alone."
        return ""

    def _loglikelihood_tokens(
        self, requests: Sequence[Request], disable_tqdm: bool = False, override_bs: int | None = None
    ) -> list[Answer]:
        """Return the log-probability of each continuation, and whether greedy decoding would give it.

        `requests`: the texts (None where no answer is to be cached), and the tokens of context and continuation. Those
        that are too long for the model lose tokens at the beginning of their context, as by `hf`.
        """
        if self.scorer is None:
            return list(super()._loglikelihood_tokens(requests, disable_tqdm, override_bs))
        answers = dict(self._by_tree(self.scorer, requests, hidden=disable_tqdm or self.rank != 0))
        if rest := [number for number in range(len(requests)) if number not in answers]:
            by_hf = super()._loglikelihood_tokens([requests[number] for number in rest], disable_tqdm, override_bs)
            answers |= dict(zip(rest, by_hf, strict=True))
        return [answers[number] for number in range(len(requests))]

    def _by_tree(
        self, scorer: CausalModel, requests: Sequence[Request], *, hidden: bool
    ) -> Iterator[tuple[int, Answer]]:
        """Yield the numbers and answers of those requests that can be computed as a tree, in any order.

        `hidden`: without a progress bar.
        """
        sequences = self._sequences(requests)
        shared = [number for number, tokens in enumerate(sequences) if len(tokens) <= scorer.longest_shared]
        with tqdm(total=len(shared), disable=hidden, desc="Running loglikelihood requests") as bar:
            for window in windows(sequences, shared):
                lengths = [len(requests[number][2]) for number in window]
                try:
                    scores = scorer.continuations([sequences[number] for number in window], lengths)
                except OutOfMemory:  # rows of a tree are longer than single requests
                    logger.warning("clozeboard: %d requests do not fit into memory as a tree.", len(window))
                    continue
                for number, score in zip(window, scores, strict=True):
                    yield number, self._cached(requests[number], score)
                bar.update(len(window))

    def loglikelihood_rolling(self, requests: Sequence[Instance], disable_tqdm: bool = False) -> list[float]:
        """Return the log-probability of each whole text; one that is too long is cut into windows, as by `hf`."""
        if self.scorer is None:
            return list(super().loglikelihood_rolling(requests, disable_tqdm))
        texts = [str(request.args[0]) for request in requests]
        pieces = [self._pieces(text) for text in texts]
        answers = iter(self._loglikelihood_tokens([piece for row in pieces for piece in row], disable_tqdm))
        totals = [sum(log_prob for log_prob, _ in islice(answers, len(row))) for row in pieces]
        for text, total in zip(texts, totals, strict=True):
            self.cache_hook.add_partial("loglikelihood_rolling", (text,), total)
        return totals

    def _pieces(self, text: str) -> list[Request]:
        """Return requests for all tokens of a text, each token once, with as much context as fits."""
        tokens = self.tok_encode(text)
        rolling = get_rolling_token_windows(tokens, self.prefix_token_id, self.max_length, context_len=1)
        return [(None, *make_disjoint_window(window)) for window in rolling]

    def _sequences(self, requests: Sequence[Request]) -> list[Tokens]:
        """Return the tokens of each request, without those at the beginning that are too many for the model."""
        longest = self.max_length
        for texts, context, continuation in requests:
            if not context or not 0 < len(continuation) <= longest:
                raise BadInput(
                    f"A request of {len(context)} and {len(continuation)} tokens cannot be scored: {texts!r:.200}.",
                    f"A context needs at least one token, a continuation from 1 to {longest}.",
                )
        too_long = sum(len(context) + len(continuation) > longest + 1 for _, context, continuation in requests)
        if too_long:
            logger.warning("%d requests exceed %d tokens and lose the beginning of their context.", too_long, longest)
        # The last token is never computed, so that one more fits.
        return [(context + continuation)[-(longest + 1) :] for _, context, continuation in requests]

    def _cached(self, request: Request, answer: Answer) -> Answer:
        if request[0] is not None:
            self.cache_hook.add_partial("loglikelihood", request[0], answer)
        return answer


def windows(sequences: Sequence[Tokens], numbers: Sequence[int]) -> Iterator[list[int]]:
    """Yield the numbers of the sequences that are scored together: neighbours in the order of their tokens.

    A window is as large as its table of tokens, which is padded to the longest sequence, may be.
    """
    window: list[int] = []
    longest = 0
    for number in sorted(numbers, key=lambda number: sequences[number]):
        longest = max(longest, len(sequences[number]))
        if window and (len(window) + 1) * longest > WINDOW_POSITIONS:
            yield window
            window, longest = [], len(sequences[number])
        window.append(number)
    if window:
        yield window


if NAME not in model_registry:  # a release of the harness that reads entry points has registered it already
    model_registry.register(NAME, target=ClozeboardLM)
