"""A site that takes results: a server that reads each request and gives the answer that a test has chosen."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

Answer = tuple[int, Any]
CREATED: Answer = (201, {"run": 12, "url": "/runs/12/", "state": "finished"})
BUSY: Answer = (503, "busy")


def problem(status: int, code: str, message: str) -> Answer:
    return status, {"error": {"code": code, "message": message, "next_step": "Do that."}}


class Upload(NamedTuple):
    """What a request has sent."""

    path: str
    token: str
    fields: dict[str, str]
    files: dict[str, tuple[str, bytes]]


class ReceivingSite(ThreadingHTTPServer):
    """`answers`: those to the next requests, of which the last is given again and again."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = [CREATED]
        self.uploads: list[Upload] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: ReceivingSite

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.uploads.append(self.upload(content))
        answers = self.server.answers
        status, body = answers.pop(0) if len(answers) > 1 else answers[0]
        encoded = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def upload(self, content: bytes) -> Upload:
        """Read the parts of a multipart form."""
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = BytesParser(policy=HTTP).parsebytes(head + content)
        assert form.get_content_type() == "multipart/form-data"
        fields, files = {}, {}
        for part in form.iter_parts():
            name = part.get_param("name", header="content-disposition")
            if file := part.get_filename():
                files[name] = (file, part.get_payload(decode=True))
            else:
                fields[name] = part.get_payload(decode=True).decode()
        return Upload(self.path, self.headers["Authorization"], fields, files)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def receiving() -> Iterator[ReceivingSite]:
    server = ReceivingSite()
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
