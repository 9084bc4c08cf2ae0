"""A model's files after all checks, and the arguments with which transformers reads these and no others."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from probing.extras import extra_package
from probing.files.architectures import require_kind
from probing.files.clean_folder import clean_folder
from probing.files.description import Description, describe
from probing.files.gguf_cache import GgufCache, key_of
from probing.files.listing import Listing
from probing.files.model_files import ModelFiles, locate
from probing.files.quantisation import Quantisation
from probing.kinds import Kind
from probing.scoring.loading_options import LoadingOptions


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
        files = locate(model, commit, tokenizer=tokenizer)
        if files.gguf:
            extra_package("gguf", "gguf", "Reading a GGUF file")
            return cls(files, "causal")
        listing = files.listing()
        description = describe(listing)
        return cls(files, require_kind(description.architecture), listing, description)

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
        if self.listing is None or self.description is None:
            return nullcontext(self.kept or self.files.path(self.files.gguf).parent)
        return clean_folder(self.files, self.listing, self.description.config)

    def arguments(self, folder: Path) -> dict[str, Any]:
        """Return the arguments with which the loaders of transformers read these files and nothing else."""
        arguments: dict[str, Any] = {"pretrained_model_name_or_path": folder, "local_files_only": True}
        if self.files.gguf and not self.kept:
            return arguments | {"gguf_file": self.files.path(self.files.gguf).name}
        return arguments | {"trust_remote_code": False}

    @property
    def remedy(self) -> str:
        """The next step where files are damaged."""
        return "Copy it again." if self.files.gguf else "Save it again with save_pretrained."
