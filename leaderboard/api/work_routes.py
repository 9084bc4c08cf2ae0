"""/api/v1/work/ : parts of runs for workers elsewhere, which have a token and no other access to the site."""

import tarfile
from tempfile import SpooledTemporaryFile
from typing import Any, ClassVar

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, Http404, HttpResponse, JsonResponse
from ninja import P, PathEx
from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from leaderboard.api.interface import READ, Routes, Token, TokenRequest
from leaderboard.api.parameters import Body, form_body
from leaderboard.api.run_routes import Json
from leaderboard.models import LEASE, Benchmark, RunPart, WorkerToken
from leaderboard.worker import elsewhere
from leaderboard.worker.arrivals import RECORD_LIMIT
from probing.errors import BadInput, ProbingError
from probing.measuring.messages import ROWS_LIMIT
from probing.measuring.process import ERROR_CODE
from probing.remote.protocol import PROTOCOL, BenchmarkOffer, Handout, package_version
from probing.settings import Settings

ARCHIVE_IN_MEMORY = 10 * 10**6
STATUSES = {"lease-lost": 409, "rows-refused": 422, "other-protocol": 426}
LeasePath = PathEx[str, P(description="The lease of the part.", pattern="^[^/]+$")]
DigestPath = PathEx[str, P(description="Digest of the benchmark.", pattern="^[-a-zA-Z0-9_]+$")]
ARCHIVE = {"content": {"application/gzip": {"schema": {"type": "string", "format": "binary"}}}}
routes = Routes(auth=Token(WorkerToken.Purpose.WORK, statuses=STATUSES))


class OtherProtocol(BadInput):
    """The worker speaks another version of the interface than the site."""

    code = "other-protocol"


class WorkBody(Body):
    """What a worker sends. Unlike elsewhere, unknown keys are allowed, so that a newer worker may say more."""

    model_config = ConfigDict(extra="ignore")


class MachineBody(WorkBody):
    """The machine of a worker, and the version of the interface that it speaks."""

    noun: ClassVar[str] = "machine"
    example: ClassVar[str] = '{"protocol": 3, "lanes": ["default"], "memory_gb": 40, "run": 1}'

    protocol: int = Field(description="Version of the interface.")
    worker: str = Field("worker", description="Name of the worker, for the maintainers.")
    lanes: list[str] = Field(["default"], description="Queues of which it measures runs.")
    memory_gb: float | None = Field(None, ge=0, lt=1e9, description="Memory of its device.")
    packages: list[str] | None = Field(None, description="Packages that it has beside the usual ones.")
    run: int | None = Field(None, ge=0, lt=2**63, description="The only run of which it measures parts.")
    device: str = Field("", description="Name of its device.")
    version: str = Field("", description="Version of its software.")

    @model_validator(mode="before")
    @classmethod
    def _speaks_the_same(cls, body: dict[str, Any]) -> dict[str, Any]:
        if (theirs := body.get("protocol")) != PROTOCOL:
            older = "worker" if isinstance(theirs, int) and theirs < PROTOCOL else "site"
            message = f"The worker speaks version {theirs!r:.20} of the interface, this site version {PROTOCOL}."
            raise OtherProtocol(message, f"Update the {older}.")
        return body

    @property
    def machine(self) -> elsewhere.Machine:
        name = "".join(letter for letter in self.worker[:60] if letter.isprintable())
        packages = None if self.packages is None else frozenset(self.packages)
        memory = self.memory_gb * 1e9 if self.memory_gb else None
        return elsewhere.Machine(name, tuple(self.lanes[:20]), memory, self.run, packages)


class ShareBody(WorkBody):
    """How far a part is."""

    noun: ClassVar[str] = "renewal"
    example: ClassVar[str] = '{"share": 0.5}'

    share: float = Field(0, ge=0, lt=1e9, description="The share of the part that is done, from 0 to 1.")


class FailureBody(WorkBody):
    """Why a part could not be measured."""

    noun: ClassVar[str] = "failure"
    example: ClassVar[str] = '{"code": "out-of-memory", "message": "…", "next_step": "…", "permanent": true}'

    code: str = Field("", description="Code of the error.")
    message: str = Field("", description="What happened, in a sentence.")
    next_step: str = Field("", description="What to do, in a sentence.")
    permanent: bool = Field(True, description="Whether another attempt would fail as well.")
    log: str = Field("", description="The last lines of the measuring process.")


class RowsForm(BaseModel):
    """The rows of a part."""

    rows: bytes = Field(description="The rows, as Parquet.")
    record: str = Field(description="How they were measured, as JSON.")


class Hello(TypedDict):
    """The versions of the site, and whose token the request has."""

    protocol: int
    version: str
    token: str


class Offer(TypedDict):
    """A benchmark, and the path of its archive below this interface."""

    slug: str
    format: str
    digest: str
    path: str


class PartName(TypedDict):
    """What names a part of a run, and the number of its items."""

    relation: str
    template: int
    items: int


class HandedOut(TypedDict):
    """A part of a run under a lease."""

    lease: str
    run: int
    hub_id: str
    commit: str
    adapter_commit: str
    settings: Json
    benchmark: Offer
    part: PartName
    positions: float
    lease_seconds: float


Continued = TypedDict("Continued", {"continue": bool})
Continued.__doc__ = "Whether the worker should go on."


class Stored(TypedDict):
    """Whether the rows are stored."""

    stored: bool


class Taken(TypedDict):
    """Whether the part was taken back."""

    taken: bool


@routes.api_operation(list(READ), "work/", response=Hello)
def hello_json(request: TokenRequest) -> Hello:
    """Return the version of the interface and whose token it is, so that a worker can check both at its start."""
    return {"protocol": PROTOCOL, "version": package_version(), "token": request.auth.name}


@routes.post("work/claim", response={200: HandedOut, 204: None})
def claim_json(request: TokenRequest, body: MachineBody) -> HttpResponse:
    """Hand out a part of a run under a lease; the status is 204 if there is none for this worker."""
    part = elsewhere.claim(request.auth, body.machine)
    return JsonResponse(handout(part, request.auth).to_json()) if part else HttpResponse(status=204)


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
        part=part.covered,
        positions=part.work,
        lease_seconds=LEASE.total_seconds(),
        adapter_commit=run.model.adapter_commit,
    )


@routes.api_operation(list(READ), "work/benchmarks/{slug:digest}.tar.gz", openapi_extra={"responses": {200: ARCHIVE}})
def benchmark_archive(request: TokenRequest, digest: DigestPath) -> FileResponse:
    """Return the files of a benchmark as an archive with one folder."""
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


@routes.post("work/{str:lease}/renew", response=Continued)
def renew_json(request: TokenRequest, body: ShareBody, lease: LeasePath) -> Continued:
    """Extend a lease; tell the worker to stop if the run has ended or the part is another worker's."""
    try:
        return {"continue": elsewhere.renew(elsewhere.leased(lease, request.auth, elsewhere.LONGEST), body.share)}
    except elsewhere.LeaseLost:
        return {"continue": False}


@routes.post("work/{str:lease}/rows", response=Stored, openapi_extra={"requestBody": form_body(RowsForm)})
def rows_json(request: TokenRequest, lease: LeasePath) -> Stored:
    """Check and store the rows of a part, sent as a form with the fields rows and record."""
    part = elsewhere.leased(lease, request.auth)
    if int(request.META.get("CONTENT_LENGTH") or 0) > ROWS_LIMIT + RECORD_LIMIT:
        raise BadInput(f"The rows are larger than {ROWS_LIMIT:,} bytes.", "Report it: rows of a part are never larger.")
    rows, record = request.FILES.get("rows"), request.POST.get("record")
    if not isinstance(rows, UploadedFile) or rows.file is None or not isinstance(record, str):
        raise BadInput("There are no rows.", "Send a form with the file rows (Parquet) and the text record (JSON).")
    elsewhere.accept(part, request.auth, rows.file, record)
    return {"stored": True}


@routes.post("work/{str:lease}/fail", response=Taken)
def fail_json(request: TokenRequest, body: FailureBody, lease: LeasePath) -> Taken:
    """Take a part back that the worker could not measure, with the reason."""
    error = ProbingError(body.message[:1000], body.next_step[:1000])
    error.code = body.code if ERROR_CODE.fullmatch(body.code) else "internal"
    error.permanent = body.permanent
    error.log = body.log[:20_000]
    elsewhere.fail(elsewhere.leased(lease, request.auth), error)
    return {"taken": True}


@routes.post("work/{str:lease}/release", response=Taken)
def release_json(request: TokenRequest, lease: LeasePath) -> Taken:
    """Take a part back from a worker that has to stop; this does not count as an attempt."""
    RunPart.objects.release(elsewhere.leased(lease, request.auth))
    return {"taken": True}
