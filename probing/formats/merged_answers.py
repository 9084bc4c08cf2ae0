"""Answers that count as one, in a TOML file of the user's: `Islam = ["Q432", "Muslim"]`, by their ids or labels."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from probing.errors import BadInput

HOW_TO_WRITE = 'Write lines such as: Islam = ["Q432", "Muslim"].'


def read_merged(path: Path) -> dict[str, str]:
    """Return the common name of each id and label; labels are in small letters (`merged_key`)."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}).", HOW_TO_WRITE) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path.name} is not TOML ({error}).", HOW_TO_WRITE) from error
    names: dict[str, str] = {}
    for name, answers in content.items():
        if not isinstance(answers, list) or not answers or not all(isinstance(answer, str) for answer in answers):
            raise BadInput(f"{path.name}: {name} is no list of texts.", HOW_TO_WRITE)
        for answer in (name, *answers):
            key = merged_key(answer)
            if names.setdefault(key, name) != name:
                raise BadInput(
                    f"{path.name}: {answer!r:.80} counts as {names[key]} and as {name}.", "Keep one of them."
                )
    return names


def merged_key(answer: str) -> str:
    return answer.strip().casefold()


def common_name(merged: Mapping[str, str], *answers: str) -> str | None:
    """Return the common name of an answer that is known by these ids and labels, or None if it has none."""
    return next((merged[key] for key in map(merged_key, answers) if key in merged), None)
