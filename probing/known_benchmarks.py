"""The benchmarks that are known by name: their sources, digests, licences and citations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.files.archives import fetch_archive, fetch_file
from probing.files.data_sets import HubFolder
from probing.formats import FORMATS

# The benchmarks that ship with the project are inside the installed library, or beside it in a checkout.
PACKAGED = Path(__file__).resolve().parent / "embedded"
EMBEDDED = PACKAGED if PACKAGED.is_dir() else PACKAGED.parents[1] / "fixtures"


@dataclass(frozen=True)
class Download:
    """What is fetched from one address: a file that is kept as it is, or with `paths` a .tar.gz or .zip.

    Of an archive only `paths` (below its top folder) are kept, in the folder `into` of the benchmark's folder.
    """

    address: str
    paths: tuple[str, ...] = ()
    into: str = ""

    def fetch(self, folder: Path, by_hand: str) -> None:
        target = folder / self.into
        target.mkdir(parents=True, exist_ok=True)
        if self.paths:
            fetch_archive(self.address, self.paths, target, by_hand)
        else:
            fetch_file(self.address, target, by_hand)


@dataclass(frozen=True)
class KnownBenchmark:
    """A benchmark of the catalog.

    `settings`: the default settings of a run on the site (fields of `Settings`).
    `commit`: the one of the repository `source` from which files are downloaded.
    `downloads`: none for a benchmark that ships with this project in `fixtures/`.
    `digest`: that of the benchmark as its format reads it; empty for what ships with this project, and where the
    project has never seen the files: then those of the first download are the ones that later ones must equal.
    `lacks_templates`: its source has none, so that those of the user or of this project are added.
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
    downloads: tuple[Download | HubFolder, ...] = ()
    digest: str = ""
    citation: str = ""
    lacks_templates: bool = False

    def read(self, folder: Path) -> Benchmark:
        """Read the benchmark in `folder`, under the name, title and probe of the catalog."""
        return replace(FORMATS[self.format](folder), slug=self.slug, title=self.title, probe=self.probe)


BEAR_SOURCE = "https://github.com/lm-pub-quiz/BEAR"
BEAR_DATA_SET = "https://huggingface.co/datasets/lm-pub-quiz/BEAR"  # its card states the licence
BEAR_LICENCE = "CC BY-SA 4.0 (the card of lm-pub-quiz/BEAR on the Hugging Face Hub; its repository states none)"
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

DLAMA_SOURCE = "https://github.com/AMR-KELEG/DLAMA"
DLAMA_COMMIT = "a3a722df86aa2eecc5c84a2b8e14e5a63a8c7128"
DLAMA_CITATION = """\
@inproceedings{keleg2023dlama,
  title = {{DLAMA}: A Framework for Curating Culturally Diverse Facts for Probing the Knowledge of Pretrained Language
           Models},
  author = {Keleg, Amr and Magdy, Walid},
  booktitle = {Findings of the Association for Computational Linguistics: ACL 2023},
  year = {2023},
}
"""

LLMKG_SOURCE = "https://github.com/frg100/llmkg"
LLMKG_COMMIT = "b6616323dd3e4edeecbaab9d7a8a732f3f4fcf8f"
LLMKG_CITATION = """\
@misc{gomez2022llmkg,
  title = {Evaluating Language Models for Common Sense Reasoning on Knowledge Graphs using Perplexity distributions},
  author = {Gomez, Federico Reyes},
  howpublished = {https://github.com/frg100/llmkg},
}
"""
LLMKG_ARCHIVE = f"{LLMKG_SOURCE}/archive/{LLMKG_COMMIT}.tar.gz"

# The triples are from their authors; the names of entities and the sentences of relations are from llmkg.
FB15K237_SOURCE = "https://www.microsoft.com/en-us/download/details.aspx?id=52312"
FB15K237_ARCHIVE = "https://download.microsoft.com/download/8/7/0/8700516A-AB3D-4850-B4BB-805C515AECE1/FB15K-237.2.zip"
FB15K237_FOLDER = "llmkg/data/FB15k-237"
FB15K237_WORDS = ("relation_mapping.json", "entity2wikidata.json")
FB15K237_CITATION = """\
@inproceedings{toutanova2015observed,
  title = {Observed versus Latent Features for Knowledge Base and Text Inference},
  author = {Toutanova, Kristina and Chen, Danqi},
  booktitle = {Proceedings of the 3rd Workshop on Continuous Vector Space Models and their Compositionality},
  year = {2015},
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
        licence=BEAR_LICENCE,
        settings={"templates": (0, 1, 2)},
        source=BEAR_SOURCE,
        commit=BEAR_COMMIT,
        downloads=(Download(f"{BEAR_SOURCE}/archive/{BEAR_COMMIT}.tar.gz", ("BEAR", "relation_info.json")),),
        digest="eed65ee0d50dc05809d2cbe737e6382865e9ef7f943bdb04bb5c9acea404cb1e",
        citation=BEAR_CITATION,
    ),
    "bear-big": KnownBenchmark(
        slug="bear-big",
        title="BEAR-big",
        format="bear",
        description="78 relations from Wikidata with 40,915 items, of which BEAR is a balanced selection.",
        licence=BEAR_LICENCE,
        settings={"templates": (0, 1, 2)},
        source=BEAR_SOURCE,
        commit=BEAR_COMMIT,
        downloads=(Download(f"{BEAR_SOURCE}/archive/{BEAR_COMMIT}.tar.gz", ("BEAR-big", "relation_info.json")),),
        digest="1cdecec5f6ecbd6dccfed18a213461fc9db64397177d12afe5cfb5857959ca98",
        citation=BEAR_CITATION,
    ),
    "bear-hub": KnownBenchmark(
        slug="bear-hub",
        title="BEAR (Hub)",
        format="bear_hub",
        description="BEAR as its data set on the Hugging Face Hub has it: without Wikidata ids and domains.",
        licence="CC BY-SA 4.0",
        settings={"templates": (0, 1, 2)},
        source=BEAR_DATA_SET,
        downloads=(HubFolder("lm-pub-quiz/BEAR", "BEAR"),),
        citation=BEAR_CITATION,
    ),
    "bear-big-hub": KnownBenchmark(
        slug="bear-big-hub",
        title="BEAR-big (Hub)",
        format="bear_hub",
        description="BEAR-big as its data set on the Hugging Face Hub has it: without Wikidata ids and domains.",
        licence="CC BY-SA 4.0",
        settings={"templates": (0, 1, 2)},
        source=BEAR_DATA_SET,
        downloads=(HubFolder("lm-pub-quiz/BEAR", "BEAR_big"),),
        citation=BEAR_CITATION,
    ),
    "dlama": KnownBenchmark(
        slug="dlama",
        title="DLAMA-v1",
        format="dlama",
        description="Facts from Wikidata about three pairs of cultures, in English, Arabic, Korean and Spanish.",
        licence="none stated in the repository; facts and labels from Wikidata (CC0 1.0)",
        probe="ranking",
        source=DLAMA_SOURCE,
        commit=DLAMA_COMMIT,
        downloads=(Download(f"{DLAMA_SOURCE}/raw/{DLAMA_COMMIT}/data/dlama-v1.tar.gz"),),
        citation=DLAMA_CITATION,
        lacks_templates=True,
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
        downloads=(Download(f"https://github.com/jeffhj/S-TEST/archive/{STEST_COMMIT}.tar.gz", ("data",)),),
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
        description="A small graph that ships with Clozeboard: does a model find true statements more plausible?",
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
        source=LLMKG_SOURCE,
        commit=LLMKG_COMMIT,
        downloads=(Download(LLMKG_ARCHIVE, ("llmkg/data/WN18RR/text",)),),
        digest="a26f5884f62719fd017230cd6f297c049f72131843d7be98be6795c8fea2fbfc",
        citation=LLMKG_CITATION,
    ),
    "fb15k237": KnownBenchmark(
        slug="fb15k237",
        title="FB15k-237",
        format="knowledge_graph",
        description="310,116 triples of Freebase over 237 relations, as sentences.",
        licence="triples as Microsoft's download page states (content from Freebase); names and sentences MIT",
        probe="perplexity",
        settings={"pll": "original"},
        source=FB15K237_SOURCE,
        commit=LLMKG_COMMIT,
        downloads=(
            Download(LLMKG_ARCHIVE, tuple(f"{FB15K237_FOLDER}/{name}" for name in FB15K237_WORDS)),
            Download(FB15K237_ARCHIVE, ("train.txt", "valid.txt", "test.txt"), into=FB15K237_FOLDER),
        ),
        citation=FB15K237_CITATION,
    ),
}


def known_benchmark(slug: str) -> KnownBenchmark:
    if slug not in CATALOG:
        raise BadInput(f"No benchmark is called {slug!r}.", f"Choose from: {', '.join(CATALOG)}.")
    return CATALOG[slug]
