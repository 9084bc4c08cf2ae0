from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from leaderboard.intake import tokens
from leaderboard.models import WorkerToken
from probing.errors import BadInput

pytestmark = pytest.mark.django_db


def command(*arguments: str, purpose: str = "worker") -> str:
    output = StringIO()
    call_command("token", purpose, *arguments, stdout=output)
    return output.getvalue().strip()


def test_a_secret_is_shown_once_and_stored_as_a_digest() -> None:
    secret = command("lab")
    token = WorkerToken.objects.get()
    assert secret.startswith("cbw_")
    assert len(secret) > 40
    assert secret not in str(vars(token))
    assert tokens.authenticated(secret) == token
    assert command() == f"lab  untrusted  last used {timezone.now():%Y-%m-%d %H:%M}"


@pytest.mark.parametrize("secret", ["", "cbw_", "cbw_" + "a" * 43, "é" * 10_000])
def test_other_secrets_are_nobodys(secret: str) -> None:
    tokens.create("lab")
    assert tokens.authenticated(secret) is None


def test_a_revoked_token_is_nobodys() -> None:
    secret = tokens.create("lab")
    command("lab", "--revoke")
    assert tokens.authenticated(secret) is None
    assert "revoked" in command()


def test_the_last_use_is_noted_now_and_then() -> None:
    secret = tokens.create("lab")
    assert "never used" in command()
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
    command("lab", "--trusted")
    assert "trusted" in command()
    with pytest.raises(CommandError, match="already"):
        command("lab")
    with pytest.raises(CommandError, match="no token 'other'"):
        command("other", "--revoke")
    with pytest.raises(CommandError, match="Name the one to revoke"):
        command("--revoke")


def test_a_token_is_for_one_purpose_and_its_command_names_no_other() -> None:
    work, push = command("lab"), command("university", purpose="push")
    assert push.startswith("cbp_")
    assert tokens.authenticated(push, tokens.Purpose.PUSH) == WorkerToken.objects.get(name="university")
    assert tokens.authenticated(push, tokens.Purpose.WORK) is None
    assert tokens.authenticated(work, tokens.Purpose.PUSH) is None
    assert command(purpose="push").startswith("university  valid  last used")
    assert "university" not in command()
    with pytest.raises(CommandError, match=r"manage\.py token worker"):
        command("university", "--revoke")
    command("university", "--revoke", purpose="push")
    assert tokens.authenticated(push, tokens.Purpose.PUSH) is None


def test_a_token_that_submits_has_a_quota_or_the_limits_of_everybody() -> None:
    assert command("lab", "--quota", "30", purpose="submit").startswith("cbs_")
    command("guest", purpose="submit")
    command("partner", "--quota", "0", purpose="submit")
    listed = command(purpose="submit").splitlines()
    assert listed == [
        "guest  valid  never used",
        "lab  valid, 30 submissions  never used",
        "partner  valid, no limit of submissions  never used",
    ]
    with pytest.raises(CommandError, match="'-1' is not a number of submissions"):
        command("other", "--quota=-1", purpose="submit")
