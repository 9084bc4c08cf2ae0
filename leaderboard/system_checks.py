"""Checks of the settings, which are quick and come before every command (docs/operations.md lists their ids)."""

import os
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from leaderboard.intake import queue
from probing.measuring import sandbox

LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "testserver"}


@register("files")
def data_folder_is_writable(**kwargs: Any) -> list[CheckMessage]:
    folder = next(path for path in (settings.DATA, *settings.DATA.parents) if path.exists())
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return []
    hint = "Give the user who runs the site the right to write there, or set CLOZEBOARD_DATA to another folder."
    return [Error(f"The data folder {settings.DATA} is not writable.", hint=hint, id="clozeboard.E001")]


@register("machine")
def secret_key_is_secret(**kwargs: Any) -> list[CheckMessage]:
    if len(settings.SECRET_KEY) >= 32:
        return []
    hint = "Unset SECRET_KEY to have one generated and kept in the data folder, or set 50 random characters."
    return [Error("SECRET_KEY can be guessed.", hint=hint, id="clozeboard.E002")]


@register("work")
def redis_answers(**kwargs: Any) -> list[CheckMessage]:
    """Warn if the server that REDIS_URL names does not answer; the embedded server runs only while a worker does."""
    if settings.EMBEDDED_REDIS or queue.reachable():
        return []
    hint = "Pages work and submissions are kept, but nothing is measured. Start the server or correct REDIS_URL."
    return [Warning("The Redis server does not answer.", hint=hint, id="clozeboard.W001")]


@register("machine")
def debug_is_local(**kwargs: Any) -> list[CheckMessage]:
    if not settings.DEBUG or LOCAL_HOSTS.issuperset(settings.ALLOWED_HOSTS):
        return []
    hint = "Unset DEBUG: error pages would show settings and code to everybody."
    return [Warning("DEBUG is on, and the site can be reached from other machines.", hint=hint, id="clozeboard.W002")]


@register("machine")
def models_are_isolated(**kwargs: Any) -> list[CheckMessage]:
    reason = sandbox.problem()
    if not reason:
        return []
    hint = "Install bubblewrap on the machines of workers. Until then, only limits of memory and time hold models back."
    return [Warning(f"Models are measured without isolation: {reason}.", hint=hint, id="clozeboard.W003")]
