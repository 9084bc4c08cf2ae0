"""Hostile model repositories, each made from a small honest one by one change, with the code that must refuse it.

`ZOO` maps names to `Hostile`: `build(name, folder)` makes the files, and `serve(name, hub, folder)` offers them at the
test hub. A repository that does something, were it believed, would make a file named by the variable `MARKER`.
"""

import json
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

from safetensors.numpy import load_file, save_file

from tests.hub.local_hub import Hub, Repository
from tests.tiny_models import build_gpt2, set_keys

MARKER = "CLOZEBOARD_ZOO_MARKER"
INDEX = "model.safetensors.index.json"
CODE = f"import os, pathlib\npathlib.Path(os.environ[{MARKER!r}]).touch()\n"


class Payload:
    """An object whose pickle runs a command when it is read."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (f'touch "${MARKER}"',)


@dataclass(frozen=True)
class Hostile:
    """A hostile repository.

    `code`: of the error that must end it, empty where it does no harm before somebody asks for its chats. `spoil`
    changes the folder of an honest model. `offer` changes how the hub serves it; such a repository is harmless as a
    folder. `local`: it cannot exist at a hub.
    """

    code: str
    spoil: Callable[[Path], Any] = lambda folder: None
    offer: Callable[[Repository], Any] | None = None
    local: bool = False


def build(name: str, folder: Path) -> Path:
    """Make the files of a repository of `ZOO` in a folder that does not exist yet."""
    if not (folder.parent / "honest").exists():
        build_gpt2(folder.parent / "honest")
    copytree(folder.parent / "honest", folder)
    ZOO[name].spoil(folder)
    return folder


def serve(name: str, hub: Hub, folder: Path) -> str:
    """Offer a repository of `ZOO`, built by `build`, at a hub; return its id."""
    hub_id = f"zoo/{name.replace(' ', '-')}"
    repository = hub.add(hub_id, folder)
    if offer := ZOO[name].offer:
        offer(repository)
    return hub_id


def config(file: str = "config.json", **keys: Any) -> Callable[[Path], Any]:
    """Return a change that sets keys of a JSON file."""

    def spoil(folder: Path) -> None:
        set_keys(folder, file, **keys)
        for code in ("modeling_evil.py", "configuration_evil.py", "evil.py"):
            (folder / code).write_text(CODE)

    return spoil


def regular_expression(pattern: str) -> Callable[[Path], Any]:
    """Return a change that lets the tokenizer split texts by a regular expression."""

    def spoil(folder: Path) -> None:
        path = folder / "tokenizer.json"
        tokenizer = json.loads(path.read_text())
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, tokenizer["pre_tokenizer"]]}
        path.write_text(json.dumps(tokenizer))

    return spoil


def header(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], Any]:
    """Return a change of the header of the weights; the numbers stay as they are."""

    def spoil(folder: Path) -> None:
        path = folder / "model.safetensors"
        content = path.read_bytes()
        end = 8 + int.from_bytes(content[:8], "little")
        tensors = json.loads(content[8:end])
        change(tensors)
        new = json.dumps(tensors).encode()
        path.write_bytes(len(new).to_bytes(8, "little") + new + content[end:])

    return spoil


def overlap(tensors: dict[str, Any]) -> None:
    first, second = [name for name in tensors if name != "__metadata__"][:2]
    tensors[second] = tensors[first]


def enlarge(tensors: dict[str, Any]) -> None:
    tensors["transformer.wte.weight"]["shape"] = [10**6, 10**6]


def long_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes((10**10).to_bytes(8, "little") + path.read_bytes()[8:])


def index(shard: str) -> Callable[[Path], Any]:
    """Return a change that replaces the weights by an index of one file, beside a pickle that runs a command."""

    def spoil(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Payload()))
        (folder / INDEX).write_text(json.dumps({"weight_map": dict.fromkeys(weights, shard)}))

    return spoil


def link(folder: Path) -> None:
    outside = folder.parent / "private.json"
    outside.write_text((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").unlink()
    (folder / "tokenizer_config.json").symlink_to(outside)


def device(folder: Path) -> None:
    (folder / "generation_config.json").unlink(missing_ok=True)
    (folder / "generation_config.json").symlink_to("/dev/zero")


def experts(folder: Path) -> None:
    config(model_type="mixtral", architectures=["MixtralForCausalLM"], num_local_experts=10**9)(folder)


def huge_json(folder: Path) -> None:
    with (folder / "config.json").open("r+b") as file:
        file.truncate(10**9)


def deep_json(folder: Path) -> None:
    (folder / "config.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000)


def not_numbers(folder: Path) -> None:
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["transformer.ln_f.weight"][:] = float("nan")
    save_file(weights, path, metadata={"format": "pt"})


def template(text: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / "chat_template.jinja").write_text(text)


CYCLE = "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}"
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
MULTIPLYING = "{{ 'a' * 8000000000 }}"
REACHING = "{{ messages.__class__.__mro__[1].__subclasses__() }}"
EVIL = {"AutoConfig": "configuration_evil.Config", "AutoModelForCausalLM": "modeling_evil.Model"}

ZOO: dict[str, Hostile] = {
    "slow regular expression": Hostile("broken-tokenizer", regular_expression("a*a*a*a*b$")),
    "panicking regular expression": Hostile("broken-tokenizer", regular_expression("(a+)+$")),
    "huge dimensions": Hostile("bad-config", config(n_embd=10_000)),
    "dimensions of other weights": Hostile("bad-config", config(n_embd=400, n_head=2)),
    "huge vocabulary": Hostile("bad-config", config(vocab_size=10**9)),
    "endless layers": Hostile("bad-config", config(n_layer=10**9)),
    "some layers too many": Hostile("bad-weights", config(n_layer=20)),
    "endless experts": Hostile("bad-config", experts),
    "endless positions": Hostile("bad-config", config(n_positions=10**12)),
    "overlapping tensors": Hostile("bad-weights", header(overlap)),
    "lying shapes": Hostile("bad-weights", header(enlarge)),
    "header of ten gigabytes": Hostile("bad-weights", long_header),
    "shards outside": Hostile("unsafe-model", index("../honest/model.safetensors")),
    "index of a pickle": Hostile("unsafe-model", index("pytorch_model.bin")),
    "link outside": Hostile("unsafe-link", link, local=True),
    "link to a device": Hostile("unsafe-link", device, local=True),
    "code of an unknown type": Hostile("unsafe-model", config(model_type="evil", auto_map=EVIL)),
    "code in a nested config": Hostile("unsafe-model", config(text_config={"auto_map": EVIL})),
    "code of the tokenizer": Hostile(
        "unsafe-model", config("tokenizer_config.json", nested={"auto_map": {"AutoTokenizer": ["evil.T", None]}})
    ),
    "kernels": Hostile("unsafe-model", config(use_kernels=True)),
    "own attention": Hostile("unsafe-model", config(_attn_implementation_internal="someone/kernels:forward")),
    "json of a gigabyte": Hostile("bad-config", huge_json),
    "deep json": Hostile("bad-config", deep_json),
    "weights that are not numbers": Hostile("non-finite-scores", not_numbers),
    "cyclic template": Hostile("", template(CYCLE)),
    "endless template": Hostile("", template(ENDLESS)),
    "multiplying template": Hostile("", template(MULTIPLYING)),
    "template of classes": Hostile("", template(REACHING)),
    "huge template": Hostile("bad-config", template("x" * 300_000)),
    "size below zero": Hostile("wrong-sizes", offer=lambda served: served.sizes.update({"model.safetensors": -1})),
    "wrong size": Hostile("wrong-sizes", offer=lambda served: served.sizes.update({"tokenizer.json": 1000})),
    "slow hub": Hostile("slow-download", offer=lambda served: served.slow.add("tokenizer.json")),
    "endless download": Hostile("wrong-sizes", offer=lambda served: served.endless.add("tokenizer.json")),
}
