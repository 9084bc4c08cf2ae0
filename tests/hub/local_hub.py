"""A small hub over HTTP, enough for the real huggingface_hub: model info, file trees, files with ranges."""

import hashlib
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

INFO = re.compile(r"/api/(?:models|datasets)/(?P<id>[^/]+(?:/[^/]+)?)(?:/revision/(?P<commit>refs/pr/\d+|[^/]+))?")
REFS = re.compile(r"/api/models/(?P<id>[^/]+/[^/]+)/refs(?P<commit>)")
TREE = re.compile(r"/api/(?:models|datasets)/(?P<id>[^/]+/[^/]+)/tree/(?P<commit>refs/pr/\d+|[^/]+)(?P<folder>/.+)?")
FILE = re.compile(r"/(?:datasets/)?(?P<id>[^/]+/[^/]+)/resolve/(?P<commit>refs/pr/\d+|[^/]+)/(?P<name>.+)")


@dataclass
class Repository:
    """A model's files in a folder, and further fields of its info.

    `sizes`: sizes that the hub states instead of the true ones, by the names of the files.
    `pause`: seconds between every two bytes of the files in `slow`. `endless`: files that are followed by zeros without
    an end. `revisions`: the model at other commits, by the names of branches or tags.
    """

    id: str
    folder: Path
    info: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)
    pause: float = 0.05
    slow: set[str] = field(default_factory=set)
    endless: set[str] = field(default_factory=set)
    revisions: dict[str, "Repository"] = field(default_factory=dict)

    def add_revision(self, name: str, folder: Path) -> "Repository":
        self.revisions[name] = Repository(self.id, folder, self.info)
        return self.revisions[name]

    def at(self, revision: str | None) -> "Repository | None":
        """Return the model at a commit, branch or tag; None if there is none of this name."""
        if revision in (None, "main", self.commit):
            return self
        named = self.revisions.get(str(revision))
        return named or next((other for other in self.revisions.values() if other.commit == revision), None)

    @property
    def files(self) -> dict[str, Path]:
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path for path in paths}

    @property
    def commit(self) -> str:
        names = json.dumps([[name, path.stat().st_mtime_ns] for name, path in self.files.items()])
        return hashlib.sha1(names.encode()).hexdigest()

    def size(self, name: str) -> Any:
        return self.sizes.get(name, self.files[name].stat().st_size)

    def describe(self) -> dict[str, Any]:
        files = [{"rfilename": name, "size": self.size(name)} for name in self.files]
        card = {"cardData": {"license": "mit"}}
        return (
            {"id": self.id, "sha": self.commit, "private": False, "gated": False, "siblings": files} | card | self.info
        )


class Hub(ThreadingHTTPServer):
    """A server of models. `broken`: the HTTP status of every response, if set.

    `requests`: all requests, in order, those for a part of a file with the range of bytes.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories: dict[str, Repository] = {}
        self.broken: int | None = None
        self.requests: list[str] = []
        self.connections: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Close what clients keep open too, so that no thread waits for their next request."""
        super().server_close()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

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
        """Tell whether the whole of a file was requested."""
        return any(request.startswith("GET") and request.endswith(f"/{name}") for request in self.requests)


class Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the content of an answer does not wait until the client has confirmed its head

    def do_GET(self) -> None:
        part = f" {self.headers['Range']}" if "Range" in self.headers else ""
        self.server.requests.append(f"{self.command} {self.path}{part}")
        path = unquote(urlsplit(self.path).path)
        routes = ((REFS, self.refs), (TREE, self.tree), (INFO, self.describe), (FILE, self.file))
        match, answer = next(
            ((matched, do) for pattern, do in routes if (matched := pattern.fullmatch(path))), (None, None)
        )
        repository = self.server.find(match["id"]) if match else None
        if self.server.broken:
            self.refuse(self.server.broken, "")
        elif repository is None:
            self.refuse(404, "RepoNotFound")
        elif (version := repository.at(match["commit"] or None)) is None:
            self.refuse(404, "RevisionNotFound")
        else:
            answer(version, match)

    def do_HEAD(self) -> None:
        self.do_GET()

    def describe(self, repository: Repository, match: re.Match[str]) -> None:
        self.reply(200, json.dumps(repository.describe()).encode(), {"Content-Type": "application/json"})

    def refs(self, repository: Repository, match: re.Match[str]) -> None:
        """List the names of all revisions, every second one as a tag."""
        names = [("main", repository.commit), *((name, at.commit) for name, at in repository.revisions.items())]
        refs = [{"name": name, "ref": f"refs/heads/{name}", "targetCommit": commit} for name, commit in names]
        answer = {"branches": refs[::2], "tags": refs[1::2], "converts": []}
        self.reply(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def tree(self, repository: Repository, match: re.Match[str]) -> None:
        below = f"{match['folder'] or ''}/".removeprefix("/")
        files = [
            {"type": "file", "path": name, "size": repository.size(name), "oid": digest(path)}
            for name, path in repository.files.items()
            if name.startswith(below)
        ]
        if match["folder"] and not files:
            return self.refuse(404, "EntryNotFound")
        folders = {str(parent) for entry in files for parent in PurePosixPath(entry["path"]).parents[:-1]}
        own = [{"type": "directory", "path": name, "oid": ""} for name in sorted(folders) if name.startswith(below)]
        self.reply(200, json.dumps([*own, *files]).encode(), {"Content-Type": "application/json"})

    def file(self, repository: Repository, match: re.Match[str]) -> None:
        if repository.info.get("gated"):
            return self.refuse(403, "GatedRepo")
        path = repository.files.get(match["name"])
        if path is None:
            return self.refuse(404, "EntryNotFound", {"X-Repo-Commit": repository.commit})
        headers = {"ETag": f'"{digest(path)}"', "X-Repo-Commit": repository.commit, "Accept-Ranges": "bytes"}
        if self.command == "GET" and match["name"] in repository.slow:
            return self.trickle(path, headers, repository.pause)
        if self.command == "GET" and match["name"] in repository.endless:
            return self.pour(path, headers)
        self.send_part(path, headers)

    def send_part(self, path: Path, headers: dict[str, str]) -> None:
        size = path.stat().st_size
        byte_range = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not byte_range:
            return self.reply(200, path.read_bytes() if self.command == "GET" else b"", headers, size)
        if int(byte_range[1]) >= size:
            return self.refuse(416, "")
        start, end = int(byte_range[1]), min(int(byte_range[2] or size), size - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{size}"
        with path.open("rb") as file:
            file.seek(start)
            self.reply(206, file.read(end + 1 - start), headers)

    def trickle(self, path: Path, headers: dict[str, str], pause: float) -> None:
        """Send a file byte by byte, as slowly as the repository says."""
        self.start(200, headers, path.stat().st_size)
        with path.open("rb") as file, suppress(OSError):
            while byte := file.read(1):
                self.wfile.write(byte)
                time.sleep(pause)

    def pour(self, path: Path, headers: dict[str, str]) -> None:
        """Send a file and then zeros until the client goes away."""
        self.close_connection = True
        self.start(200, headers, None)
        with suppress(OSError):
            self.wfile.write(path.read_bytes())
            while True:
                self.wfile.write(bytes(65_536))

    def refuse(self, status: int, code: str, headers: dict[str, str] | None = None) -> None:
        self.reply(status, b"", {"X-Error-Code": code, **(headers or {})})

    def reply(self, status: int, content: bytes, headers: dict[str, str], size: int | None = None) -> None:
        self.start(status, headers, len(content) if size is None else size)
        if self.command == "GET":
            with suppress(OSError):  # clients that have read enough go away
                self.wfile.write(content)

    def start(self, status: int, headers: dict[str, str], size: int | None) -> None:
        """Send the head of an answer; without a size, its content goes on until the connection is closed."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if size is not None:
            self.send_header("Content-Length", str(size))
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


def digest(path: Path) -> str:
    """Return a name for the content of a file; of a large one, only its size and time of change are read."""
    state = path.stat()
    if state.st_size > 10**8:
        return hashlib.sha1(f"{state.st_size} {state.st_mtime_ns}".encode()).hexdigest()
    return hashlib.sha1(path.read_bytes()).hexdigest()


@contextmanager
def serve() -> Iterator[Hub]:
    hub = Hub()
    Thread(target=hub.serve_forever, args=(0.005,), daemon=True).start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
