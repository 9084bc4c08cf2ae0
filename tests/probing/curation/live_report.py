"""An endpoint whose first failure says all that the project needs to find the cause, for the tests of the real one."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

import pytest
import requests

from probing.curation.http_cache import HttpCache
from probing.curation.wikidata import Binding, Endpoint, Query
from probing.errors import ProbingError

FIRST_BYTES = 1000  # of a body that is reported
REQUEST = "Please report this failure with all lines below. Of you, they hold only the contact that you gave."


class WatchedEndpoint(Endpoint):
    """An endpoint that fails a test with the query, and with the status, headers and first bytes of the last answer.

    Further queries are skipped after a failure: they would only repeat it, and strain a server in trouble.
    """

    failure = ""
    sent = answer = ""

    def __init__(self, cache: HttpCache, *address: str) -> None:
        super().__init__(cache, *address)
        cache.session.hooks["response"].append(self._watch)

    def rows(self, query: Query) -> list[Binding]:
        if self.failure:
            pytest.skip("an earlier query failed: see its message")
        try:
            self.sent, self.answer = query.text, "no whole answer: see the error"
            return super().rows(query)
        except ProbingError as error:
            self.failure = self._report(error)
        pytest.fail(self.failure, pytrace=False)

    def _watch(self, response: requests.Response, **_: Any) -> None:
        """Keep what is worth reporting of an answer."""
        self.sent = parse_qs(str(response.request.body))["query"][0]
        headers = "\n".join(f"  {name}: {value}" for name, value in response.headers.items())
        status = f"status: {response.status_code}\nheaders:\n{headers}"
        self.answer = f"{status}\nno whole answer: see the error"
        begin = response.content[:FIRST_BYTES].decode(errors="replace")
        self.answer = f"{status}\nbody, {len(response.content):,} bytes, begins:\n{begin}"

    def _report(self, error: ProbingError) -> str:
        facts = (f"endpoint: {self.url}", f"time: {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC", f"error: {error}")
        request = f"user agent: {self.cache.agent}\nquery:\n{self.sent}"
        return "\n".join((REQUEST, *facts, self.answer, request))
