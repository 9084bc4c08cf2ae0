"""The command of lm-evaluation-harness that measures the same as a run."""

from dataclasses import asdict
from typing import Any

import pytest

from probing.harness.harness_command import harness_command, harness_words
from probing.settings import Settings
from probing.start_token import StartToken, TokenizerFacts

ALL = (0, 1, 2)
FACTS = TokenizerFacts("BPE", 300, False, False, {}, StartToken("eos", 2, "</s>", "eos"))
HUB = {"id": "org/name", "kind": "causal", "source": "hub", "commit": "c0ffee", "tokenizer": asdict(FACTS)}


def record(slug: str = "bear", model: dict[str, Any] = HUB, **settings: Any) -> dict[str, Any]:
    chosen = Settings(**{"templates": ALL, **settings})
    return {"model": model, "benchmark": {"slug": slug}, "probe": chosen.probe, "settings": chosen.to_json()}


def test_the_command_names_model_commit_and_number_format() -> None:
    equivalent = harness_command(record())
    assert equivalent is not None
    assert equivalent["command"] == (
        "lm_eval --model hf --model_args pretrained=org/name,revision=c0ffee,dtype=float32 --tasks bear"
    )
    assert equivalent["differences"] == []


@pytest.mark.parametrize(
    ("model", "settings", "words"),
    [
        (HUB, {"start": "eos"}, "dtype=float32,prefix_token_id=2 --tasks"),
        (HUB, {"dtype": "bfloat16"}, "dtype=bfloat16,softmax_dtype=float32"),
        ({**HUB, "source": "gguf", "id": "a b/x.gguf"}, {}, "'pretrained=a b,gguf_file=x.gguf,dtype=float32'"),
        (
            {**HUB, "source": "gguf", "id": "org/x", "files": {"x.Q4_1.gguf": "c0ffee"}},
            {},
            "pretrained=path/to,gguf_file=x.Q4_1.gguf,dtype=float32",
        ),
        (
            {**HUB, "source": "gguf", "id": "gguf:org/x:Q4_1", "files": {"x.Q4_1.gguf": "c0ffee"}},
            {},
            "pretrained=org/x,gguf_file=x.Q4_1.gguf,revision=c0ffee,dtype=float32",
        ),
        ({**HUB, "source": "folder", "id": "/models/x"}, {}, "pretrained=/models/x,dtype=float32"),
        (HUB, {"templates": (0, 2)}, "this run asked only 0 and 2."),
        (HUB, {"limit": 3}, "this run asked some of them"),
        (HUB, {"relations": ("P30",)}, "this run asked some of them"),
        (HUB, {"reduction": "mean"}, "this run took their mean"),
        (HUB, {"start": "none"}, "cannot leave out the start token"),
        ({**HUB, "kind": "masked"}, {}, "takes causal models only"),
        (HUB, {"protocol": "lm-eval"}, "Protocol of lm-evaluation-harness: all templates"),
    ],
)
def test_what_differs_is_said(model: dict[str, Any], settings: dict[str, Any], words: str) -> None:
    assert words in "\n".join(harness_words(record(model=model, **settings)))


def test_other_benchmarks_and_probes_have_no_words() -> None:
    assert harness_words(record("starter")) == harness_words(record(probe="cloze")) == []
