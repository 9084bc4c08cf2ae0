"""A trial of a model that was just loaded: hostile or damaged ones fail here, before any item is measured."""

from typing import Any

import torch

from probing.errors import AGAIN, BadConfig, BrokenTokenizer, NonFiniteScores

RUNS = ("a", "Z", "0", " ", "\n", "\t", ".", "-", "_", "é", "中", "ab")
# Ordinary text, and runs on which nested repetitions in a regular expression take a time that doubles with each letter.
TEXT = "The capital of France is Paris. " + " ".join(f"{letters * (240 // len(letters))}!" for letters in RUNS)
TOKENS = 8


def try_tokenizer(where: str, tokenizer: Any) -> list[int]:
    """Return the first tokens of a fixed text; raise `BrokenTokenizer` if there are none.

    The tokenizers library answers to some regular expressions with a panic of Rust, which is no `Exception`.
    """
    try:
        ids = tokenizer(TEXT, verbose=False)["input_ids"]
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        reason = str(error).strip().split("\n")[0].rstrip(".: ")[:200]
        raise BrokenTokenizer(f"The tokenizer in {where} fails on ordinary text: {reason}.", AGAIN) from error
    if not ids:
        raise BrokenTokenizer(f"The tokenizer in {where} makes no tokens of ordinary text.", AGAIN)
    _try_template(where, tokenizer)
    return list(ids[:TOKENS])


def _try_template(where: str, tokenizer: Any) -> None:
    """Render the chat template for one question; raise `BrokenTokenizer` if it repeats itself without an end.

    Templates run in a sandbox that limits single loops, not nested ones: they need a limit of time from outside. Other
    errors are left to those who ask for the template, as a template may demand a longer conversation.
    """
    if not tokenizer.chat_template:
        return
    try:
        tokenizer.apply_chat_template([{"role": "user", "content": "Hello."}], add_generation_prompt=True)
    except (RecursionError, OverflowError) as error:
        raise BrokenTokenizer(f"The chat template in {where} repeats itself without an end.", AGAIN) from error
    except Exception:  # whatever the template raises
        return


def try_network(model_id: str, network: Any, ids: list[int]) -> None:
    """Compute one forward pass of a few tokens.

    Raises `BrokenTokenizer` if the network has no such tokens, `NonFiniteScores` if the results are not numbers, and
    `BadConfig` if it cannot be computed.
    """
    rows = network.get_input_embeddings().weight.shape[0]
    if max(ids) >= rows:
        raise BrokenTokenizer(f"The tokenizer of {model_id} gives token {max(ids)}, but the model has {rows}.", AGAIN)
    try:
        with torch.inference_mode():
            text = torch.tensor([ids], device=network.device)
            decoder = {"decoder_input_ids": text} if network.config.is_encoder_decoder else {}
            logits = network(input_ids=text, **decoder).logits
    except (ValueError, LookupError, TypeError, RuntimeError, AttributeError, ArithmeticError) as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise
        reason = str(error).strip().split("\n")[0].rstrip(".: ")[:200]
        raise BadConfig(f"{model_id} cannot be computed: {reason}.", "Save it again with save_pretrained.") from error
    if bool((torch.isnan(logits) | (logits == torch.inf)).any()):
        raise NonFiniteScores.of(model_id, "in its first forward pass", "result")
