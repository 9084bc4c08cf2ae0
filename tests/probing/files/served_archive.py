"""An archive behind a local address, as an official source offers it."""

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: Path, handler: type[QuietHandler] = QuietHandler) -> Iterator[str]:
    """Serve the files of a folder, and yield the folder's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def packed(folder: Path, *extra: tarfile.TarInfo) -> bytes:
    """Pack the folder as the hub of repositories does: everything below one top folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for member in extra:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
        archive.add(folder, arcname=f"BEAR-3818fdc/{folder.name}")
    return buffer.getvalue()
