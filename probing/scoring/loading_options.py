"""How a model is loaded: on which devices, in which number format and attention, and whether it is quantised then."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from probing.errors import BadInput
from probing.files.quantisation import Quantisation, quantised_to, require_library
from probing.model_source import refuse_bad_attention, refuse_bad_device_map
from probing.scoring.bfloat16_speed import bfloat16_is_faster
from probing.settings import AUTO_DTYPE, QUANTIZATIONS, dtype_name

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# A model that takes more of one GPU's free memory is spread over all of them.
ONE_GPU_SHARE = 0.8


@dataclass(frozen=True)
class LoadingOptions:
    """Checked options; `spread` tells whether a model that is too large for one GPU may be spread over all of them.

    `chooses_dtype`: whether the stored weights may change the number format (`for_weights`).
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
            raise BadInput(f"Unknown dtype {name!r:.80}.", f"Choose from: {', '.join([*DTYPES, AUTO_DTYPE])}.")
        if quantization not in QUANTIZATIONS:
            raise BadInput(f"Unknown quantization {quantization!r:.80}.", f"Choose from: {', '.join(QUANTIZATIONS)}.")
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
        bfloat16, where a short trial finds that faster than float32.
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
