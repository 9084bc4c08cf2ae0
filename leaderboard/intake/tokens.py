"""Tokens of programs elsewhere, each for one purpose: made once, shown once, and kept as a digest only."""

import hashlib
import re
import secrets
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.models import AccessToken
from probing.errors import BadInput

Purpose = AccessToken.Purpose
# By which scanners for leaked secrets can recognize a token.
PREFIXES = {Purpose.PUSH: "cbp_", Purpose.SUBMIT: "cbs_"}
TOKEN_NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)
SEEN_INTERVAL = timedelta(seconds=10)  # the time of the last request is stored no more often


def create(name: str, purpose: Purpose, quota: int | None = None) -> str:
    """Store a token of this name and return its secret, which nobody can read later.

    `quota`: submissions open at a time and within a day; 0: no limit, None: the limits of everybody.
    """
    if not TOKEN_NAME.fullmatch(name):
        raise BadInput(f"{name!r:.80} is not a name for a token.", "Use up to 40 letters, digits, '.', '-' and '_'.")
    secret = PREFIXES[purpose] + secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            AccessToken.objects.create(name=name, digest=digest_of_secret(secret), purpose=purpose, quota=quota)
    except IntegrityError as error:
        raise BadInput(f"There is a token {name!r} already.", "Choose another name.") from error
    return secret


def revoke(name: str, purpose: Purpose) -> None:
    """Make a token invalid; raise `BadInput` if there is none of this name."""
    if not AccessToken.objects.filter(name=name, purpose=purpose).update(revoked=True):
        raise BadInput(f"There is no token {name!r}.", f"See manage.py token {purpose}.")


def authenticated(secret: str, purpose: Purpose) -> AccessToken | None:
    """Return the token with this secret if it is for this purpose and not revoked, and note when it was used."""
    digest = digest_of_secret(secret)
    token = AccessToken.objects.filter(digest=digest, purpose=purpose, revoked=False).first()
    if token is None:
        return None
    now = timezone.now()
    stale = Q(last_seen=None) | Q(last_seen__lt=now - SEEN_INTERVAL)
    AccessToken.objects.filter(stale, pk=token.pk).update(last_seen=now)
    return token


def digest_of_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
