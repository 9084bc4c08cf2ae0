"""Small models and small benchmarks, with which every exhibit of the papers can be measured."""

import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from probing.catalog import EMBEDDED, open_benchmark
from probing.papers import paper_runs
from probing.papers.paper_runs import Choices
from tests.conftest import BearFolder
from tests.probing.formats.mlama_folder import MlamaFolder, triple
from tests.tiny_models import SENTENCES, build_bert, build_gpt2, byte_level_bpe, word_piece

CITIES = [("Oslo", "Norway"), ("Bergen", "Norway"), ("Nairobi", "Kenya"), ("Mombasa", "Kenya")]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """A masked model and a causal one with a chat template; answers of the small pairs are single tokens of both."""
    folder = tmp_path_factory.mktemp("models")
    pairs = [
        json.loads(line) for path in (EMBEDDED / "pairs").glob("*_*.jsonl") for line in path.open(encoding="utf-8")
    ]
    words = sorted({pair[name] for pair in pairs for name in ("obj_label", "obj2_label")})
    sentences = [*SENTENCES, *[" ".join(words)] * 3]
    bytes_in_pairs = byte_level_bpe(sentences=sentences, vocabulary=3000)
    bytes_in_pairs.chat_template = "{% for message in messages %}{{ message.content }}\n{% endfor %}"
    encoder = build_bert(folder / "encoder", 0, word_piece(sentences, first=20))
    return str(encoder), str(build_gpt2(folder / "generator", 0, bytes_in_pairs))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder in the format of each benchmark that the papers ask."""
    folder = tmp_path_factory.mktemp("data")
    for pair in (path for path in (EMBEDDED / "culture").iterdir() if (path / "dlama").is_dir()):
        for name in ("dlama", "dlama_raw"):
            shutil.copytree(pair / "dlama", folder / "dlama" / pair.name / name)
    shutil.copytree(EMBEDDED / "culture" / "templates", folder / "dlama" / "templates")
    return {
        "bear": BearFolder(folder / "bear").write(),
        "trex": _trex(folder / "trex"),
        "mlama": _mlama(folder / "mlama"),
        "dlama": folder / "dlama",
        "stest": EMBEDDED / "pairs",
        "fb15k237": EMBEDDED / "graph",
        "wn18rr": EMBEDDED / "graph",
    }


@pytest.fixture(scope="session")
def choices(models: tuple[str, ...], data: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Choices:
    out = tmp_path_factory.mktemp("out")
    return Choices(out, models, data, sample=3, device="cpu", corrector="none", progress=False)


@pytest.fixture(scope="session", autouse=True)
def read_once() -> Iterator[None]:
    """Read each benchmark once for all exhibits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper_runs, "open_benchmark", cache(open_benchmark))
        yield


def _trex(folder: Path) -> Path:
    folder.mkdir()
    relation = {"relation": "P36", "template": "[X] is a city in [Y] .", "type": "1-1"}
    (folder / "relations.jsonl").write_text(json.dumps(relation) + "\n")
    # Whatever a model chooses, it is right once, so that there is something to lose.
    lines = [{"sub_label": "Oslo", "obj_label": country} for country in ("Norway", "Kenya")]
    (folder / "P36.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def _mlama(folder: Path) -> Path:
    small = MlamaFolder(folder)
    facts = [triple(number, city, f"Q{number}", country) for number, (city, country) in enumerate(CITIES)]
    for language in ("ar", "en", "es", "ko"):
        small.templates[language] = [
            {"relation": predicate, "template": "[X] belongs to [Y]."} for predicate in ("P17", "P140")
        ]
        small.lists |= {f"{language}/{predicate}": facts for predicate in ("P17", "P140")}
    return small.write()
