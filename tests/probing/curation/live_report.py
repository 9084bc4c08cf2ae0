"""An endpoint whose first failure says all that the project needs to find the cause, for the tests of the real one."""

import io
from datetime import UTC, datetime

import pytest
from urllib3 import HTTPResponse

from probing.curation.endpoint import Binding, Endpoint
from probing.curation.query import Query
from probing.errors import ProbingError

FIRST_BYTES = 1000  # of a body that is reported
REQUEST = "Please report this failure with all lines below. Of you, they hold only the contact that you gave."


class WatchedEndpoint(Endpoint):
    """An endpoint that fails a test with the query, and with the status, headers and first bytes of the last answer.

    Further queries are skipped after a failure: they would only repeat it, and strain a server in trouble.
    """

    failure = ""
    sent, answer = "", "no answer"

    def rows(self, query: Query) -> list[Binding]:
        if self.failure:
            pytest.skip("an earlier query failed: see its message")
        try:
            return super().rows(query)
        except ProbingError as error:
            self.failure = self._report(error)
        pytest.fail(self.failure, pytrace=False)

    def _send(self, text: str) -> HTTPResponse:
        self.sent, self.answer = text, "no answer"
        try:
            response = super()._send(text)
            body = response.read(decode_content=True)
        except Exception as error:
            self.answer = f"no whole answer: {type(error).__name__}: {error}"
            raise
        headers = "\n".join(f"  {name}: {value}" for name, value in response.headers.items())
        begin = body[:FIRST_BYTES].decode(errors="replace")
        self.answer = f"status: {response.status}\nheaders:\n{headers}\nbody, {len(body):,} bytes, begins:\n{begin}"
        plain = {name: value for name, value in response.headers.items() if name.lower() != "content-encoding"}
        return HTTPResponse(io.BytesIO(body), plain, response.status, preload_content=False)

    def _report(self, error: ProbingError) -> str:
        facts = (f"endpoint: {self.url}", f"time: {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC", f"error: {error}")
        request = f"user agent: {self.cache.agent}\nquery:\n{self.sent}"
        return "\n".join((REQUEST, *facts, self.answer, request))
