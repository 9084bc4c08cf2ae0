from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from leaderboard.intake import tokens
from leaderboard.models import AccessToken
from probing.errors import BadInput

pytestmark = pytest.mark.django_db
PUSH, SUBMIT = tokens.Purpose.PUSH, tokens.Purpose.SUBMIT


def command(*arguments: str, purpose: str = "push") -> str:
    output = StringIO()
    call_command("token", purpose, *arguments, stdout=output)
    return output.getvalue().strip()


def test_a_secret_is_shown_once_and_stored_as_a_digest() -> None:
    secret = command("lab")
    token = AccessToken.objects.get()
    assert secret.startswith("cbp_")
    assert len(secret) > 40
    assert secret not in str(vars(token))
    assert tokens.authenticated(secret, PUSH) == token
    assert command() == f"lab  valid  last used {timezone.now():%Y-%m-%d %H:%M}"


@pytest.mark.parametrize("secret", ["", "cbp_", "cbp_" + "a" * 43, "é" * 10_000])
def test_other_secrets_are_nobodys(secret: str) -> None:
    tokens.create("lab", PUSH)
    assert tokens.authenticated(secret, PUSH) is None


def test_a_revoked_token_is_nobodys() -> None:
    secret = tokens.create("lab", PUSH)
    command("lab", "--revoke")
    assert tokens.authenticated(secret, PUSH) is None
    assert "revoked" in command()


def test_the_last_use_is_noted_now_and_then() -> None:
    secret = tokens.create("lab", PUSH)
    assert "never used" in command()
    tokens.authenticated(secret, PUSH)
    first = AccessToken.objects.get().last_seen
    tokens.authenticated(secret, PUSH)
    assert AccessToken.objects.get().last_seen == first
    AccessToken.objects.update(last_seen=first - timedelta(minutes=1))
    tokens.authenticated(secret, PUSH)
    assert AccessToken.objects.get().last_seen >= first


@pytest.mark.parametrize("name", ["", "a b", "x" * 41, "a/b"])
def test_names_of_other_characters_are_refused(name: str) -> None:
    with pytest.raises(BadInput, match="not a name"):
        tokens.create(name, PUSH)


def test_a_name_is_given_once_and_only_a_known_one_is_revoked() -> None:
    command("lab")
    assert "valid" in command()
    with pytest.raises(CommandError, match="already"):
        command("lab")
    with pytest.raises(CommandError, match="no token 'other'"):
        command("other", "--revoke")
    with pytest.raises(CommandError, match="Name the one to revoke"):
        command("--revoke")


def test_a_token_is_for_one_purpose_and_its_command_names_no_other() -> None:
    submit, push = command("lab", purpose="submit"), command("university")
    assert (submit[:4], push[:4]) == ("cbs_", "cbp_")
    assert tokens.authenticated(push, PUSH) == AccessToken.objects.get(name="university")
    assert tokens.authenticated(push, SUBMIT) is None
    assert tokens.authenticated(submit, PUSH) is None
    assert command().startswith("university  valid  last used")
    assert "university" not in command(purpose="submit")
    with pytest.raises(CommandError, match=r"manage\.py token submit"):
        command("university", "--revoke", purpose="submit")
    command("university", "--revoke")
    assert tokens.authenticated(push, PUSH) is None


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
