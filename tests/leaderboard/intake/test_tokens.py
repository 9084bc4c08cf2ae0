from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from leaderboard.intake import tokens
from leaderboard.models import WorkerToken
from probing.errors import BadInput

pytestmark = pytest.mark.django_db


def command(*arguments: str, name: str = "worker_token") -> str:
    output = StringIO()
    call_command(name, *arguments, stdout=output)
    return output.getvalue().strip()


def test_a_secret_is_shown_once_and_stored_as_a_digest() -> None:
    secret = command("create", "lab")
    token = WorkerToken.objects.get()
    assert secret.startswith("cbw_")
    assert len(secret) > 40
    assert secret not in str(vars(token))
    assert tokens.authenticated(secret) == token
    assert command("list") == f"lab  untrusted  last used {timezone.now():%Y-%m-%d %H:%M}"


@pytest.mark.parametrize("secret", ["", "cbw_", "cbw_" + "a" * 43, "é" * 10_000])
def test_other_secrets_are_nobodys(secret: str) -> None:
    tokens.create("lab")
    assert tokens.authenticated(secret) is None


def test_a_revoked_token_is_nobodys() -> None:
    secret = tokens.create("lab")
    command("revoke", "lab")
    assert tokens.authenticated(secret) is None
    assert "revoked" in command("list")


def test_the_last_use_is_noted_now_and_then() -> None:
    secret = tokens.create("lab")
    assert "never used" in command("list")
    tokens.authenticated(secret)
    first = WorkerToken.objects.get().last_seen
    tokens.authenticated(secret)
    assert WorkerToken.objects.get().last_seen == first
    WorkerToken.objects.update(last_seen=first - timedelta(minutes=1))
    tokens.authenticated(secret)
    assert WorkerToken.objects.get().last_seen >= first


@pytest.mark.parametrize("name", ["", "a b", "x" * 41, "a/b"])
def test_names_that_would_not_fit_a_workers_name_are_refused(name: str) -> None:
    with pytest.raises(BadInput, match="not a name"):
        tokens.create(name)


def test_a_name_is_given_once_and_only_a_known_one_is_revoked() -> None:
    command("create", "lab", "--trusted")
    assert "trusted" in command("list")
    with pytest.raises(CommandError, match="already"):
        command("create", "lab")
    with pytest.raises(CommandError, match="no token 'other'"):
        command("revoke", "other")


def test_a_token_is_for_one_purpose_and_its_command_names_no_other() -> None:
    work, push = command("create", "lab"), command("create", "university", name="push_token")
    assert push.startswith("cbp_")
    assert tokens.authenticated(push, tokens.Purpose.PUSH) == WorkerToken.objects.get(name="university")
    assert tokens.authenticated(push, tokens.Purpose.WORK) is None
    assert tokens.authenticated(work, tokens.Purpose.PUSH) is None
    assert command("list", name="push_token").startswith("university  valid  last used")
    assert "university" not in command("list")
    with pytest.raises(CommandError, match="worker_token list"):
        command("revoke", "university")
    command("revoke", "university", name="push_token")
    assert tokens.authenticated(push, tokens.Purpose.PUSH) is None


def test_a_token_that_submits_has_a_quota_or_the_limits_of_everybody() -> None:
    assert command("create", "lab", "--quota", "30", name="submit_token").startswith("cbs_")
    command("create", "guest", name="submit_token")
    command("create", "partner", "--quota", "0", name="submit_token")
    listed = command("list", name="submit_token").splitlines()
    assert listed == [
        "guest  valid  never used",
        "lab  valid, 30 submissions  never used",
        "partner  valid, no limit of submissions  never used",
    ]
    with pytest.raises(CommandError, match="'-1' is not a number of submissions"):
        command("create", "other", "--quota=-1", name="submit_token")
