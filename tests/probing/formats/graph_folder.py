"""A folder with a small knowledge graph, to be spoilt by tests, and a check that reading it fails."""

import json
from pathlib import Path

import pytest

from probing.errors import BadBenchmark
from probing.formats.knowledge_graph import read


class GraphFolder:
    """A folder to spoil: change `files`, then `write()`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = {
            "relation_mapping.json": json.dumps({"capital": "The capital of {HEAD} is {TAIL}"}),
            "triples.tsv": "no\tcapital\tosl\nke\tcapital\tnai\npe\tcapital\tlim\n",
            "entities.tsv": "no\tNorway\tcountry\nke\tKenya\tcountry\npe\tPeru\tcountry\tandean\n"
            "osl\tOslo\nnai\tNairobi\tcity\nlim\tLima\tcity\n",
            "sampling.json": json.dumps({"samples": 3, "repetitions": 2}),
        }

    def write(self) -> Path:
        self.path.mkdir(exist_ok=True)
        for name, text in self.files.items():
            (self.path / name).write_text(text, encoding="utf-8")
        return self.path


def fault(folder: GraphFolder, message: str) -> None:
    with pytest.raises(BadBenchmark) as caught:
        read(folder.write())
    assert message in caught.value.message
    assert caught.value.next_step
