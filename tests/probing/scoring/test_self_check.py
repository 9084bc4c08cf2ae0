"""A self-check that passed is remembered for the same network only; whatever is wrong with the memory checks again."""

from pathlib import Path
from typing import Any

import pytest
import torch

from probing.files.gguf_cache import GIGABYTES
from probing.language_model import Scoring
from probing.scoring import causal, self_check
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load
from probing.scoring.masked import MaskedModel
from tests.probing.scoring.compare import REQUESTS, answers
from tests.probing.scoring.hybrid_networks import HYBRID
from tests.tiny_models import build_gpt2, byte_level_bpe, save, set_keys


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The ways that self-checks find, one for each check that is made; the memory is empty."""
    made: list[str] = []
    for kind in (CausalModel, MaskedModel):

        def noted(model: HFModel, check: Any = kind.check) -> str:
            made.append(check(model))
            return made[-1]

        monkeypatch.setattr(kind, "check", noted)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(GIGABYTES, "1")
    return made


def kept(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "clozeboard" / "checks").glob("*"))


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_same_network_is_checked_once_and_gives_the_same_scores(
    name: str, model_folders: dict[str, Path], checks: list[str]
) -> None:
    first, second = (load(str(model_folders[name]), device="cpu") for _ in range(2))
    assert checks == ["fast"]
    assert second.use_fast_path
    one, other = (answers(model, REQUESTS, Scoring()) for model in (first, second))
    assert all((a.reduce() == b.reduce()).all() for a, b in zip(one, other, strict=True))


def test_a_network_whose_cache_is_continued_is_checked_once(tmp_path: Path, checks: list[str]) -> None:
    tokenizer = byte_level_bpe(start="<s>")
    folder = save(tmp_path / "mamba", lambda: HYBRID["mamba"](len(tokenizer)), tokenizer, 0)
    first, second = (load(str(folder), device="cpu") for _ in range(2))
    assert checks == ["states"]
    assert second.continues_states and not second.use_fast_path
    one, other = (answers(model, REQUESTS, Scoring()) for model in (first, second))
    assert all((a.reduce() == b.reduce()).all() for a, b in zip(one, other, strict=True))


def test_other_weights_or_another_config_are_checked_again(gpt2: Path, tmp_path: Path, checks: list[str]) -> None:
    load(str(gpt2), device="cpu")
    load(str(build_gpt2(tmp_path / "other", seed=1)), device="cpu")
    set_keys(gpt2, "config.json", layer_norm_epsilon=1e-4)
    load(str(gpt2), device="cpu")
    assert checks == ["fast"] * 3
    assert len(kept(tmp_path)) == 3


def test_another_number_format_version_or_processor_is_checked_again(
    gpt2: Path, checks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    load(str(gpt2), device="cpu")
    load(str(gpt2), device="cpu", dtype="bfloat16")
    assert len(checks) == 2
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "another")
    load(str(gpt2), device="cpu")
    assert len(checks) == 3
    monkeypatch.setattr(self_check, "version", lambda name: f"{name} 99")
    load(str(gpt2), device="cpu")
    assert len(checks) == 4


def test_a_failed_check_is_made_again(gpt2: Path, tmp_path: Path, checks: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(causal.CausalModel, "_difference", lambda *_: "off by 1 in the self-check")
        notes = [load(str(gpt2), device="cpu").usage.notes for _ in range(2)]
    assert checks == ["", ""]
    assert all("scored with the reference implementation" in note for (note,) in notes)
    assert kept(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff\xfe"])
def test_a_damaged_memory_is_not_believed(content: bytes, gpt2: Path, tmp_path: Path, checks: list[str]) -> None:
    load(str(gpt2), device="cpu")
    (path,) = kept(tmp_path)
    path.write_bytes(content)
    load(str(gpt2), device="cpu")
    assert len(checks) == 2
    assert path.read_text() == "fast"


def test_a_folder_that_others_can_write_to_is_not_believed(gpt2: Path, tmp_path: Path, checks: list[str]) -> None:
    load(str(gpt2), device="cpu")
    (path,) = kept(tmp_path)
    path.parent.chmod(0o777)
    load(str(gpt2), device="cpu")
    assert len(checks) == 2


def test_no_memory_is_no_fault(gpt2: Path, tmp_path: Path, checks: list[str]) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    for _ in range(2):
        assert load(str(gpt2), device="cpu").use_fast_path
    assert len(checks) == 2


def test_where_no_networks_are_kept_no_check_is_remembered(
    gpt2: Path, tmp_path: Path, checks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    load(str(gpt2), device="cpu")
    monkeypatch.setenv(GIGABYTES, "0")
    load(str(gpt2), device="cpu")
    assert len(checks) == 2
    (path,) = kept(tmp_path)
    path.unlink()
    load(str(gpt2), device="cpu")
    assert kept(tmp_path) == []


def test_only_what_passed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(GIGABYTES, "1")
    self_check.remember({"a": 1}, "")
    assert (self_check.recall({"a": 1}), kept(tmp_path)) == ("", [])
    self_check.remember({"a": 1}, "fast")
    assert self_check.recall({"a": 1}) == "fast"
    assert self_check.recall({"a": 2}) == ""
