"""llama.cpp with common prefixes: what the statements of an item have in common is computed once.

The library is compiled for the processor at hand when llama-cpp-python is installed. Its C functions are called as they
are, because those that the package adds compute every sequence by itself.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import Any

from speed.peers.protocol import Item, System, serve

CONTEXT = 8192  # positions of all sequences that are held at a time
BATCH = 2048  # positions that are computed at a time


class LlamaCpp:
    """A model of llama.cpp; the attributes are named after its functions and their arguments."""

    def __init__(self, file: str, threads: int) -> None:
        from llama_cpp import llama_cpp

        self.lib = llama_cpp
        self.lib.llama_backend_init()
        self.model = self.lib.llama_model_load_from_file(file.encode(), self.lib.llama_model_default_params())
        options = self.lib.llama_context_default_params()
        options.n_ctx, options.n_batch, options.n_ubatch = CONTEXT, BATCH, BATCH
        options.n_seq_max, options.kv_unified = 256, True
        options.n_threads = options.n_threads_batch = threads
        options.type_k = options.type_v = 0  # keys and values in float32, as in the other systems
        options.flash_attn_type = 0  # the one for CPUs rounds to half precision
        self.context = self.lib.llama_init_from_model(self.model, options)
        self.vocabulary = self.lib.llama_model_get_vocab(self.model)
        self.words = self.lib.llama_vocab_n_tokens(self.vocabulary)
        self.positions = 0

    def score(self, items: Sequence[Item], batch_size: int) -> list[float]:
        return [score for item in items for score in self._scores([self._tokens(text) for text in item.texts])]

    def _tokens(self, text: str) -> list[int]:
        encoded = text.encode()
        tokens = (self.lib.llama_token * (len(encoded) + 1))()
        count = self.lib.llama_tokenize(self.vocabulary, encoded, len(encoded), tokens, len(encoded) + 1, False, False)
        return [self.lib.llama_vocab_bos(self.vocabulary), *tokens[0:count]]

    def _scores(self, statements: list[list[int]]) -> Iterator[float]:
        """Yield the sum of the log-probabilities of each statement's tokens after the first one, which begins it."""
        common = common_length([tokens[:-1] for tokens in statements])
        memory = self.lib.llama_get_memory(self.context)
        self.lib.llama_memory_clear(memory, True)
        *before, last = self._log_probs([(token, position, 0) for position, token in enumerate(statements[0][:common])])
        first = sum(float(row[token]) for row, token in zip(before, statements[0][1:common], strict=True))
        for number in range(1, len(statements)):
            self.lib.llama_memory_seq_cp(memory, 0, number, -1, -1)
        rests = [tokens[common:-1] for tokens in statements]
        rows = self._log_probs(
            [
                (token, position, number)
                for number, rest in enumerate(rests)
                for position, token in enumerate(rest, common)
            ]
        )
        for tokens, rest in zip(statements, rests, strict=True):
            own = chain([last], islice(rows, len(rest)))
            yield first + sum(float(row[token]) for row, token in zip(own, tokens[common:], strict=True))

    def _log_probs(self, places: list[tuple[int, int, int]]) -> Iterator[Any]:
        """Compute tokens, each with its place and its sequence's number, and yield the log-probabilities after each."""
        import numpy as np

        for begin in range(0, len(places), BATCH):
            part = places[begin : begin + BATCH]
            self._decode(part)
            self.positions += len(part)
            for logits in np.ctypeslib.as_array(self.lib.llama_get_logits(self.context), (len(part), self.words)):
                highest = logits.max()
                yield logits - (highest + np.log(np.exp(logits - highest).sum()))

    def _decode(self, part: Sequence[tuple[int, int, int]]) -> None:
        batch = self.lib.llama_batch_init(len(part), 0, 1)
        batch.n_tokens = len(part)
        for index, (token, position, number) in enumerate(part):
            batch.token[index], batch.pos[index], batch.logits[index] = token, position, 1
            batch.n_seq_id[index], batch.seq_id[index][0] = 1, number
        status = self.lib.llama_decode(self.context, batch)
        self.lib.llama_batch_free(batch)
        if status:
            raise RuntimeError(f"llama_decode ended with {status}.")


def common_length(sequences: Sequence[Sequence[int]]) -> int:
    """Return how many tokens at their beginning the sequences have in common."""
    return sum(1 for _ in takewhile(lambda tokens: len(set(tokens)) == 1, zip(*sequences, strict=False)))


SYSTEMS = (
    System(
        "llama.cpp",
        "llama-cpp-python",
        ("causal",),
        lambda job: LlamaCpp(job.gguf, job.threads),
        required={("causal", "full"): 1.2, ("causal", "decide"): 3.0},
    ),
)

if __name__ == "__main__":
    serve(SYSTEMS)
