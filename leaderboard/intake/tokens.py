"""Tokens of programs elsewhere, each for one purpose: made once, shown once, and kept as a digest only."""

import hashlib
import hmac
import re
import secrets
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.models import WorkerToken
from probing.errors import BadInput

Purpose = WorkerToken.Purpose
PREFIXES = {
    Purpose.WORK: "cbw_",
    Purpose.PUSH: "cbp_",
    Purpose.SUBMIT: "cbs_",
}  # by which scanners for leaked secrets can recognize a token
WORDS = {Purpose.WORK: "worker", Purpose.PUSH: "push", Purpose.SUBMIT: "submit"}  # of the command `token`
TOKEN_NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)
SEEN_INTERVAL = timedelta(seconds=10)  # the time of the last request is stored no more often


def create(name: str, purpose: Purpose = Purpose.WORK, **rights: Any) -> str:
    """Store a token of this name and return its secret, which nobody can read later.

    `rights`: what else tokens of this purpose have: `trusted` or `quota`.
    """
    if not TOKEN_NAME.fullmatch(name):
        raise BadInput(f"{name!r:.80} is not a name for a token.", "Use up to 40 letters, digits, '.', '-' and '_'.")
    secret = PREFIXES[purpose] + secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            WorkerToken.objects.create(name=name, digest=digest_of_secret(secret), purpose=purpose, **rights)
    except IntegrityError as error:
        raise BadInput(f"There is a token {name!r} already.", "Choose another name.") from error
    return secret


def revoke(name: str, purpose: Purpose = Purpose.WORK) -> None:
    """Make a token invalid; the parts that its workers hold become free when their leases end."""
    if not WorkerToken.objects.filter(name=name, purpose=purpose).update(revoked=True):
        raise BadInput(f"There is no token {name!r}.", f"See manage.py token {WORDS[purpose]}.")


def authenticated(secret: str, purpose: Purpose = Purpose.WORK) -> WorkerToken | None:
    """Return the token with this secret if it is for this purpose and not revoked, and note when it was used."""
    digest = digest_of_secret(secret)
    token = WorkerToken.objects.filter(digest=digest, purpose=purpose, revoked=False).first()
    if token is None or not hmac.compare_digest(token.digest, digest):
        return None
    now = timezone.now()
    stale = Q(last_seen=None) | Q(last_seen__lt=now - SEEN_INTERVAL)
    WorkerToken.objects.filter(stale, pk=token.pk).update(last_seen=now)
    return token


def digest_of_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
