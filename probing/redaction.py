"""Removal of secrets from text that is logged or shown."""

import re

HIDDEN = "***"
SECRETS = re.compile(
    r"\b(?:hf_|sk-|ghp_)\w{8,}"  # tokens of the hub and of other well-known services
    r"|\bcb[wps]_[\w-]{8,}"  # tokens of programs at a site of this project
    r"|(?<=Bearer )[^\s'\"]+"
    r"|(?<=://)[^\s/@]*:[^\s/@]+(?=@)"  # user and password in an address
    r"|(?<![\w-])[\w-]{43}(?![\w-])"  # secrets.token_urlsafe(): the addresses of submissions
)
# A name that announces a secret, with its value; only for the output of other programs, as it hides much else.
ASSIGNMENTS = re.compile(r"(?i:(?:token|secret|password|authorization)\S{0,40}\s{0,9}[=:]\s*)\S+")


def without_secrets(text: str) -> str:
    """Return the text with everything that looks like a token or a password replaced by "***"."""
    return SECRETS.sub(HIDDEN, text)


def without_assigned_secrets(text: str) -> str:
    """Return the text without secrets, and without any value that a name such as "password" announces."""
    return ASSIGNMENTS.sub(HIDDEN, without_secrets(text))
