"""Removal of secrets: tokens, passwords in addresses, and values that their names announce."""

import pytest

from probing.errors import without_assigned_secrets, without_secrets


@pytest.mark.parametrize(
    "secret",
    [
        *("hf_0123456789abcdef", "sk-0123456789", "ghp_0123456789", "user:word@host", "Zk3-" * 10 + "abc"),
        *(f"{prefix}_{'Zk3-' * 10}abc" for prefix in ("cbw", "cbp", "cbs")),
    ],
)
def test_what_looks_like_a_secret_is_hidden(secret: str) -> None:
    text = without_secrets(f"get https://{secret} now")
    assert secret not in text and text.startswith("get https://***") and text.endswith(" now")


@pytest.mark.parametrize("text", ["0a" * 32, "0a" * 20, "org/name-135M", "http://host:8000/runs/12/"])
def test_digests_names_and_addresses_are_kept(text: str) -> None:
    assert without_secrets(text) == text


def test_an_announced_value_is_hidden_in_the_output_of_other_programs() -> None:
    assert without_assigned_secrets("export API_TOKEN = abc; go on") == "export API_*** go on"
    assert without_secrets("the token: abc") == "the token: abc"
