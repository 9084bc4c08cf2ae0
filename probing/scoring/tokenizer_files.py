"""Reading of tokenizers: whichever class of transformers reads one, its tokens are those of the files.

A class may put a normalizer, a pre-tokenizer or an algorithm of its own in the place of those in tokenizer.json. Fixed
texts are therefore tokenized by the file alone as well. Where the tokens differ, the file is used, with what
tokenizer_config.json asks to be otherwise, and a note says so. Other files of vocabularies are compared as far as they
say how texts are cut.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sentencepiece
from tokenizers import AddedToken, Tokenizer, normalizers, pre_tokenizers
from transformers import AutoTokenizer

from probing.errors import AGAIN, BrokenTokenizer
from probing.files.listing import TOKENIZER, TOKENIZER_CONFIG, vocabulary
from probing.files.tokenizer_trial import without_training_aids
from probing.scoring.loading_options import first_line
from probing.scoring.trial import TEXTS, try_tokenizer_apart

LOADER = "transformers.tokenization_utils_tokenizers"  # the module whose warnings are about tokens
REGEX_SETTING = "fix_mistral_regex"
WRONG_REGEX = (
    "The regular expression in tokenizer.json by which texts are split is one that transformers knows as wrong for "
    f"Mistral's models, and is used as it is; {REGEX_SETTING}: true in tokenizer_config.json mends it."
)
CASE_SETTING = "do_lower_case"
# The settings of tokenizer_config.json that change a BertNormalizer, and its attributes that they change.
NORMALIZER_SETTINGS = {
    CASE_SETTING: "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}


def read_tokenizer(where: str, arguments: Mapping[str, Any], remedy: str) -> tuple[Any, list[str]]:
    """Return a tokenizer whose tokens are those of its files, and notes on what the reader of a result should know.

    `arguments`: those of the loaders of transformers. `where` stands for the folder in messages. Raises
    `BrokenTokenizer`.
    """
    folder = Path(arguments["pretrained_model_name_or_path"])
    file = folder / TOKENIZER
    alone = try_tokenizer_apart(where, file) if file.is_file() else None
    with _heard_warnings() as warnings:
        tokenizer = loaded_tokenizer(where, arguments, remedy)
    if not tokenizer.is_fast:
        return tokenizer, []  # which the caller refuses
    notes = [WRONG_REGEX if REGEX_SETTING in warning else f"transformers says: {warning}" for warning in warnings]
    config = _config(folder)
    if alone is not None:
        notes += _use_file(tokenizer, file, alone, config)
    elif file.is_file():
        raise BrokenTokenizer(f"The tokenizer.json in {where} cannot be read by the tokenizers library.", AGAIN)
    elif names := vocabulary([path.name for path in folder.iterdir()]):
        _refuse_other_vocabulary(where, tokenizer, folder / names[0])
        notes += _case_notes(tokenizer, config)
    return tokenizer, notes


def loaded_tokenizer(where: str, arguments: Mapping[str, Any], remedy: str) -> Any:
    """Return the tokenizer as a class of transformers reads it."""
    try:
        return AutoTokenizer.from_pretrained(**arguments)
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # the tokenizers library raises nothing more specific, and panics of Rust
        reason = first_line(error).replace(str(arguments["pretrained_model_name_or_path"]), where)
        raise BrokenTokenizer(f"The tokenizer in {where} cannot be loaded: {reason}", remedy) from error


@contextmanager
def _heard_warnings() -> Iterator[list[str]]:
    """Yield a list of what transformers warns of about tokens, which is not printed, whatever its verbosity is."""
    warnings: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: warnings.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger(LOADER)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    try:
        yield warnings
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


def _config(folder: Path) -> dict[str, Any]:
    """Return the content of tokenizer_config.json without settings that state nothing."""
    file = folder / TOKENIZER_CONFIG
    stated = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: value for name, value in stated.items() if value is not None}


def _use_file(tokenizer: Any, file: Path, alone: Mapping[str, list[int]], config: Mapping[str, Any]) -> list[str]:
    """Make a tokenizer use its file where its class makes other tokens, and return a note if it does.

    `alone`: the tokens of each text by the file alone. `config`: the content of tokenizer_config.json. The file is only
    read again where the tokens differ.
    """
    loaded = without_training_aids(tokenizer.backend_tokenizer)
    tokens = _tokens(loaded, alone)
    if tokens == alone:
        return []
    own = _as_asked(without_training_aids(Tokenizer.from_file(str(file))), loaded, config)
    right = _tokens(own, alone)
    if tokens == right:
        return []
    tokenizer._tokenizer = own
    text = next(text for text in alone if tokens.get(text) != right[text])
    return [
        f"The tokens are those of tokenizer.json; the class {type(tokenizer).__name__} of transformers makes others, "
        f"of {text[:50]!r} for example."
    ]


def _tokens(backend: Tokenizer, texts: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the tokens of each text; none if there are characters for which the tokenizer has no token at all."""
    try:
        encoded = backend.encode_batch(list(texts))
    except Exception:  # the tokenizers library raises nothing more specific
        return {}
    return {text: tokens.ids for text, tokens in zip(texts, encoded, strict=True)}


def _as_asked(own: Tokenizer, loaded: Tokenizer, config: Mapping[str, Any]) -> Tokenizer:
    """Change the file's tokenizer in what tokenizer_config.json asks for; return it.

    Tokens that the file does not have, or the config describes, are added as they were `loaded`.
    """
    own.encode_special_tokens = loaded.encode_special_tokens
    for part in _parts(own.normalizer, normalizers.Sequence):
        if isinstance(part, normalizers.BertNormalizer):
            for setting in NORMALIZER_SETTINGS.keys() & config.keys():
                setattr(part, NORMALIZER_SETTINGS[setting], config[setting])
    if "add_prefix_space" in config:
        add_space(own, bool(config["add_prefix_space"]))
    if config.get(REGEX_SETTING):
        own.pre_tokenizer = loaded.pre_tokenizer
    in_file = {token.content for token in own.get_added_tokens_decoder().values()}
    described = {token["content"] for token in config.get("added_tokens_decoder", {}).values()}
    for _, token in sorted(loaded.get_added_tokens_decoder().items()):
        if token.content in described or token.content not in in_file:
            _add(own, token)
    return own


def _add(backend: Tokenizer, token: AddedToken) -> None:
    (backend.add_special_tokens if token.special else backend.add_tokens)([token])


def _parts(part: Any, sequence: Any) -> list[Any]:
    """Return the parts of a normalizer or pre-tokenizer, which may be a sequence, or none."""
    return [] if part is None else list(part) if isinstance(part, sequence) else [part]


def add_space(backend: Tokenizer, adds_space: bool) -> None:
    """Make a pre-tokenizer put a space before texts that begin without one, or not, if it is of a kind that can."""
    for part in _parts(backend.pre_tokenizer, pre_tokenizers.Sequence):
        if isinstance(part, pre_tokenizers.ByteLevel):
            part.add_prefix_space = adds_space
        elif isinstance(part, pre_tokenizers.Metaspace) and (part.prepend_scheme != "never") != adds_space:
            part.prepend_scheme = "first" if adds_space else "never"


def _refuse_other_vocabulary(where: str, tokenizer: Any, file: Path) -> None:
    """Raise `BrokenTokenizer` if the class of a tokenizer does not read its vocabulary, or reads it otherwise.

    A model of sentencepiece also says how texts are cut. Spaces at the begin of a text are not compared, since the
    tokenizers library treats them otherwise than sentencepiece in most models.
    """
    name = type(tokenizer).__name__
    if file.suffix == ".model":
        own = sentencepiece.SentencePieceProcessor(model_file=str(file))
        for text in (text for text in TEXTS if text == text.strip(" ▁")):
            ids = tokenizer(text, add_special_tokens=False, verbose=False).input_ids
            unknown = {own.id_to_piece(own.unk_id()), tokenizer.unk_token}
            pieces = [None if token in unknown else token for token in tokenizer.convert_ids_to_tokens(ids)]
            right = [None if id_ == own.unk_id() else own.id_to_piece(id_) for id_ in own.encode(text)]
            if pieces != right:
                raise _other(where, f"The class {name} of transformers does not cut {text[:50]!r} as {file.name} says")
        return
    content = file.read_text(encoding="utf-8")
    tokens_in_file = set(json.loads(content) if file.suffix == ".json" else content.splitlines())
    if missing := tokens_in_file - tokenizer.get_vocab().keys():
        what = f"lacks {len(missing):,} of the {len(tokens_in_file):,} tokens in {file.name}"
        raise _other(where, f"The class {name} of transformers {what}")


def _other(where: str, problem: str) -> BrokenTokenizer:
    step = "Name the class that the model was trained with as tokenizer_class in tokenizer_config.json, or add a "
    return BrokenTokenizer(f"{problem}, in {where}.", f"{step}tokenizer.json.")


def _case_notes(tokenizer: Any, config: Mapping[str, Any]) -> list[str]:
    """Return a note if texts become lower case by default, while the vocabulary has capital letters."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    if CASE_SETTING in config or normalizer is None or normalizer.normalize_str("Oslo") != "oslo":
        return []
    capital = sum(piece.removeprefix("##").istitle() for piece in tokenizer.get_vocab())
    return [
        f"Texts become lower case, as {type(tokenizer).__name__} of transformers does by default, but {capital:,} "
        f"tokens have capital letters; {CASE_SETTING}: false in tokenizer_config.json keeps them."
    ] * bool(capital)
