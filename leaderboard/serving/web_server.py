"""The web server, and the addresses of scripts and styles that change with their content.

One thread of waitress reads all requests and sends all responses; the other threads run the site. A request comes to
them when it is complete, and they leave the response to the first thread, which keeps what a client has not yet taken
in temporary files. Slow clients therefore occupy no thread of the site.
"""

import ctypes
import gc
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import pyarrow as pa
import waitress
from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.wsgi import get_wsgi_application
from waitress.proxy_headers import PROXY_HEADERS, proxy_headers_middleware

OPTIONS: dict[str, Any] = {
    "threads": 8,
    "connection_limit": 1000,
    "asyncore_use_poll": True,  # select cannot watch more than 1024 files
    # Bytes of a response that wait in memory; if there are more, all go to a file. Memory also keeps what was sent,
    # until the end of the response. A download sends more than this at once, so that it always has a file.
    "outbuf_overflow": 32 * 1024,
    "outbuf_high_watermark": 2**30,  # a thread that has more bytes than this to send waits for its client
    "inbuf_overflow": 256 * 1024,
    "max_request_header_size": 32 * 1024,
    "max_request_body_size": 1024**2,
    "channel_timeout": 30,  # seconds without a byte in either direction after which a connection is closed
    "cleanup_interval": 5,
    "ident": "",
}

PASSED_ON = "clozeboard.passed_on"  # whether a proxy has sent a request, trusted or not
SIGNS_OF_PROXIES = [f"HTTP_{header}" for header in (*PROXY_HEADERS, "VIA", "X_REAL_IP")]
OBJECTS = 50_000  # that are made, less those that are freed, between two collections of the youngest objects
M_ARENA_MAX = -8  # of malloc.h in the GNU C library


def share_memory_between_threads() -> None:
    """Let threads use what others have freed, where the C library can.

    Otherwise each of them keeps a heap of its own as large as the largest page that it ever made.
    """
    pa.set_memory_pool(pa.system_memory_pool())
    if set_option := getattr(ctypes.CDLL(None), "mallopt", None):
        set_option(M_ARENA_MAX, 2)


def spare_garbage_collection() -> None:
    """Import the whole site now and never look for garbage in it, and look elsewhere less often.

    Its modules have so many objects that looking through them takes longer than making a page. Almost all that a page
    leaves behind is freed without the collection, which is for cycles alone.
    """
    import_module(settings.ROOT_URLCONF)
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS)


def serve(listen: str) -> None:
    """Serve the site at `listen` (address:port) until the process receives a signal to stop."""
    share_memory_between_threads()
    application = get_wsgi_application()
    spare_garbage_collection()
    waitress.serve(believing_proxies(application), listen=listen, clear_untrusted_proxy_headers=False, **OPTIONS)


def believing_proxies(application: WSGIApplication) -> WSGIApplication:
    """Return the application with the client's address and protocol as the trusted proxies state them.

    The headers of all others are removed; `PASSED_ON` says that there were any. Waitress itself knows either one
    address or all, and proxies in containers have an address of a network only.
    """
    believed: WSGIApplication = proxy_headers_middleware(
        application, trusted_proxy="*", trusted_proxy_headers={"x-forwarded-for", "x-forwarded-proto"}
    )
    cleared: WSGIApplication = proxy_headers_middleware(application)

    def choose(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ[PASSED_ON] = any(header in environ for header in SIGNS_OF_PROXIES)
        return (believed if _is_trusted(environ["REMOTE_ADDR"]) else cleared)(environ, start_response)

    return choose


def _is_trusted(peer: str) -> bool:
    """Return whether a connection comes from a trusted proxy; a Unix socket has no address and is not trusted."""
    with suppress(ValueError):
        address = ip_address(peer)
        return any(address in network for network in settings.TRUSTED_PROXIES)
    return False


# Addresses of scripts and styles that change with the content, so that browsers may cache them for a year.


class VersionedFiles(StaticFilesStorage):
    def url(self, name: str | None) -> str:
        digest = _content_digest(name) if name else ""
        return super().url(name) + (f"?v={digest}" if digest else "")


@cache
def _content_digest(name: str) -> str:
    """Return a short digest of a static file, "" if there is none.

    It is computed once per process: files change only with a new release, which restarts the site.
    """
    path = finders.find(name)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12] if path else ""
