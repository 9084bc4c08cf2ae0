"""LAMA's rule for prompts: a template is filled verbatim, and its first letter is not put into upper case.

The formats of LAMA's family (LAMA, S-TEST, DLAMA) follow it. It is part of a benchmark's digest, and so of its version.
"""

import hashlib
from dataclasses import replace

from probing.benchmark import Benchmark

RULE = "prompts are verbatim"


def verbatim(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with verbatim prompts, as a version of its own; its digest was that of its files alone."""
    digest = hashlib.sha256(f"{benchmark.digest}\n{RULE}".encode()).hexdigest()
    return replace(_with_rule(benchmark, digest, verbatim=True), files_digest=benchmark.digest)


def with_upper_case(benchmark: Benchmark) -> Benchmark:
    """Return the version that the same files made until this rule came, with the first letters in upper case.

    Returns the benchmark itself where its prompts are not verbatim.
    """
    return _with_rule(benchmark, benchmark.files_digest, verbatim=False) if benchmark.files_digest else benchmark


def _with_rule(benchmark: Benchmark, digest: str, *, verbatim: bool) -> Benchmark:
    relations = tuple(replace(relation, verbatim=verbatim) for relation in benchmark.relations)
    return replace(benchmark, digest=digest, version=digest[:12], relations=relations)
