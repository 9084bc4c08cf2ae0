"""Loading of a model's config and tokenizer; what a model of its kind cannot be scored with is refused."""

from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerBase

from probing.errors import BadConfig, BrokenTokenizer, NoFastTokenizer, UnsupportedModel
from probing.files.adapters import split_adapter
from probing.kinds import Kind
from probing.scoring.checked_source import CheckedSource
from probing.scoring.loading_errors import LOADING_ERRORS, first_line
from probing.scoring.spans import span_encoder


def load_tokenizer(model: str, commit: str = "") -> tuple[PreTrainedTokenizerBase, Kind]:
    """Load the tokenizer alone, and return it with the kind of its model."""
    source = CheckedSource.of(split_adapter(model)[0], commit)
    with source.folder() as folder:
        return checked_tokenizer(source, folder), source.kind


def checked_tokenizer(source: CheckedSource, folder: Path) -> Any:
    """Load the tokenizer in a folder, after its config, without which the loader would blame the tokenizer."""
    _refuse_config(source, folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(**source.arguments(folder))
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # the tokenizers library raises nothing more specific, and panics of Rust
        reason = first_line(error).replace(str(folder), str(source.files.folder))
        raise BrokenTokenizer(f"The tokenizer in {source.where} cannot be loaded: {reason}", source.remedy) from error
    refuse_tokenizer(tokenizer, source.kind, f"The tokenizer in {source.where}", source.remedy)
    return tokenizer


def _refuse_config(source: CheckedSource, folder: Path) -> None:
    """Raise `BadConfig` if transformers cannot read the config; the loaders would blame the tokenizer."""
    if source.files.gguf:
        return
    try:
        AutoConfig.from_pretrained(**source.arguments(folder))
    except LOADING_ERRORS as error:
        reason = " ".join(str(error).split()).replace(str(folder), str(source.files.folder))[:300].rstrip(". ")
        raise BadConfig(f"The config in {source.where} cannot be read: {reason}.", source.remedy) from error


def refuse_tokenizer(tokenizer: PreTrainedTokenizerBase, kind: Kind, what: str, remedy: str) -> None:
    """Raise if a model of this kind cannot be scored with the tokenizer; `what` is the subject of the error message."""
    if not tokenizer.is_fast:
        raise NoFastTokenizer(f"{what} is not a fast one.", remedy)
    if kind == "encoder-decoder":
        span_encoder(tokenizer)  # raises if it has no blanks
    if kind == "masked" and tokenizer.mask_token is None:
        raise UnsupportedModel(
            f"{what} has no mask token, so nothing can be hidden.",
            "Save the model with the tokenizer that it was trained with.",
        )
