"""A program that writes chats by chat templates, in a process of its own (`chats`)."""

from typing import Any

from transformers.utils.chat_template_utils import render_jinja_template

from probing.files.limited_process import answer_orders

MEMORY = 2**30  # bytes
LONGEST_CHAT = 2_000_000  # characters


def rendered(order: dict[str, Any]) -> str:
    """Return a chat as its template writes it."""
    (text,), _ = render_jinja_template([order["messages"]], chat_template=order["template"], **order["variables"])
    if len(text) > LONGEST_CHAT:
        raise MemoryError
    return str(text)


if __name__ == "__main__":
    answer_orders(rendered, MEMORY)
