"""A small hub over HTTP, enough for the real huggingface_hub: model info, file trees, files with ranges."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

INFO = re.compile(r"/api/models/(?P<id>[^/]+(?:/[^/]+)?)(?:/revision/(?P<commit>[^/]+))?")
TREE = re.compile(r"/api/models/(?P<id>[^/]+/[^/]+)/tree/(?P<commit>[^/]+)")
FILE = re.compile(r"/(?P<id>[^/]+/[^/]+)/resolve/(?P<commit>[^/]+)/(?P<name>.+)")


@dataclass
class Repository:
    """A model's files in a folder, and further fields of its info."""

    id: str
    folder: Path
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, Path]:
        return {path.name: path for path in sorted(self.folder.iterdir())}

    @property
    def commit(self) -> str:
        names = json.dumps([[name, path.stat().st_mtime_ns] for name, path in self.files.items()])
        return hashlib.sha1(names.encode()).hexdigest()

    def describe(self) -> dict[str, Any]:
        files = [{"rfilename": name, "size": path.stat().st_size} for name, path in self.files.items()]
        card = {"cardData": {"license": "mit"}}
        return (
            {"id": self.id, "sha": self.commit, "private": False, "gated": False, "siblings": files} | card | self.info
        )


class Hub(ThreadingHTTPServer):
    """A server of models. `broken`: the HTTP status of every response, if set. `requests`: all requests, in order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories: dict[str, Repository] = {}
        self.broken: int | None = None
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def add(self, id: str, folder: Path, **info: Any) -> Repository:
        self.repositories[id] = Repository(id, folder, info)
        return self.repositories[id]

    def find(self, id: str) -> Repository | None:
        """Return a repository by its id, or by its name alone, as the hub does for old models."""
        short = (repository for name, repository in self.repositories.items() if name.split("/")[1] == id)
        return self.repositories.get(id) or next(short, None)

    def downloaded(self, name: str) -> bool:
        return any(request.startswith("GET") and request.endswith(f"/{name}") for request in self.requests)


class Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        path = unquote(urlsplit(self.path).path)
        routes = ((TREE, self.tree), (INFO, self.describe), (FILE, self.file))
        match, answer = next(
            ((matched, do) for pattern, do in routes if (matched := pattern.fullmatch(path))), (None, None)
        )
        repository = self.server.find(match["id"]) if match else None
        if self.server.broken:
            self.refuse(self.server.broken, "")
        elif repository is None:
            self.refuse(404, "RepoNotFound")
        elif match["commit"] not in (None, "main", repository.commit):
            self.refuse(404, "RevisionNotFound")
        else:
            answer(repository, match)

    def do_HEAD(self) -> None:
        self.do_GET()

    def describe(self, repository: Repository, match: re.Match[str]) -> None:
        self.reply(200, json.dumps(repository.describe()).encode(), {"Content-Type": "application/json"})

    def tree(self, repository: Repository, match: re.Match[str]) -> None:
        files = [
            {"type": "file", "path": name, "size": path.stat().st_size, "oid": digest(path)}
            for name, path in repository.files.items()
        ]
        self.reply(200, json.dumps(files).encode(), {"Content-Type": "application/json"})

    def file(self, repository: Repository, match: re.Match[str]) -> None:
        if repository.info.get("gated"):
            return self.refuse(403, "GatedRepo")
        path = repository.files.get(match["name"])
        if path is None:
            return self.refuse(404, "EntryNotFound", {"X-Repo-Commit": repository.commit})
        headers = {"ETag": f'"{digest(path)}"', "X-Repo-Commit": repository.commit, "Accept-Ranges": "bytes"}
        self.send_part(path.read_bytes(), headers)

    def send_part(self, content: bytes, headers: dict[str, str]) -> None:
        byte_range = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not byte_range:
            return self.reply(200, content, headers)
        start, end = int(byte_range[1]), min(int(byte_range[2] or len(content)), len(content) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        self.reply(206, content[start : end + 1], headers)

    def refuse(self, status: int, code: str, headers: dict[str, str] | None = None) -> None:
        self.reply(status, b"", {"X-Error-Code": code, **(headers or {})})

    def reply(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


def digest(path: Path) -> str:
    return hashlib.sha1(path.read_bytes()).hexdigest()


@contextmanager
def serve() -> Iterator[Hub]:
    hub = Hub()
    Thread(target=hub.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
