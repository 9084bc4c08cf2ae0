"""The connection to a site's interface: a token, retries, strict reading, and every error as one sentence."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from probing.errors import BadInput, ProbingError, SourceUnavailable
from probing.remote.protocol import package_version

TOKEN_VARIABLE = "CLOZEBOARD_TOKEN"
TIMEOUTS = (10, 60)  # seconds to connect, and to wait for the next byte
RETRIED = (429, 500, 502, 503, 504)
TOO_LARGE = 413
Read = TypeVar("Read")


class SiteUnavailable(SourceUnavailable):
    """The site does not answer, or is not able to answer at the moment."""

    code = "site-unavailable"


class SiteRefused(ProbingError):
    """The site answered with an error of its own; `status` is that of HTTP."""

    code = "site-refused"

    def __init__(self, message: str, next_step: str = "", status: int = 400) -> None:
        super().__init__(message, next_step)
        self.status = status


class NotWelcome(BadInput):
    """The address is not that of a site, the token is not valid there, or the versions do not fit."""

    code = "not-welcome"


class Connection:
    """A site, and a token for it where one is needed; a subclass says which part of the interface it uses.

    `route`: the path below which that part lies. `service`: what a site offers there, in words.
    `attempts`: how often a request is repeated while the site does not answer, with pauses that double up to half a
    minute; the default waits about two minutes.
    """

    route: ClassVar[str]
    service: ClassVar[str]

    def __init__(
        self, address: str, token: str | None, *, attempts: int = 9, timeouts: tuple[int, int] = TIMEOUTS
    ) -> None:
        if not _is_address(address := address if "://" in address else f"https://{address}"):
            raise NotWelcome(f"{address!r:.200} is not an address of a site.", "Write it as https://site.example.")
        if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
            raise NotWelcome("There is no token, or it holds characters that no token has.", "Copy it again.")
        self.address, self._token, self._timeouts = address.rstrip("/"), token and token.strip(), timeouts
        self._session = self._open(attempts)

    def _open(self, attempts: int) -> requests.Session:
        retry = Retry(
            attempts,
            backoff_factor=0.5,
            backoff_max=30,
            status_forcelist=RETRIED,
            allowed_methods=None,
            raise_on_status=False,
        )
        session = requests.Session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=retry))
        session.headers["User-Agent"] = f"clozeboard/{package_version()}"
        session.auth = self._authorize
        return session

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the token, if any; as the session's own way of authorization, so that no .netrc can replace it."""
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _parsed(self, response: requests.Response, read: Callable[[Mapping[str, Any]], Read]) -> Read:
        try:
            return read(response.json())
        except (ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
            message = f"{self.address} is not a Clozeboard site of this version."
            raise NotWelcome(message, "Check the address.") from error

    def _send(self, method: str, route: str, **content: Any) -> requests.Response:
        """Send a request and return the answer if it is a good one."""
        with self._errors():
            response = self._session.request(
                method,
                f"{self.address}/{self.route}{route}",
                timeout=self._timeouts,
                allow_redirects=False,
                **content,
            )
        if response.ok and not response.is_redirect:
            return response
        raise self._refusal(response)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except requests.exceptions.SSLError as error:
            raise NotWelcome(f"{self.address} has no valid certificate.", "Check the address.") from error
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema, UnicodeError) as error:
            raise NotWelcome(f"{self.address} is not an address of a site.", "Check the spelling.") from error
        except requests.RequestException as error:
            raise SiteUnavailable(
                f"{self.address} does not answer.", "Check the address, or try again later."
            ) from error

    def _refusal(self, response: requests.Response) -> ProbingError:
        """Return the error that stands for an answer other than a good one."""
        if response.is_redirect:
            target = response.headers["Location"]
            target = target.partition(f"/{self.route}")[0] if self.route else target
            return NotWelcome(f"{self.address} leads to another address.", f"Give that address: {target:.200}")
        if response.status_code in RETRIED:
            message = f"{self.address} is not able to answer now (status {response.status_code})."
            return SiteUnavailable(message, "Try again later.")
        message, next_step = _message(response)
        if response.status_code == TOO_LARGE and not message:
            return SiteRefused(f"{self.address} does not take files as large as this.", "Ask its operator.", TOO_LARGE)
        if response.status_code in (401, 403, 426):
            return NotWelcome(message, next_step)
        if not message:
            return NotWelcome(f"There is no {self.service} at {self.address}.", "Check the address.")
        return SiteRefused(message, next_step, response.status_code)


def environment_token() -> str:
    """Return the token that the environment holds; raise `BadInput` where there is none."""
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        raise BadInput("There is no token.", f"Set {TOKEN_VARIABLE}, or give --token-file.")
    return token


def _message(response: requests.Response) -> tuple[str, str]:
    """Return the sentence and the next step of a site's error, empty where it is not one."""
    try:
        error = response.json()["error"]
        return str(error["message"])[:1000], str(error["next_step"])[:1000]
    except (ValueError, KeyError, TypeError):
        return "", ""


def _is_address(text: str) -> bool:
    try:
        address = urlsplit(text)
    except ValueError:
        return False
    return address.scheme in ("http", "https") and bool(address.netloc)
