"""The checkpoints of a training: revisions of a model at a hub, or folders of one training."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from probing.errors import BadInput, ModelNotFound
from probing.files.listing import CONFIG
from probing.files.model_files import environment_client, has_tokenizer, locate
from probing.model_source import ModelSource
from probing.revisions import position

ALL = "all"  # every checkpoint in a folder, or every branch and tag at a hub, whose name states a step


def checkpoints(source: ModelSource, revisions: str | Sequence[str]) -> dict[str, ModelSource]:
    """Return the source of each named checkpoint, by the name of its revision.

    They are in the order of their steps, or in the order given where one states no step. `source`: how each is loaded;
    its model is a hub id with these revisions, or a folder whose subfolders they are. A checkpoint without a tokenizer
    is read with that of the folder around it, unless the source names another. Raises `BadInput` where a name is none
    of a revision.
    """
    source.refuse_bad()
    if source.commit:
        raise BadInput("A sweep has a commit of its own for each revision.", "Leave the commit out.")
    model = Path(str(source.model))
    names = _names(revisions, model)
    if len(set(map(folder_name, names))) < len(names):
        raise BadInput("Two revisions would have the same folder.", "Sweep over them one after the other.")
    steps = {name: step for name in names if (step := position(name))}
    if len(steps) == len(names):
        names.sort(key=lambda name: steps[name])
    return {name: _in_folder(source, name) if model.is_dir() else replace(source, commit=name) for name in names}


def folder_name(revision: str) -> str:
    """Return the name of the folder for a revision's result."""
    return revision.replace("/", "--")


def fetch(source: ModelSource, revision: str) -> None:
    """Download the files of a model at the hub, so that loading finds them on this disk.

    `revision`: that of a checkpoint, which is to be there; loading finds all else where it is.
    """
    model = str(source.model)
    if not revision:
        is_here = "+" in model or source.is_served or Path(model).exists() or model.endswith(".gguf")
        if not is_here:
            locate(model, source.commit)
    elif source.commit:
        locate(model, source.commit)
    elif not Path(model).is_dir():
        raise ModelNotFound(f"There is no folder {model}.", "Check the name of the checkpoint.")


def _names(revisions: str | Sequence[str], model: Path) -> list[str]:
    if revisions == ALL:
        return _all_in(model)
    listed = revisions.split(",") if isinstance(revisions, str) else revisions
    if not isinstance(listed, Iterable) or not all(isinstance(name, str) for name in listed):
        raise BadInput(f"revisions cannot be {revisions!r:.80}.", "Give a list of names.")
    names = list(dict.fromkeys(name.strip() for name in listed if name.strip()))
    if not names:
        raise BadInput("No revision is named.", "Name some, such as step1000,step2000.")
    for name in names:
        if not name.isprintable() or any(part.startswith(".") or not part for part in name.split("/")):
            raise BadInput(f"{name!r:.80} is no name of a revision.", "Name a branch, a tag or a folder.")
    return names


def _all_in(model: Path) -> list[str]:
    if not model.is_dir():
        return _all_at_hub(str(model))
    names = [path.name for path in model.iterdir() if position(path.name) and (path / CONFIG).is_file()]
    if not names:
        raise BadInput(
            f"{model} holds no checkpoints.", "Give a folder with subfolders such as checkpoint-500, or name them."
        )
    return sorted(names)


def _all_at_hub(hub_id: str) -> list[str]:
    names = [name for name in environment_client().revisions(hub_id) if position(name)]
    if not names:
        raise BadInput(
            f"No branch or tag of {hub_id} states a step of its training.",
            "Name the revisions, such as step1000,step2000.",
        )
    return names


def _in_folder(source: ModelSource, name: str) -> ModelSource:
    parent = Path(str(source.model))
    folder, tokenizer = parent / name, source.tokenizer
    if tokenizer is None and folder.is_dir() and not has_tokenizer(folder) and has_tokenizer(parent):
        tokenizer = parent
    return replace(source, model=str(folder), tokenizer=tokenizer)
