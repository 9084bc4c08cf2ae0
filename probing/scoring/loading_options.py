"""How a model is loaded: on which devices, in which number format and attention, and whether it is quantised then.

Its files are loaded after all checks, with arguments by which transformers reads these and no others. What the loaders
raise for broken files is known by name.
"""

import struct
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError

from probing.errors import BadInput, suggestion
from probing.extras import READING_GGUF, extra_package
from probing.files.description import Description, describe
from probing.files.gguf_cache import GgufCache, key_of
from probing.files.listing import Listing
from probing.files.model_files import HUB_GGUF, ModelFiles, clean_folder, folder_of, locate
from probing.files.text_parts import probed_kind
from probing.files.weights import Quantisation, quantised_to, require_library
from probing.kinds import Kind
from probing.model_source import refuse_bad_attention, refuse_bad_device_map
from probing.scoring.products import bfloat16_is_faster
from probing.settings import AUTO_DTYPE, QUANTIZATIONS, dtype_name

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# A model that takes more of one GPU's free memory is spread over all of them.
ONE_GPU_SHARE = 0.8
SAVE_AGAIN = "Save it again with save_pretrained."
LOADING_ERRORS = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    RuntimeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    ImportError,
    SafetensorError,
    StrictDataclassError,
    struct.error,
)


@dataclass(frozen=True)
class LoadingOptions:
    """How `load` is asked to load a model, after the checks of `of`.

    `device`, `device_map`, `attention`: as `probing.model_source.ModelSource` explains. `spread`: whether a model that
    is too large for one GPU may be spread over all of them.
    `dtype`: number format of the weights: float32, bfloat16 or float16, by name ("torch.bfloat16" too) or as
    `torch.dtype`. "auto": as they are stored on a GPU; on a CPU bfloat16 where they are stored in 16 bits and the
    processor has instructions for it, else float32, as for GGUF files. `chooses_dtype`: whether this is "auto".
    `quantised`: how plain weights are quantised by bitsandbytes while they are loaded, if "4bit" or "8bit" is asked
    for. A checkpoint that is stored quantised is loaded as it is; its layers compute in `dtype`.
    """

    device: torch.device
    spread: bool
    device_map: str | Mapping[str, Any] | None
    dtype: torch.dtype
    quantised: Quantisation | None
    attention: str
    chooses_dtype: bool = False

    @classmethod
    def of(cls, device: str, device_map: Any, dtype: Any, quantization: str, attention: str) -> "LoadingOptions":
        """Check the arguments of `load` with these names; raise `BadInput` where one is not usable here."""
        name = dtype_name(dtype)
        chooses_dtype = name == AUTO_DTYPE
        if name not in DTYPES and not chooses_dtype:
            raise BadInput(f"Unknown dtype {name!r:.80}.", suggestion(name, [*DTYPES, AUTO_DTYPE]))
        if quantization not in QUANTIZATIONS:
            raise BadInput(f"Unknown quantization {quantization!r:.80}.", suggestion(str(quantization), QUANTIZATIONS))
        refuse_bad_device_map(device_map, device)
        refuse_bad_attention(attention)
        quantised = None if quantization == "none" else quantised_to(quantization)
        if quantised:
            require_library(quantised)
        dtype = torch.float32 if chooses_dtype else DTYPES[name]
        return cls(usable_device(device), device == "auto", device_map, dtype, quantised, attention, chooses_dtype)

    def for_weights(self, stored: str) -> "LoadingOptions":
        """Return the options for weights that are stored in this number format, which `auto` goes by.

        On a GPU they are computed as they are stored. On a CPU those that are stored in 16 bits are computed in
        bfloat16, where the processor has instructions for it.
        """
        if not self.chooses_dtype or DTYPES[stored].itemsize > 2:
            return self
        if self.device.type != "cpu":
            return replace(self, dtype=DTYPES[stored])
        return replace(self, dtype=torch.bfloat16) if bfloat16_is_faster() else self

    def placement(self, parameters: int) -> Any:
        """Return the map of devices that was chosen, else the device, or "auto" where one GPU cannot hold the model."""
        if self.device_map is not None:
            return self.device_map
        if not (self.spread and self.device.type == "cuda" and torch.cuda.device_count() > 1):
            return self.device
        fits = parameters * self.dtype.itemsize <= ONE_GPU_SHARE * torch.cuda.mem_get_info(self.device)[0]
        return self.device if fits else "auto"


def usable_device(name: str) -> torch.device:
    """Return the device of this name, or raise `BadInput` where it is not here."""
    if "," in name:
        raise BadInput(f"A model is loaded on one device, not on {name!r:.80}.", "Name one; only runs share several.")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise BadInput(f"Unknown device {name!r}.", "Choose auto, cpu or cuda.") from error
    here = torch.accelerator.current_accelerator(check_available=True)
    count = torch.accelerator.device_count() if here and here.type == device.type else 0
    if device.type != "cpu" and (device.index or 0) >= count:
        raise BadInput(f"There is no device {name} here.", "Choose auto or cpu.")
    return device


@dataclass(frozen=True)
class CheckedSource:
    """A model's files after all checks. A GGUF file has no listing and no description.

    `key`: the name under which the network of a GGUF file is kept, empty for other files.
    `kept`: the folder in which it was kept earlier, and from which it is read; None if there is none.
    """

    files: ModelFiles
    kind: Kind
    listing: Listing | None = None
    description: Description | None = None
    key: str = ""
    kept: Path | None = None

    @classmethod
    def of(cls, model: str, commit: str, tokenizer: str = "") -> "CheckedSource":
        """Locate the model's files and check those that are on this disk now, even if they come from a hub."""
        if model.startswith(HUB_GGUF):
            extra_package("gguf", "gguf", READING_GGUF)  # before anything is downloaded
        files = locate(model, commit, tokenizer=tokenizer)
        if files.gguf:
            extra_package("gguf", "gguf", READING_GGUF)
            return cls(files, "causal")
        listing = files.listing()
        description = describe(listing)
        return cls(files, probed_kind(description.config), listing, description)

    def with_kept(self, options: LoadingOptions) -> "CheckedSource":
        """Return the source that reads the network of a GGUF file where it was kept earlier, if it was."""
        if not self.files.gguf:
            return self
        key = key_of(self.files.digests[self.files.gguf], str(options.dtype))
        return replace(self, key=key, kept=GgufCache.of_user().find(key))

    @property
    def where(self) -> str:
        """The path of the folder or GGUF file, for messages."""
        return str(self.files.folder / self.files.gguf)

    @property
    def notes(self) -> list[str]:
        """The findings in the files that the checks ignored, in sentences."""
        return list(self.description.notes) if self.description else []

    @property
    def quantisation(self) -> Quantisation | None:
        """The quantisation of the weights; None if they are not, and for GGUF files."""
        return self.description.quantisation if self.description else None

    @property
    def parameters(self) -> int:
        """The number of stored parameters; 0 if it is unknown."""
        return self.description.weights.parameters if self.description else 0

    @property
    def stored_dtype(self) -> str:
        """The number format of most of the stored weights; that of GGUF files, which are de-quantised, is float32."""
        return self.description.weights.dtype if self.description else "float32"

    def folder(self) -> AbstractContextManager[Path]:
        """Return a context with a folder that holds only what was checked."""
        if self.kept:
            return nullcontext(self.kept)
        if self.listing is None or self.description is None:
            return folder_of({self.files.gguf: self.files.path(self.files.gguf)})
        return clean_folder(self.files, self.listing, self.description.config)

    def arguments(self, folder: Path) -> dict[str, Any]:
        """Return the arguments with which the loaders of transformers read these files and nothing else."""
        arguments: dict[str, Any] = {"pretrained_model_name_or_path": folder, "local_files_only": True}
        if self.files.gguf and not self.kept:
            return arguments | {"gguf_file": self.files.gguf}
        return arguments | {"trust_remote_code": False}

    @property
    def remedy(self) -> str:
        """The next step where files are damaged."""
        return "Copy it again." if self.files.gguf else SAVE_AGAIN


def first_line(error: BaseException) -> str:
    """Return the first line of the error's message as a sentence."""
    return str(error).strip().split("\n")[0].rstrip(".: ") + "."
