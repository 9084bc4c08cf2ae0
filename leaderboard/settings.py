"""Django settings, read from the environment (docs/operating.md). An invalid value stops the start with what to set."""

import hashlib
import os
import secrets
import sys
from contextlib import suppress
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from probing.extras import install_command


def env_bool(name: str, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if value in ("", "0", "1", "false", "true", "no", "yes"):
        return default if not value else value in ("1", "true", "yes")
    raise ImproperlyConfigured(f"{name}={value!r} is neither true nor false. Set it to 1 or 0.")


def env_int(name: str, default: int) -> int:
    value = os.environ.get(name, "").strip() or str(default)
    if not value.isdecimal():
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number. Set it like {name}={default}.")
    return int(value)


def env_list(name: str, default: str) -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def env_networks(name: str, default: str) -> list[IPv4Network | IPv6Network]:
    try:
        return [ip_network(text) for text in env_list(name, default)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}. Set it like {name}={default or '127.0.0.1'}.") from error


def env_choice(name: str, choices: tuple[str, ...]) -> str:
    """Return the chosen word; the first choice is the default."""
    value = os.environ.get(name, "").strip() or choices[0]
    if value not in choices:
        raise ImproperlyConfigured(f"{name}={value!r} is unknown. Choose from: {', '.join(choices)}.")
    return value


def env_address(name: str) -> str:
    """Return an address of the web without its last slash, empty where none is set."""
    value = os.environ.get(name, "").strip().rstrip("/")
    if value and not value.startswith(("https://", "http://")):
        raise ImproperlyConfigured(f"{name}={value!r} is no address. Set it like {name}=https://docs.example.org.")
    return value


def env_path(name: str, default: Path) -> Path:
    return Path(os.environ.get(name) or default).expanduser().resolve()


BASE_DIR = Path(__file__).resolve().parent.parent
MEMORY_OVERHEAD = 1.25  # memory of a run by that of the weights: a quarter more is for the program and its batches


def secret_key(folder: Path) -> str:
    """Return SECRET_KEY, or else a key generated on first use and kept in the data folder for all processes."""
    if key := os.environ.get("SECRET_KEY"):
        return key
    path = folder / "secret_key"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    except OSError:
        return secrets.token_urlsafe(50)  # the system check clozeboard.E001 says why
    return path.read_text() or secrets.token_urlsafe(50)


def embedded_redis_socket(folder: Path) -> Path:
    """Return the socket of the embedded Valkey: in the data folder, unless that path is too long for a socket.

    The other place does not depend on TMPDIR, which may be long as well, and may differ between processes of one site.
    """
    path = folder / "valkey" / "valkey.sock"
    if len(str(path)) < 100:
        return path
    return Path("/tmp") / f"clozeboard-{hashlib.sha256(bytes(path)).hexdigest()[:12]}.sock"


def package_folder(name: str) -> Path:
    """Return the folder of an installed package, without importing the package."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ImproperlyConfigured(f"The package {name} is not installed. Run make install.")
    return Path(spec.origin).parent


def require(package: str, extra: str) -> None:
    """Stop the start if a setting needs a package that is not installed."""
    if find_spec(package) is None:
        raise ImproperlyConfigured(f"{package} is not installed. Install it: {install_command(extra)}.")


def usual_memory(weight_bytes: int, float32_parameters: int) -> int:
    """Return the memory in bytes with which every model within the size limit can be measured in its usual format.

    A model with few parameters takes up to twice its stored size, as it is computed in float32, but no more than
    4 bytes for each parameter.
    """
    largest = max(weight_bytes, min(2 * weight_bytes, 4 * float32_parameters))
    return round(MEMORY_OVERHEAD * largest)


def artefact_storage(folder: Path) -> dict[str, Any]:
    """Return where results are kept: a bucket that speaks the S3 protocol if one is named, or else a folder.

    Keys of the bucket come from the environment or the machine, as boto3 finds them (AWS_ACCESS_KEY_ID and others).
    """
    if bucket := os.environ.get("CLOZEBOARD_S3_BUCKET"):
        require("storages", "s3")
        options = {
            "bucket_name": bucket,
            "endpoint_url": os.environ.get("CLOZEBOARD_S3_ENDPOINT") or None,
            "location": "artefacts",
            "default_acl": None,
            "querystring_auth": True,
        }
        return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}
    return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}


# Folders and addresses
DATA = env_path("CLOZEBOARD_DATA", BASE_DIR / "var")
MODELS = env_path("CLOZEBOARD_MODELS", DATA / "models")
HUB_CACHE = DATA / "hub"  # downloaded models
HUB_CACHE_LIMIT = env_int("CLOZEBOARD_CACHE_GB", 100) * 10**9  # bytes of downloaded models; 0: as the disk has room
HF_ENDPOINT = os.environ.get("HF_ENDPOINT", "").rstrip("/") or "https://huggingface.co"
HF_TOKEN = os.environ.get("HF_TOKEN", "")
PORT = env_int("PORT", 8000)
# Measuring
ISOLATION = env_choice("CLOZEBOARD_ISOLATION", ("public", "required", "optional"))
DEVICE = os.environ.get("CLOZEBOARD_DEVICE", "").strip() or "auto"
MEMORY_LIMIT = env_int("CLOZEBOARD_MEMORY_GB", 0) * 10**9  # bytes of one measuring process; 0: most of the machine's
# Limits of submissions; 0 means no limit
MODEL_SIZE_LIMIT = env_int("CLOZEBOARD_MODEL_GB", 20) * 10**9  # bytes of weights
LARGE_MODEL = env_int("CLOZEBOARD_LARGE_GB", 4) * 10**9  # bytes of weights above which a run waits in "measure-large"
SUBMISSIONS_PER_DAY = env_int("CLOZEBOARD_SUBMISSIONS_PER_DAY", 50)  # by one submitter
OPEN_RUNS_PER_SUBMITTER = env_int("CLOZEBOARD_OPEN_RUNS", 20)  # including submissions that are not checked yet
CHECKS_PER_MINUTE = env_int("CLOZEBOARD_CHECKS_PER_MINUTE", 30)  # for one submitter
QUEUE_LIMIT = env_int("CLOZEBOARD_QUEUE_LIMIT", 10_000)  # open submissions and runs of the whole site
REVISIONS_LIMIT = env_int("CLOZEBOARD_REVISIONS", 200)  # of a model in one submission
REFUSED_DAYS = env_int("CLOZEBOARD_REFUSED_DAYS", 90)  # how long submissions without a run are kept; 0: for ever
REQUESTS_PER_MINUTE = env_int("CLOZEBOARD_REQUESTS_PER_MINUTE", 600)  # from one address
FLOAT32_PARAMETERS = env_int("CLOZEBOARD_FLOAT32_PARAMETERS", 10**9)  # larger models are computed as they are stored
MODEL_MEMORY_LIMIT = MEMORY_LIMIT or usual_memory(MODEL_SIZE_LIMIT, FLOAT32_PARAMETERS)  # bytes that a model may take
# Whose X-Forwarded headers are believed, and who may read /metrics
TRUSTED_PROXIES = env_networks("CLOZEBOARD_TRUSTED_PROXIES", "")
METRICS_NETWORKS = env_networks(
    "CLOZEBOARD_METRICS_FROM", ",".join(("127.0.0.0/8", "::1/128", *map(str, TRUSTED_PROXIES)))
)
METRICS_TOKEN = os.environ.get("CLOZEBOARD_METRICS_TOKEN", "")

# Django
SECRET_KEY = secret_key(DATA)
DEBUG = env_bool("DEBUG", False)
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "testserver"}
# Strangers submit models where the site has a name, and then no model is measured without isolation.
ISOLATION_REQUIRED = (
    not DEBUG and not LOCAL_HOSTS.issuperset(ALLOWED_HOSTS) if ISOLATION == "public" else ISOLATION == "required"
)
CSRF_TRUSTED_ORIGINS = [f"https://{host.replace('.', '*.', 1) if host[0] == '.' else host}" for host in ALLOWED_HOSTS]
ROOT_URLCONF = "leaderboard.urls"
WSGI_APPLICATION = "leaderboard.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "leaderboard",  # before django_rq, so that its rqworker command is used
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sitemaps",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_rq",
]
MIDDLEWARE = [
    "leaderboard.serving.logs.request_ids",
    "leaderboard.serving.middleware.security_headers",
    "leaderboard.serving.limits.bounded_requests",
    "django.middleware.security.SecurityMiddleware",
    "leaderboard.serving.limits.limited_exports",
    "leaderboard.serving.middleware.TextCompression",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "leaderboard.serving.limits.limited_requests",
    "django.middleware.http.ConditionalGetMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "leaderboard.serving.errors.DatabaseOutages",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
LANGUAGE_CODE = "en"
USE_I18N = False  # there are no translations, and every number of a page would ask for its reader's language
TIME_ZONE = "UTC"
USE_TZ = True
# HTTPS: the web server learns from the proxy it trusts whether a request came by HTTPS (docs/operating.md), so Django
# needs no SECURE_PROXY_SSL_HEADER.
HTTPS = env_bool("CLOZEBOARD_HTTPS", False)
SECURE_SSL_REDIRECT = env_bool("CLOZEBOARD_HTTPS_REDIRECT", HTTPS)
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^metrics$"]  # asked by neighbours without the proxy
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = env_bool("CLOZEBOARD_HSTS_SUBDOMAINS", False)
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # only the operator knows what other hosts the domain has
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True  # like the session cookie; no script reads it
CSRF_FAILURE_VIEW = "leaderboard.serving.errors.unaccepted_form"
# Security headers
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",  # Plotly's image download
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
PERMISSIONS_POLICY = {
    "camera": "()",
    "clipboard-write": "(self)",  # the buttons that copy
    "geolocation": "()",
    "microphone": "()",
    "payment": "()",
    "usb": "()",
}
# Database: one SQLite file, unless DATABASE_URL names another database. WAL lets pages read while workers write;
# IMMEDIATE makes a transaction that writes wait at its start instead of failing later.
# How long a statement waits for a locked database; a page does not wait as long as a worker.
DATABASE_SECONDS = env_int("CLOZEBOARD_DATABASE_SECONDS", 4 if sys.argv[1:2] == ["serve"] else 20)
DATABASES = {
    "default": dj_database_url.config(
        default=f"sqlite:///{DATA}/clozeboard.sqlite3", conn_max_age=600, conn_health_checks=True
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    with suppress(OSError):  # the system check clozeboard.E001 says why
        Path(DATABASES["default"]["NAME"]).parent.mkdir(parents=True, exist_ok=True)
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": DATABASE_SECONDS,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    require("psycopg", "postgres")
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": DATABASE_SECONDS,
        "options": f"-c lock_timeout={DATABASE_SECONDS}s",
        **DATABASES["default"].get("OPTIONS", {}),
    }
# Pages that each process keeps until the data change (leaderboard/serving/page_cache.py).
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 200}},
}
# Queue: the embedded Valkey, unless REDIS_URL names a server.
EMBEDDED_REDIS = None if os.environ.get("REDIS_URL") else embedded_redis_socket(DATA)
REDIS_URL = os.environ.get("REDIS_URL") or f"unix://{EMBEDDED_REDIS}"
WEEK = 7 * 24 * 3600
RQ_QUEUES = {
    name: {
        "URL": REDIS_URL + ("&" if "?" in REDIS_URL else "?") + "socket_connect_timeout=2&socket_timeout=5",
        "DEFAULT_TIMEOUT": timeout,
        "SERIALIZER": "json",
    }
    # seconds; a large model on a slow machine takes days, and checks have a shorter deadline of their own
    for name, timeout in {"measure": WEEK, "measure-large": WEEK, "finish": WEEK // 7, "checks": 120}.items()
}
RQ = {
    "WORKER_CLASS": "leaderboard.worker.site_worker.SiteWorker",
    "COMMIT_MODE": "on_db_commit",
    "DEFAULT_RESULT_TTL": 0,
}
RQ_SHOW_ADMIN_LINK = False
# Files
STATIC_URL = "static/"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("plotly", package_folder("plotly") / "package_data"),
]
DOCUMENTATION = env_address("CLOZEBOARD_DOCUMENTATION")  # of the built documentation, to which /methods/ leads
WHITENOISE_MAX_AGE = 0 if DEBUG else 365 * 24 * 3600  # seconds; the address of a file changes with its content
WHITENOISE_USE_FINDERS = True  # files are served from where they are installed, without collectstatic
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA / "files"},
    },
    "artefacts": artefact_storage(DATA / "artefacts"),
    "staticfiles": {"BACKEND": "leaderboard.serving.web_server.VersionedFiles"},
}
LOG_FORMAT = env_choice("CLOZEBOARD_LOG", ("plain", "json"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"()": "leaderboard.serving.logs.PlainFormatter"},
        "json": {"()": "leaderboard.serving.logs.JsonLines"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "httpx2": {"level": "WARNING"},  # it logs every request
        "django": {"handlers": [], "level": "INFO", "propagate": True},  # not Django's own handler, which shows secrets
    },
}
