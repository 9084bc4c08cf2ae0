"""A trial of a model that was just loaded: hostile or damaged ones fail here, before any item is measured."""

from contextlib import closing
from pathlib import Path
from typing import Any

import torch

from probing.errors import AGAIN, BadConfig, BrokenTokenizer, NonFiniteScores, UnsupportedModel
from probing.files.limited_process import LimitedProcess
from probing.files.tokenizer_trial import PROCESSOR_SECONDS

RUNS = ("a", "Z", "0", " ", "\n", "\t", ".", "-", "_", "é", "中", "ab")
# Ordinary text, and runs on which nested repetitions in a regular expression take a time that doubles with each letter.
TEXT = "The capital of France is Paris. " + " ".join(f"{letters * (240 // len(letters))}!" for letters in RUNS)
# Texts in which the tokens of one tokenizer are held beside those of another: what normalizers, pre-tokenizers and
# algorithms are known to treat in different ways stands in one of them.
TEXTS = (
    "The capital of France is Paris.",
    "the river flows to the sea, and ships sail on it in summer.",
    "THE OLD TOWN HALL OF NEW YORK",
    "An extraordinary mountaineer photographed internationalization",
    "McDonald iPhone eBay camelCaseWord snake_case_word",
    "It's he'LL we've I'm you'd they're DON'T",
    "In 1999, 12345 of 1,234,567 people paid $3.50 (about 99%).",
    "3rd of 10km, 2x4, B12 and 1st 100",
    "Élysée, Čapek, naïve, Ångström, São Tomé, Việt Nam",
    "e\u0301 a\u030a n\u0303 o\u0308",
    "Straße İstanbul ǅ ŉ ß",
    "ﬁne ﬂow ２０２５ Ｆｕｌｌ Ⅳ ½ x² ™ №",
    "Москва — столица России.",
    "Αθήνα είναι η πρωτεύουσα",
    "عاصمة مِصْرَ هي القاهرة",
    "ירושלים בירת ישראל",
    "नई दिल्ली भारत की राजधानी है।",
    "กรุงเทพมหานครเป็นเมืองหลวง",
    "北京是中国的首都。東京は日本の首都です。",
    "서울은 대한민국의 수도이다.",
    "two  spaces and   three, then a\u00a0fixed\u2003wide\u200bone",
    " one space before",
    "  two before, and two after  ",
    "a line\nand another\r\n\n\twith a tab",
    "Hello,world!What?!... (yes) [no] {x} <y> «z» “q” ‘r’ `s` ''t'' \"u\"",
    "e-mail: a.b@c.org, https://example.org/x?y=1&z=2#top",
    "a+b=c*d/e^f | ~g \\ h; i: j_k — l – m … n",
    "😀 👩‍🔬 🇳🇴 ♥",
    "▁lower ##one Ġzero </w> @@ ▁",
    "aaaaaaaaaaaaaaaa bbbbbbbb ........ -------- ======== !!!!",
    "x" * 120,
    "\u0000\u0007\ufeff\ufffd\u00ad.",
    "Paris",
    "oslo",
    "7",
    ".",
)
TOKENS = 8
TEXT_MODEL = "Choose a model that reads and writes text."
SAME = "The network gives every token the same score, whatever the text; its weights may be zero."
TOKENIZER_TRIAL = "probing.files.tokenizer_trial"
PANIC = "PanicException"
SECONDS = 50.0  # on the clock; the program has a limit of processor time as well


def try_tokenizer_apart(where: str, path: Path) -> dict[str, list[int]] | None:
    """Read a tokenizer.json in another process; return the tokens that it makes of fixed texts, special ones included.

    Raises `BrokenTokenizer` if that does not end, or in a panic of Rust, which would be printed where it happens. After
    any other fault, which is left to those who load the tokenizer, there are no tokens.
    """
    try:
        with closing(LimitedProcess.of_module(TOKENIZER_TRIAL, str(PROCESSOR_SECONDS))) as process:
            tokens: dict[str, list[int]] = process.ask({"path": str(path), "texts": [TEXT, *TEXTS]}, SECONDS)
            return tokens
    except TimeoutError as error:
        raise BrokenTokenizer(
            f"The tokenizer in {where} takes more than {PROCESSOR_SECONDS} seconds for a line of ordinary text.",
            "Its regular expressions may take exponential time; save the model with another tokenizer.",
        ) from error
    except (MemoryError, ChildProcessError) as error:
        raise BrokenTokenizer(
            f"The tokenizer in {where} takes more memory than a tokenizer can need.",
            "Save the model with another tokenizer.",
        ) from error
    except RuntimeError as error:
        name, text = error.args
        if name == PANIC:
            raise _fails(where, text) from error
        return None


def try_tokenizer(where: str, tokenizer: Any) -> list[int]:
    """Return the first tokens of a fixed text; raise `BrokenTokenizer` if there are none.

    The tokenizers library answers to some regular expressions with a panic of Rust, which is no `Exception`.
    """
    try:
        ids = tokenizer(TEXT, verbose=False)["input_ids"]
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        raise _fails(where, str(error)) from error
    if not ids:
        raise BrokenTokenizer(f"The tokenizer in {where} makes no tokens of ordinary text.", AGAIN)
    return list(ids[:TOKENS])


def _fails(where: str, text: str) -> BrokenTokenizer:
    reason = text.strip().split("\n")[0].rstrip(".: ")[:200]
    return BrokenTokenizer(f"The tokenizer in {where} fails on ordinary text: {reason}.", AGAIN)


def try_network(model_id: str, network: Any, ids: list[int]) -> list[str]:
    """Compute one forward pass of a few tokens; return notes for users on what is odd about its results.

    Raises what `first_logits` raises, and `NonFiniteScores` if the results are not numbers.
    """
    logits = first_logits(model_id, network, ids)
    if bool((torch.isnan(logits) | (logits == torch.inf)).any()):
        raise NonFiniteScores.of(model_id, "in its first forward pass", "result")
    return [SAME] if bool((logits == logits[..., :1]).all()) else []


def first_logits(model_id: str, network: Any, ids: list[int]) -> torch.Tensor:
    """Return the network's logits for a text, shape (1, tokens, vocabulary).

    Raises `BrokenTokenizer` if the network has no such tokens, and `BadConfig` if it cannot be computed.
    """
    embeddings = network.get_input_embeddings()
    if isinstance(embeddings, torch.nn.ModuleList):
        raise UnsupportedModel(
            f"{model_id} reads several codes at once, such as those of sound, and no text.", TEXT_MODEL
        )
    # Perceiver's embeddings are no module, and not those of tokens.
    known = embeddings.weight.shape[0] if hasattr(embeddings, "weight") else network.config.get_text_config().vocab_size
    if max(ids) >= known:
        raise BrokenTokenizer(f"The tokenizer of {model_id} gives token {max(ids)}, but the model has {known}.", AGAIN)
    try:
        with torch.inference_mode():
            text = torch.tensor([ids], device=network.device)
            decoder = {"decoder_input_ids": text} if network.config.is_encoder_decoder else {}
            logits: torch.Tensor = network(input_ids=text, **decoder).logits
            return logits
    except (ValueError, LookupError, TypeError, RuntimeError, AttributeError, ArithmeticError) as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise
        reason = str(error).strip().split("\n")[0].rstrip(".: ")[:200]
        raise BadConfig(f"{model_id} cannot be computed: {reason}.", "Save it again with save_pretrained.") from error
