"""Values of environment variables by their type; an invalid value stops the start with what to set instead."""

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def env_bool(name: str, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if value in ("", "0", "1", "false", "true", "no", "yes"):
        return default if not value else value in ("1", "true", "yes")
    raise ImproperlyConfigured(f"{name}={value!r} is neither true nor false. Set it to 1 or 0.")


def env_int(name: str, default: int) -> int:
    value = os.environ.get(name, "").strip() or str(default)
    if not value.isdecimal():
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number. Set it like {name}={default}.")
    return int(value)


def env_list(name: str, default: str) -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def env_networks(name: str, default: str) -> list[IPv4Network | IPv6Network]:
    try:
        return [ip_network(text) for text in env_list(name, default)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}. Set it like {name}={default or '127.0.0.1'}.") from error


def env_choice(name: str, choices: tuple[str, ...]) -> str:
    """Return the chosen word; the first choice is the default."""
    value = os.environ.get(name, "").strip() or choices[0]
    if value not in choices:
        raise ImproperlyConfigured(f"{name}={value!r} is unknown. Choose from: {', '.join(choices)}.")
    return value


def env_address(name: str) -> str:
    """Return an address of the web without its last slash, empty where none is set."""
    value = os.environ.get(name, "").strip().rstrip("/")
    if value and not value.startswith(("https://", "http://")):
        raise ImproperlyConfigured(f"{name}={value!r} is no address. Set it like {name}=https://docs.example.org.")
    return value


def env_path(name: str, default: Path) -> Path:
    return Path(os.environ.get(name) or default).expanduser().resolve()
