"""/api/v1/work/ : parts of runs for workers elsewhere, which have a token and no other access to the site."""

import tarfile
from collections.abc import Mapping
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

from leaderboard.models import LEASE, Benchmark, RunPart, WorkerToken
from leaderboard.serving.json_bodies import read_object
from leaderboard.views.authorized import authorized
from leaderboard.worker import elsewhere
from leaderboard.worker.arrivals import RECORD_LIMIT
from probing.errors import BadInput, ProbingError
from probing.measuring.process import ERROR_CODE
from probing.measuring.rows import ROWS_LIMIT
from probing.probes.parts import Part
from probing.remote.protocol import PROTOCOL, BenchmarkOffer, Handout, package_version
from probing.settings import Settings

ARCHIVE_IN_MEMORY = 10 * 10**6
STATUSES = {"lease-lost": 409, "rows-refused": 422, "other-protocol": 426}
for_workers = partial(authorized, WorkerToken.Purpose.WORK, statuses=STATUSES)


class OtherProtocol(BadInput):
    """The worker speaks another version of the interface than the site."""

    code = "other-protocol"


@for_workers("GET")
def hello_json(request: HttpRequest, token: WorkerToken) -> HttpResponseBase:
    """Tell the version of the interface and whose token it is, so that a worker can check both at its start."""
    return JsonResponse({"protocol": PROTOCOL, "version": package_version(), "token": token.name})


@for_workers("POST")
def claim_json(request: HttpRequest, token: WorkerToken) -> HttpResponseBase:
    """Hand out a part, or answer 204 if there is none for this worker."""
    body = read_object(request)
    if (theirs := body.get("protocol")) != PROTOCOL:
        older = "worker" if isinstance(theirs, int) and theirs < PROTOCOL else "site"
        message = f"The worker speaks version {theirs!r:.20} of the interface, this site version {PROTOCOL}."
        raise OtherProtocol(message, f"Update the {older}.")
    part = elsewhere.claim(token, _machine(body))
    return JsonResponse(handout(part, token).to_json()) if part else HttpResponse(status=204)


def _machine(body: Mapping[str, Any]) -> elsewhere.Machine:
    lanes, memory, run = body.get("lanes", ["default"]), body.get("memory_gb"), body.get("run")
    packages = body.get("packages")
    valid = (
        isinstance(lanes, list)
        and all(isinstance(lane, str) for lane in lanes)
        and (memory is None or _is_number(memory))
        and (run is None or (isinstance(run, int) and 0 <= run < 2**63))
        and (packages is None or (isinstance(packages, list) and all(isinstance(name, str) for name in packages)))
    )
    if not valid:
        raise BadInput(
            "lanes, memory_gb, packages or run has the wrong form.", 'Write them as {"lanes": ["default"], "run": 1}.'
        )
    name = "".join(letter for letter in str(body.get("worker", "worker"))[:60] if letter.isprintable())
    chosen = None if packages is None else frozenset(packages)
    return elsewhere.Machine(name, tuple(lanes[:20]), memory * 1e9 if memory else None, run, chosen)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


def handout(part: RunPart, token: WorkerToken) -> Handout:
    """Return what a worker elsewhere needs to know of a part that it has leased."""
    run, benchmark = part.run, part.run.benchmark
    return Handout(
        lease=elsewhere.lease_of(part, token),
        run=run.pk,
        hub_id=run.model.hub_id,
        commit=run.model.commit,
        settings=Settings.from_json(run.settings),
        benchmark=BenchmarkOffer(
            benchmark.slug, benchmark.format, benchmark.digest, f"benchmarks/{benchmark.digest}.tar.gz"
        ),
        part=Part(part.relation, part.template, part.items),
        positions=part.work,
        lease_seconds=LEASE.total_seconds(),
        adapter_commit=run.model.adapter_commit,
    )


@for_workers("GET")
def benchmark_archive(request: HttpRequest, token: WorkerToken, digest: str) -> HttpResponseBase:
    """Send the files of a benchmark as an archive with one folder."""
    benchmark = Benchmark.objects.filter(digest=digest).exclude(path="").first()
    if benchmark is None:
        raise Http404("There is no benchmark with this digest here.")
    file = SpooledTemporaryFile(ARCHIVE_IN_MEMORY)  # noqa: SIM115 — the response closes it
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        archive.add(settings.DATA / benchmark.path, benchmark.slug, filter=_plain)
    file.seek(0)
    return FileResponse(file, content_type="application/gzip")


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Keep folders and plain files, without what tells of this machine."""
    if not (member.isfile() or member.isdir()):
        return None
    # Set here and not by `member.replace`, which would copy the archive with all members before this one.
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() else 0o644
    return member


@for_workers("POST")
def renew_json(request: HttpRequest, token: WorkerToken, lease: str) -> HttpResponseBase:
    """Extend a lease; tell the worker to stop if the run has ended or the part is another worker's."""
    share = read_object(request).get("share", 0)
    if not _is_number(share):
        raise BadInput("The share is not a number.", "Write it as a number from 0 to 1.")
    try:
        return JsonResponse({"continue": elsewhere.renew(elsewhere.leased(lease, token, elsewhere.LONGEST), share)})
    except elsewhere.LeaseLost:
        return JsonResponse({"continue": False})


@for_workers("POST")
def rows_json(request: HttpRequest, token: WorkerToken, lease: str) -> HttpResponseBase:
    """Check and store the rows of a part, sent as a form with the file `rows` and the text `record`."""
    part = elsewhere.leased(lease, token)
    if int(request.META.get("CONTENT_LENGTH") or 0) > ROWS_LIMIT + RECORD_LIMIT:
        raise BadInput(f"The rows are larger than {ROWS_LIMIT:,} bytes.", "Report it: rows of a part are never larger.")
    rows, record = request.FILES.get("rows"), request.POST.get("record")
    if not isinstance(rows, UploadedFile) or rows.file is None or not isinstance(record, str):
        raise BadInput("There are no rows.", "Send a form with the file rows (Parquet) and the text record (JSON).")
    elsewhere.accept(part, token, rows.file, record)
    return JsonResponse({"stored": True})


@for_workers("POST")
def fail_json(request: HttpRequest, token: WorkerToken, lease: str) -> HttpResponseBase:
    """Take a part back that the worker could not measure, with the reason."""
    body = read_object(request)
    error = ProbingError(str(body.get("message", ""))[:1000], str(body.get("next_step", ""))[:1000])
    code = str(body.get("code", ""))
    error.code = code if ERROR_CODE.fullmatch(code) else "internal"
    error.permanent = body.get("permanent") is not False
    error.log = str(body.get("log", ""))[:20_000]
    elsewhere.fail(elsewhere.leased(lease, token), error)
    return JsonResponse({"taken": True})


@for_workers("POST")
def release_json(request: HttpRequest, token: WorkerToken, lease: str) -> HttpResponseBase:
    """Take a part back from a worker that has to stop; this does not count as an attempt."""
    RunPart.objects.release(elsewhere.leased(lease, token))
    return JsonResponse({"taken": True})
