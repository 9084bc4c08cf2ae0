"""Write down what one checkout shows: every page, table and API answer of the filled site, and a run of each probe.

`tests.tools.net` runs this file in a process of its own, in the folder of the checkout, which may be an older one. It
therefore imports nothing of its own package.
"""

import io
import json
import re
import sys
import time
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from html.parser import HTMLParser
from importlib import import_module
from itertools import count
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit
from zlib import crc32

import django
import pandas as pd
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from probing.__main__ import main as command_line
from tests.tiny_models import build_bert, build_gpt2, build_llama

SITE = "http://testserver"
SEEDS = (
    *("/", "/nowhere/", "/api/v1/", "/api/v1/models", "/api/v1/benchmarks"),
    *("/sitemap.xml", "/robots.txt", "/healthz"),
)
SUBMISSIONS = ("accepted", "waiting", "refused", "withdrawn", "revisions")  # of the filled site
SKIPPED = re.compile(r"^/(static|admin|metrics|healthz\?)")
TABLE = "format=csv"
# Of addresses of which there are many of a kind, one in so many is visited: always the same ones, by a checksum.
SHARES = (
    (
        re.compile(r"[?&][\w-]*(sort|columns|page)=|/cite/|format=latex|^(?!.*format=csv).*\?.*m=.*&m="),
        40,
    ),
    (re.compile(r"^/(runs/\d+/items|benchmarks/[^/]+/items)/."), 25),
    (re.compile(r"\?(?!.*format=csv)"), 4),
    (re.compile(r"^/benchmarks/[^/]+/relations/"), 5),
)
RUN = re.compile(r"^/runs/(\d+)/")
RUNS_SHOWN = 2  # of each benchmark
PER_RUN = ("", "/scores", "/items", "/items?correct=no&page=2")
JSON = re.compile(r"json\b")
# What differs from one day, machine or release to the next.
CHANGING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z|\+00:00)?"), "TIME"),
    (re.compile(r"\b20[23]\d-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b1[789]\d{8}\b"), "TIMESTAMP"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\d+ seconds old"), "SECONDS old"),
)
CHANGING_KEYS = re.compile(
    r'(\\?"(?:\w*seconds|started?|end|finished|created|time|version|python|packages|\w*memory\w*|\w*per_second)\\?": )'
    r'(\\?"[^"]*"|[-\d.e]+|\{[^{}]*\})'
)
BLOCKS = re.compile(
    "address|article|aside|blockquote|br|d[dlt]|details|div|fieldset|fig.*|footer|form|h[1-6r]|header|label|legend|li|"
    "main|nav|[ou]l|option|p|pre|section|summary|table|tbody|thead|title|tr"
)
# One small run of each probe: benchmark, network and further words of the command line.
RUNS = {
    "multiple_choice": ("starter", "gpt2", ("--template", "0", "1", "--set", "generic_subjects=it")),
    "multiple_choice-masked": ("starter", "bert", ("--pll", "sentence_l2r")),
    "multiple_choice-few-shot": ("starter", "llama", ("--few-shot", "2", "--reduction", "mean")),
    "ranking": ("culture", "llama", ("--set", "pair=arab-west")),
    "ranking-masked": ("culture", "bert", ("--set", "pair=asia-west")),
    "specificity": ("pairs", "bert", ()),
    "cloze": ("geography", "bert", ()),
    "cloze-causal": ("geography", "gpt2", ("--set", "closed=true")),
    "perplexity": ("graph", "gpt2", ()),
    "similarity": ("starter", "bert", ("--probe", "similarity")),
    "answering": ("culture", "gpt2", ("--probe", "answering", "--set", "chat=false", "--set", "tokens=4")),
}


class Text(HTMLParser):
    """Collect the visible text of a page, one line for each block, and the data of its charts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.links: list[str] = []
        self._hidden, self._in_pre = "", False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._in_pre |= tag == "pre"
        if tag in ("script", "style") and values.get("type") != "application/json":
            self._hidden = tag
        for name in ("href", "src", "action"):
            if values.get(name):
                self.links.append(str(values[name]))
        if BLOCKS.fullmatch(tag):
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = "" if tag == self._hidden else self._hidden
        self._in_pre &= tag != "pre"
        if BLOCKS.fullmatch(tag):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data if self._in_pre else re.sub(r"\s+", " ", data))

    def __str__(self) -> str:
        lines = (re.sub(r" +", " ", line).strip() for line in "".join(self.pieces).splitlines())
        return "\n".join(line for line in lines if line)


def steady(text: str) -> str:
    """Take out of a text what changes from one call to the next."""
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return CHANGING_KEYS.sub(r'\1"CHANGING"', text)


def readable(content: bytes, kind: str) -> str:
    """Return an answer as text that can be compared line by line."""
    if "html" in kind:
        return steady(str(Text(content.decode())))
    if "parquet" in kind or content[:4] == b"PAR1":
        return steady(pd.read_parquet(io.BytesIO(content)).to_csv(index=False))
    if kind.startswith(("image/png", "application/octet", "application/gzip")):
        return f"{len(content)} bytes, SHA-256 {sha256(content).hexdigest()}"
    text = content.decode("utf-8-sig")
    return steady(json.dumps(json.loads(text), indent=1, ensure_ascii=False) if JSON.search(kind) else text)


def write(out: Path, address: str, text: str) -> None:
    """Store one entry under a file name that tells its address."""
    page, _, query = unquote(address).partition("?")
    name = page.strip("/") or "index"
    name += f"?{quote(query, safe='=&,:')}" if query else ""
    name = name if len(name) < 180 else f"{name[:160]}-{sha256(name.encode()).hexdigest()[:12]}"
    path = out / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def is_visited(address: str, source: str, runs: set[int]) -> bool:
    """Whether a link is followed: of runs, those to the chosen ones; with parameters, those from pages without any."""
    run = RUN.match(address)
    if SKIPPED.search(address) or (run and int(run[1]) not in runs):
        return False
    if TABLE not in address and "?" in address and "?" in source:
        return False
    return all(crc32(address.encode()) % share == 0 for pattern, share in SHARES if pattern.search(address))


def local(link: str, base: str) -> str | None:
    """Return the address within the site to which a link leads, its parameters in a fixed order; None elsewhere."""
    parts = urlsplit(urljoin(SITE + base, link))
    if f"{parts.scheme}://{parts.netloc}" != SITE:
        return None
    query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
    return f"{quote(unquote(parts.path))}{'?' if query else ''}{query}"


def chosen_runs(client: Client) -> dict[str, list[int]]:
    """Return the newest finished runs of each benchmark."""
    finished = apps.get_model("leaderboard", "Run").objects.filter(state="finished").order_by("-pk")
    of_benchmarks = {
        benchmark["name"]: finished.filter(benchmark__slug=benchmark["slug"], benchmark__probe=benchmark["probe"])
        for benchmark in client.get("/api/v1/benchmarks").json()["benchmarks"]
    }
    return {name: list(runs.values_list("pk", flat=True)[:RUNS_SHOWN]) for name, runs in of_benchmarks.items()}


def starts(client: Client, chosen: dict[str, list[int]]) -> Iterator[str]:
    """Yield where to begin: fixed addresses, and answers of the API about benchmarks and about the chosen runs."""
    yield from (*SEEDS, *(f"/submissions/made-up-{name}/" for name in SUBMISSIONS))
    for name, runs in chosen.items():
        pair = "&".join(f"m={run}" for run in runs)
        yield f"/compare/?{pair}"
        for run in runs:
            yield f"/runs/{run}/"
            yield from (f"/api/v1/runs/{run}{rest}" for rest in PER_RUN)
        for item in client.get(f"/api/v1/runs/{runs[0]}/items").json().get("items", [])[:1] if runs else []:
            question = f"/benchmarks/{name}/items/{item['relation']}-{item['index']}"
            relation = f"/benchmarks/{name}/relations/{item['relation']}"
            yield from (f"{question}/", f"{relation}/")
            yield f"/runs/{runs[0]}/items/{item['relation']}/{item['template']}/{item['index']}/"


def crawl(out: Path) -> None:
    """Visit everything to which links lead from where the crawl begins."""
    client = Client(raise_request_exception=False)
    chosen = chosen_runs(client)
    runs = {run for of_benchmark in chosen.values() for run in of_benchmark}
    waiting = deque(starts(client, chosen))
    known = set(waiting)
    while waiting:
        address = waiting.popleft()
        response = client.get(address)
        kind = response.get("Content-Type", "")
        content = b"".join(response) if response.streaming else response.content
        location = re.sub(r"draw=\w+", "draw=", response.get("Location", ""))
        head = f"{response.status_code} {kind} {location}".strip()
        write(out, address, f"{head}\n{readable(content, kind)}")
        links = re.findall(r"<loc>(.*?)</loc>", content.decode()) if "xml" in kind else []
        links += Text(content.decode()).links if "html" in kind else []
        new = {local(link, address) for link in links} - known - {None}
        followed = sorted(link for link in new if link and is_visited(link, address, runs))
        known.update(followed)
        waiting += followed


def fill() -> None:
    """Make the tables as the models have them now, without migrations, and fill them."""
    settings.MIGRATION_MODULES = {"leaderboard": None}
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.REQUESTS_PER_MINUTE = 0
    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    call_command("load_published", verbosity=0)
    filled_site = import_module("tests.filled_site")  # it imports models, which Django has to know first
    filled_site.fill()
    filled_site.add_unfinished()
    # The worker of the run that goes on reports no more; how slow this machine is must not decide when it is lost.
    for model in apps.get_models():
        for field in {"lease_until", "seen"} & {field.name for field in model._meta.fields}:
            model._default_manager.exclude(**{field: None}).update(**{field: datetime.now(UTC) + timedelta(days=1)})


def measure(out: Path, folder: Path) -> None:
    """Write items, scores and run.json of one small run of each probe, from the command line."""
    for name, build in {"gpt2": build_gpt2, "llama": build_llama, "bert": build_bert}.items():
        build(folder / name)
    for name, (benchmark, network, words) in RUNS.items():
        result = folder / name
        words = (str(folder / network), f"--benchmark={benchmark}", *words, "--limit=2", f"--out={result}")
        code = command_line(["run", *words, "--device=cpu", "--batch-tokens=512"])
        write(out, f"{name}/exit", str(code))
        for path in sorted(result.rglob("*")):
            if path.suffix == ".parquet":
                write(out, f"{name}/items.csv", pd.read_parquet(path).to_csv(index=False))
            elif path.suffix in (".csv", ".json"):
                write(out, f"{name}/{path.name}", steady(path.read_text()).replace(str(folder), "FOLDER"))


def main(out: Path, folder: Path) -> None:
    """Write the dump to `out`; `folder` is an empty one for networks and their results."""
    ticks = count()
    time.perf_counter = lambda: next(ticks) / 64  # so that everything takes as long in every dump
    fill()
    crawl(out / "site")
    measure(out / "runs", folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
