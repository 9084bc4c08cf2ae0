"""The catalog of benchmarks that are known by name: their sources, digests, licences and citations."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probing.benchmark import Benchmark
from probing.errors import BadBenchmark, BadInput, DigestMismatch
from probing.files.archives import fetch_archive
from probing.files.folders import new_folder
from probing.formats import FORMATS, format_of

# The benchmarks that ship with the project are inside the installed library, or beside it in a checkout.
PACKAGED = Path(__file__).resolve().parent / "embedded"
EMBEDDED = PACKAGED if PACKAGED.is_dir() else PACKAGED.parents[1] / "fixtures"


@dataclass(frozen=True)
class KnownBenchmark:
    """A benchmark of the catalog.

    `settings`: the default settings of a run on the site (fields of `Settings`).
    `archive`: address of a .tar.gz of the pinned `commit`, of which only `paths` (below its top folder) are kept;
    empty for a benchmark that ships with this project in `fixtures/`.
    `digest`: that of the benchmark as its format reads it; empty for what ships with this project.
    """

    slug: str
    title: str
    format: str
    description: str
    licence: str
    probe: str = "multiple_choice"
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    commit: str = ""
    archive: str = ""
    paths: tuple[str, ...] = ()
    digest: str = ""
    citation: str = ""

    def read(self, folder: Path) -> Benchmark:
        """Read the benchmark in `folder`, under the name, title and probe of the catalog."""
        return replace(FORMATS[self.format](folder), slug=self.slug, title=self.title, probe=self.probe)


BEAR_COMMIT = "3818fdc029d335b603631255c135d2a87b0bd24d"
BEAR_CITATION = """\
@inproceedings{wiland2024bear,
  title = {{BEAR}: A Unified Framework for Evaluating Relational Knowledge in Causal and Masked Language Models},
  author = {Wiland, Jacek and Ploner, Max and Akbik, Alan},
  booktitle = {Findings of the Association for Computational Linguistics: NAACL 2024},
  year = {2024},
}
"""

STEST_COMMIT = "254df820c42bb26d225d433ae3d7bd3675e0743c"
STEST_CITATION = """\
@inproceedings{huang2023specific,
  title = {Can Language Models Be Specific? How?},
  author = {Huang, Jie and Chang, Kevin Chen-Chuan and Xiong, Jinjun and Hwu, Wen-mei},
  booktitle = {Findings of the Association for Computational Linguistics: ACL 2023},
  year = {2023},
}
"""

LLMKG_COMMIT = "b6616323dd3e4edeecbaab9d7a8a732f3f4fcf8f"
LLMKG_CITATION = """\
@misc{gomez2022llmkg,
  title = {Evaluating Language Models for Common Sense Reasoning on Knowledge Graphs using Perplexity distributions},
  author = {Gomez, Federico Reyes},
  howpublished = {https://github.com/frg100/llmkg},
}
"""

GEOGRAPHY_CITATION = """\
@inproceedings{ramrakhiyani2023geography,
  title = {Zero-shot Probing of Pretrained Language Models for Geography Knowledge},
  author = {Ramrakhiyani, Nitin and Varma, Vasudeva and Palshikar, Girish K. and Pawar, Sachin},
  booktitle = {Proceedings of the 4th Workshop on Evaluation and Comparison of {NLP} Systems (Eval4NLP)},
  year = {2023},
}
"""

CATALOG: dict[str, KnownBenchmark] = {
    "starter": KnownBenchmark(
        slug="starter",
        title="Starter",
        format="bear",
        description="A small benchmark that ships with Clozeboard: common facts over eleven domains.",
        licence="CC0 1.0; names from GeoNames (CC BY 4.0) and Unicode CLDR (Unicode License v3)",
        settings={"templates": (0, 1, 2)},
    ),
    "culture": KnownBenchmark(
        slug="culture",
        title="Culture pairs",
        format="dlama",
        description="Facts about the countries of three pairs of cultures, in English, Arabic, Korean and Spanish.",
        licence="CC0 1.0; names from GeoNames (CC BY 4.0) and Unicode CLDR (Unicode License v3)",
        probe="ranking",
    ),
    "bear": KnownBenchmark(
        slug="bear",
        title="BEAR",
        format="bear",
        description="60 relations from Wikidata with balanced answer spaces and three templates each.",
        licence="none stated in the repository",
        settings={"templates": (0, 1, 2)},
        source="https://github.com/lm-pub-quiz/BEAR",
        commit=BEAR_COMMIT,
        archive=f"https://github.com/lm-pub-quiz/BEAR/archive/{BEAR_COMMIT}.tar.gz",
        paths=("BEAR", "relation_info.json"),
        digest="eed65ee0d50dc05809d2cbe737e6382865e9ef7f943bdb04bb5c9acea404cb1e",
        citation=BEAR_CITATION,
    ),
    "pairs": KnownBenchmark(
        slug="pairs",
        title="Starter pairs",
        format="stest",
        description="A small set that ships with Clozeboard: a finer and a coarser answer, which does a model prefer?",
        licence="CC0 1.0",
        probe="specificity",
    ),
    "stest": KnownBenchmark(
        slug="stest",
        title="S-TEST",
        format="stest",
        description="20,628 pairs of a finer and a coarser answer over five relations of Wikidata.",
        licence="Apache License 2.0",
        probe="specificity",
        source="https://github.com/jeffhj/S-TEST",
        commit=STEST_COMMIT,
        archive=f"https://github.com/jeffhj/S-TEST/archive/{STEST_COMMIT}.tar.gz",
        paths=("data",),
        digest="7fafe8eeee19dcb539806f52a1dbac2132ea7cc78b5375b5f7e90539fd568a45",
        citation=STEST_CITATION,
    ),
    "geography": KnownBenchmark(
        slug="geography",
        title="Geography",
        format="geography",
        description="2,362 sentences about places, 23 fact types; wording from Ramrakhiyani et al. 2023.",
        licence="CC0 1.0; names from GeoNames (CC BY 4.0) and Unicode CLDR (Unicode License v3)",
        probe="cloze",
        citation=GEOGRAPHY_CITATION,
    ),
    "graph": KnownBenchmark(
        slug="graph",
        title="Starter graph",
        format="knowledge_graph",
        description="A small graph that ships with Clozeboard: are true statements less perplexing than false ones?",
        licence="CC0 1.0; names from GeoNames (CC BY 4.0) and Unicode CLDR (Unicode License v3)",
        probe="perplexity",
        settings={"pll": "original"},
    ),
    "wn18rr": KnownBenchmark(
        slug="wn18rr",
        title="WN18RR",
        format="knowledge_graph",
        description="93,003 triples of WordNet over 11 relations, as sentences.",
        licence="MIT; content from WordNet 3.0 under its own licence",
        probe="perplexity",
        settings={"pll": "original"},
        source="https://github.com/frg100/llmkg",
        commit=LLMKG_COMMIT,
        archive=f"https://github.com/frg100/llmkg/archive/{LLMKG_COMMIT}.tar.gz",
        paths=("llmkg/data/WN18RR/text",),
        digest="a26f5884f62719fd017230cd6f297c049f72131843d7be98be6795c8fea2fbfc",
        citation=LLMKG_CITATION,
    ),
}


def known_benchmark(slug: str) -> KnownBenchmark:
    if slug not in CATALOG:
        raise BadInput(f"No benchmark is called {slug!r}.", f"Choose from: {', '.join(CATALOG)}.")
    return CATALOG[slug]


def benchmarks_folder() -> Path:
    """Return the folder of downloaded benchmarks: `benchmarks` in the folder that CLOZEBOARD_DATA names."""
    return Path(os.environ.get("CLOZEBOARD_DATA", "var")) / "benchmarks"


def open_benchmark(name: str | Path, data_dir: Path | None = None) -> Benchmark:
    """Open a benchmark by its slug, or else by its folder or archive; ./bear is a folder even if bear is a slug."""
    if not isinstance(name, str | Path):
        raise BadInput(f"{name!r:.80} is no benchmark.", f"Give a folder or one of: {', '.join(CATALOG)}.")
    if str(name) in CATALOG:
        return _open_known(CATALOG[str(name)], data_dir or benchmarks_folder())
    if not Path(name).exists():
        step = f"Give a folder or one of: {', '.join(CATALOG)}."
        raise BadInput(f"{name} is neither a folder nor a known benchmark.", step)
    return FORMATS[format_of(Path(name))](Path(name))


def _open_known(benchmark: KnownBenchmark, data_dir: Path) -> Benchmark:
    folder = data_dir / benchmark.slug if benchmark.archive else EMBEDDED / benchmark.slug
    if not folder.is_dir():
        step = f"Fetch it with: python -m probing download {benchmark.slug}, or give the folder that has it."
        raise BadInput(f"The benchmark {benchmark.slug} is not on this machine.", step)
    return benchmark.read(folder)


def download(slug: str, target: Path) -> Benchmark:
    """Download the benchmark into the folder `target` unless it is there; either way its digest is checked."""
    benchmark = known_benchmark(slug)
    if not benchmark.archive:
        raise BadInput(f"The benchmark {slug} ships with this project.", "There is nothing to download.")
    if target.is_dir() and any(target.iterdir()):
        return _checked(benchmark, target)
    with new_folder(target) as folder:
        fetch_archive(benchmark.archive, benchmark.paths, folder, _by_hand(benchmark))
        content = _checked(benchmark, folder)
    return content


def _checked(benchmark: KnownBenchmark, folder: Path) -> Benchmark:
    """Read the downloaded benchmark; raise `DigestMismatch` if its files are not those of the catalog."""
    step = "Download it again into an empty folder; if it stays so, the source has changed."
    try:
        content = benchmark.read(folder)
    except BadBenchmark as error:
        raise DigestMismatch(f"This is not the expected {benchmark.title}. {error.message}", step) from error
    if content.digest != benchmark.digest:
        actual, expected = content.digest[:12], benchmark.digest[:12]
        raise DigestMismatch(f"The files of {benchmark.title} have the digest {actual}, expected {expected}.", step)
    return content


def _by_hand(benchmark: KnownBenchmark) -> str:
    """Return the next step for people where the download fails."""
    return (
        f"Try again later, or download commit {benchmark.commit[:12]} of {benchmark.source} by hand, unpack it, "
        f"and use its folder (on the site: manage.py import_benchmark {benchmark.format} FOLDER)."
    )
