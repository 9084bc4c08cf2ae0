"""The connection to a server of models: a key, retries, and every error as one sentence."""

import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2

from probing.errors import BadInput, ProbingError, SourceUnavailable
from probing.extras import package_version

EXAMPLE = "openai:http://host:8000/v1#model"
TIMEOUTS = (10, 600)  # seconds to connect, and to wait for an answer: servers make requests wait for each other
RETRIED = (429, 502, 503, 504)
ATTEMPTS = 9
LONGEST_PAUSE, LONGEST_REQUESTED_PAUSE = 30, 3600  # seconds, by the client's own rule and as a server asks for
FIRST_ATTEMPTS = 4  # with pauses of three seconds in all, where the address may be wrong
NOT_REACHED = (httpx2.ConnectError, httpx2.ConnectTimeout)  # also where no host has the name


class SiteUnavailable(SourceUnavailable):
    """The server does not answer, or is not able to answer at the moment."""

    code = "site-unavailable"


class SiteRefused(ProbingError):
    """The server answered with an error of its own; `status` is that of HTTP."""

    code = "site-refused"

    def __init__(self, message: str, next_step: str = "", status: int = 400) -> None:
        super().__init__(message, next_step)
        self.status = status


class NotWelcome(BadInput):
    """The address is that of nothing that fits, or the key is not valid there."""

    code = "not-welcome"


class Connection:
    """A server at an address, and a key for it where one is needed.

    While the server does not answer, a request is repeated for about two minutes, with pauses that double up to half a
    minute. An address at which nothing has answered so far is told within seconds, as it may be wrong.
    """

    def __init__(self, address: str, key: str | None) -> None:
        if not _is_address(address := address if "://" in address else f"https://{address}"):
            raise NotWelcome(f"{address!r:.200} is not an address of a server.", f"Write it as {EXAMPLE}.")
        if key is not None and not (key.isascii() and key.isprintable() and key.strip()):
            raise NotWelcome("The key holds characters that no key has.", "Copy it again.")
        self.address, self._key = address.rstrip("/"), key and key.strip()
        self._pauses = [0, *(min(2**number, LONGEST_PAUSE) for number in range(ATTEMPTS - 1))]
        self._client = self._open()
        self._may_be_wrong = True

    def _open(self) -> httpx2.Client:
        headers = {"User-Agent": f"clozeboard/{package_version()}"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        to_connect, to_read = TIMEOUTS
        return httpx2.Client(headers=headers, timeout=httpx2.Timeout(to_read, connect=to_connect))

    def _send(self, route: str, content: Mapping[str, Any]) -> httpx2.Response:
        with self._errors():
            response = self._answer(f"{self.address}/{route}", content)
        if response.is_success:
            return response
        raise self._refusal(response)

    def _answer(self, url: str, content: Mapping[str, Any]) -> httpx2.Response:
        """Return what the server answers, or raise its fault, after the last attempt."""
        failures = 0
        for pause in self._pauses:
            try:
                response = self._client.post(url, json=content)
            except httpx2.TransportError as error:
                failures += 1
                if isinstance(error, httpx2.UnsupportedProtocol) or _is_about_certificate(error):
                    raise
                if self._may_be_wrong and isinstance(error, NOT_REACHED) and failures == FIRST_ATTEMPTS:
                    raise
            else:
                self._may_be_wrong = False
                if response.status_code not in RETRIED:
                    return response
                pause = max(pause, requested_pause(response))
            time.sleep(pause)
        return self._client.post(url, json=content)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise NotWelcome(f"{self.address} is not an address of a server.", "Check the spelling.") from error
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
            return NotWelcome(f"{self.address} leads to another address.", f"Give that address: {target:.200}")
        if response.status_code in RETRIED:
            message = f"{self.address} is not able to answer now (status {response.status_code})."
            return SiteUnavailable(message, "Try again later.")
        message, next_step = _message(response)
        if not message:
            return NotWelcome(f"There is no server of OpenAI's completions at {self.address}.", "Check the address.")
        return SiteRefused(message, next_step, response.status_code)


def requested_pause(response: httpx2.Response) -> int:
    """Return the seconds that a server asks to be left alone for, 0 if it does not say."""
    seconds = response.headers.get("Retry-After", "")
    return min(int(seconds), LONGEST_REQUESTED_PAUSE) if seconds.isdecimal() else 0


def _is_about_certificate(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error is not None


def _message(response: httpx2.Response) -> tuple[str, str]:
    """Return the sentence and the next step of a server's error, empty where it is not one."""
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
