"""The connection to a site or a server: a token, retries, strict reading, and every error as one sentence."""

import os
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

import httpx2

from probing.errors import BadInput, ProbingError, SourceUnavailable
from probing.extras import package_version

TOKEN_VARIABLE = "CLOZEBOARD_TOKEN"
TIMEOUTS = (10, 60)  # seconds to connect, and to wait for the next byte
RETRIED = (429, 500, 502, 503, 504)
LONGEST_PAUSE, LONGEST_REQUESTED_PAUSE = 30, 3600  # seconds, by the client's own rule and as a site asks for
FIRST_ATTEMPTS = 4  # with pauses of three seconds in all, where the address may be wrong
TOO_LARGE = 413
NOT_REACHED = (httpx2.ConnectError, httpx2.ConnectTimeout)  # also where no host has the name
Read = TypeVar("Read")


class SiteUnavailable(SourceUnavailable):
    """The site or server does not answer, or is not able to answer at the moment."""

    code = "site-unavailable"


class SiteRefused(ProbingError):
    """The site or server answered with an error of its own; `status` is that of HTTP."""

    code = "site-refused"

    def __init__(self, message: str, next_step: str = "", status: int = 400) -> None:
        super().__init__(message, next_step)
        self.status = status


class NotWelcome(BadInput):
    """The address is that of nothing that fits, the token is not valid there, or the versions do not fit."""

    code = "not-welcome"


class Connection:
    """A site, and a token for it where one is needed; a subclass says which part of the interface it uses.

    `route`: the path below which that part lies. `service`: what a site offers there, in words. `noun`, `example`: what
    has an address, and how that is written. `retried`: the statuses after which a request is sent again.
    `waits_at_first`: whether an address at which nothing has answered so far is waited for longer than seconds.
    `attempts`: how often a request is repeated while the site does not answer, with pauses that double up to half a
    minute; the default waits about two minutes.
    """

    route: ClassVar[str] = ""
    service: ClassVar[str] = "Clozeboard site"
    noun: ClassVar[str] = "a site"
    example: ClassVar[str] = "https://site.example"
    retried: ClassVar[tuple[int, ...]] = RETRIED
    waits_at_first: ClassVar[bool] = True

    def __init__(
        self, address: str, token: str | None, *, attempts: int = 9, timeouts: tuple[int, int] = TIMEOUTS
    ) -> None:
        if not _is_address(address := address if "://" in address else f"https://{address}"):
            raise NotWelcome(f"{address!r:.200} is not an address of {self.noun}.", f"Write it as {self.example}.")
        if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
            raise NotWelcome("There is no token, or it holds characters that no token has.", "Copy it again.")
        self.address, self._token, self._timeouts = address.rstrip("/"), token and token.strip(), timeouts
        self._pauses = [0, *(min(2**number, LONGEST_PAUSE) for number in range(attempts))][:attempts]
        self._client = self._open()
        self._may_be_wrong = not self.waits_at_first

    def _open(self) -> httpx2.Client:
        headers = {"User-Agent": f"clozeboard/{package_version()}"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        to_connect, to_read = self._timeouts
        return httpx2.Client(headers=headers, timeout=httpx2.Timeout(to_read, connect=to_connect))

    def _parsed(self, response: httpx2.Response, read: Callable[[Mapping[str, Any]], Read]) -> Read:
        try:
            return read(response.json())
        except (ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
            message = f"{self.address} is not a Clozeboard site of this version."
            raise NotWelcome(message, "Check the address.") from error

    def _send(self, method: str, route: str, *, stream: bool = False, **content: Any) -> httpx2.Response:
        """Send a request and return the answer if it is a good one; of a `stream` the content is not read yet."""
        with self._errors():
            response = self._answer(method, f"{self.address}/{self.route}{route}", stream, content)
            if response.is_success:
                return response
            response.read()
        raise self._refusal(response)

    def _answer(self, method: str, url: str, stream: bool, content: Mapping[str, Any]) -> httpx2.Response:
        """Return what the site answers, or raise its fault, after the last attempt."""
        failures = 0
        for pause in self._pauses:
            try:
                response = self._client.send(self._client.build_request(method, url, **content), stream=stream)
            except httpx2.TransportError as error:
                failures += 1
                if isinstance(error, httpx2.UnsupportedProtocol) or _is_about_certificate(error):
                    raise
                if self._may_be_wrong and isinstance(error, NOT_REACHED) and failures == FIRST_ATTEMPTS:
                    raise
            else:
                self._may_be_wrong = False
                if response.status_code not in self.retried:
                    return response
                pause = max(pause, requested_pause(response))
                response.close()
            time.sleep(pause)
        return self._client.send(self._client.build_request(method, url, **content), stream=stream)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise NotWelcome(f"{self.address} is not an address of {self.noun}.", "Check the spelling.") from error
        except httpx2.HTTPError as error:
            if _is_about_certificate(error):
                raise NotWelcome(f"{self.address} has no valid certificate.", "Check the address.") from error
            raise SiteUnavailable(
                f"{self.address} does not answer.", "Check the address, or try again later."
            ) from error

    def _refusal(self, response: httpx2.Response) -> ProbingError:
        """Return the error that stands for an answer other than a good one."""
        if response.has_redirect_location:
            target = response.headers["Location"]
            target = target.partition(f"/{self.route}")[0] if self.route else target
            return NotWelcome(f"{self.address} leads to another address.", f"Give that address: {target:.200}")
        if response.status_code in self.retried:
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


def requested_pause(response: httpx2.Response) -> int:
    """Return the seconds that a site asks to be left alone for, 0 if it does not say."""
    seconds = response.headers.get("Retry-After", "")
    return min(int(seconds), LONGEST_REQUESTED_PAUSE) if seconds.isdecimal() else 0


def _is_about_certificate(error: BaseException | None) -> bool:
    """Tell whether an error of TLS stands behind this one."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error is not None


def _message(response: httpx2.Response) -> tuple[str, str]:
    """Return the sentence and the next step of a site's error, empty where it is not one."""
    try:
        error = response.json()["error"]
        return str(error["message"])[:1000], str(error.get("next_step", ""))[:1000]
    except (ValueError, LookupError, TypeError, AttributeError):
        return "", ""


def _is_address(text: str) -> bool:
    try:
        address = urlsplit(text)
    except ValueError:
        return False
    return address.scheme in ("http", "https") and bool(address.netloc) and not any(map(str.isspace, text))
