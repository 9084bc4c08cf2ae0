"""An extension of griffe, which reads docstrings: the project's way to explain names becomes a list in Markdown."""

import re
from typing import Any

from griffe import Extension, Module, Object

EXAMPLES = "\n\nExamples:\n"
# The beginning of an explanation of one or more names: "`first`, `second`: what they are".
NAMES = r"`[^`]+`(?:(?:,| and) `[^`]+`)*: "
EXPLANATION = re.compile(rf"(?:^|(?<=[.;]) )(?={NAMES})")
# What follows is no part of the explanation before it.
AFTERWARDS = re.compile(r"(?<=\.) (?=(?:Raises?|Returns?|The other arguments) )")


class NamesAsLists(Extension):
    """Rewrites the docstrings of a package after it was read."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        rewrite(pkg)


def rewrite(owner: Object) -> None:
    """Rewrite the docstring of a module, class or function, and those of its members."""
    if owner.docstring:
        owner.docstring.value = as_markdown(owner.docstring.value)
    for member in owner.members.values():
        if isinstance(member, Object):
            rewrite(member)


def as_markdown(docstring: str) -> str:
    """Return a docstring in which each explanation of names is an item of a list."""
    text, head, examples = docstring.partition(EXAMPLES)
    return "\n\n".join(map(_with_list, text.split("\n\n"))) + head + examples


def _with_list(paragraph: str) -> str:
    before, *explanations = EXPLANATION.split(" ".join(paragraph.split()))
    if not explanations:
        return paragraph
    return "\n\n".join(filter(None, [before, *(f"- {AFTERWARDS.sub(chr(10) * 2, item)}" for item in explanations)]))
