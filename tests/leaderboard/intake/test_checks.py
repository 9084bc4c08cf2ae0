import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.intake import checks
from leaderboard.intake.checks import RULES, RULES_WITHOUT_ADAPTER, Check, Examination, examine
from leaderboard.models import Benchmark, Model, Run
from probing.catalog import open_benchmark
from probing.errors import ProbingError
from probing.files.listing import Listing
from probing.files.weights import Tensor
from probing.plan import plan_of
from probing.settings import Settings
from tests.hub.local_hub import Hub
from tests.probing.scoring.seq2seq import build
from tests.probing.wrapped_models import save_wrapped, text_parameters

Outcome = Callable[..., dict[str, Check]]
Spoil = Callable[[Path], object]
STARTER = open_benchmark("starter")


def config(file: str = "config.json", **keys: Any) -> Spoil:
    """Return a change that adds keys to a JSON file of a model's folder."""

    def change(folder: Path) -> None:
        (folder / file).write_text(json.dumps(json.loads((folder / file).read_text()) | keys))

    return change


@pytest.fixture
def spoilt(local_hub: Hub, tiny_models: dict[str, Path], tmp_path: Path) -> Callable[[Spoil], None]:
    """Puts a changed copy of the causal model at the hub as org/spoilt."""

    def copy(change: Spoil) -> None:
        folder = shutil.copytree(tiny_models["org/causal"], tmp_path / "spoilt")
        change(folder)
        local_hub.add("org/spoilt", folder)

    return copy


@pytest.fixture
def outcome(small: Benchmark) -> Outcome:
    def examined(hub_id: str, submitter: str = "") -> dict[str, Check]:
        examination = examine(Examination(hub_id, small, plan_of(STARTER, Settings()), submitter))
        return {check.name: check for check in examination.checks}

    return examined


@pytest.mark.parametrize("hub_id", ["org/causal", "org/masked", "causal"])
def test_a_good_model_passes_every_check(outcome: Outcome, local_hub: Hub, hub_id: str) -> None:
    checks = outcome(hub_id)
    assert {check.state for check in checks.values()} == {"ok"}
    assert len(checks) == len(RULES_WITHOUT_ADAPTER)
    assert not local_hub.downloaded("model.safetensors")


def test_a_malformed_id_is_refused_and_the_rest_skipped(outcome: Outcome) -> None:
    malformed = ("", "a b", "org/", "/name", "org/name/more", "../etc", "org/..", "https://x.org/a", "a/b--c", "é/ü")
    for found in map(outcome, malformed):
        assert found["well-formed id"].state == "failed"
        assert "org/name" in found["well-formed id"].next_step
        rest = {check.state for name, check in found.items() if name != "well-formed id"}
        assert rest == {"skipped"}


def test_a_missing_model_is_refused(outcome: Outcome, local_hub: Hub) -> None:
    check = outcome("org/nothing")["exists"]
    assert (check.state, check.code) == ("failed", "model-not-found")


def test_a_hub_that_answers_with_an_error_is_a_warning_and_no_failure(outcome: Outcome, local_hub: Hub) -> None:
    local_hub.broken = 503
    checks = outcome("org/causal")
    assert (checks["exists"].state, checks["exists"].code) == ("warning", "source-unavailable")
    assert "failed" not in {check.state for check in checks.values()}


def test_a_short_name_fails_at_once_where_the_hub_does_not_answer(outcome: Outcome) -> None:
    assert outcome("gpt2")["exists"].state == "failed"


@pytest.mark.parametrize("info", [{"gated": "auto"}, {"gated": "manual"}, {"private": True}, {"disabled": True}])
def test_gated_and_private_models_are_refused(
    outcome: Outcome, local_hub: Hub, tiny_models: dict[str, Path], info: dict[str, Any]
) -> None:
    local_hub.add("org/closed", tiny_models["org/causal"], **info)
    check = outcome("org/closed")["public"]
    assert (check.state, check.code) == ("failed", "gated")


FAULTS: list[tuple[str, str, Spoil]] = [
    ("weights format", "unsafe-model", lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin")),
    ("config readable", "bad-config", lambda f: (f / "config.json").write_text("{")),
    ("no custom code", "unsafe-model", config(model_type="brandnew", auto_map={"AutoModel": "modeling.Evil"})),
    ("no custom code", "unsafe-model", config("tokenizer_config.json", more={"auto_map": {"AutoTokenizer": ["x.Y"]}})),
    ("architecture known", "brandnew", config(model_type="brandnew")),
    ("kind", "BertForSequenceClassification", config(architectures=["BertForSequenceClassification"])),
    ("kind", "", config(architectures=[7])),
    ("fast tokenizer", "tokenizer.json", lambda f: (f / "tokenizer.json").unlink()),
    ("weights intact", "bad-weights", lambda f: (w := f / "model.safetensors").write_bytes(w.read_bytes()[:-4])),
    ("config fits", "bad-config", config(n_embd=10_000)),
    ("config fits", "bad-config", config(n_layer=10**6)),
]


@pytest.mark.parametrize(("name", "words", "fault"), FAULTS)
def test_a_fault_fails_its_check_before_the_weights_are_downloaded(
    outcome: Outcome, spoilt: Callable[[Spoil], None], local_hub: Hub, name: str, words: str, fault: Spoil
) -> None:
    spoilt(fault)
    check = outcome("org/spoilt")[name]
    assert check.state == "failed"
    assert words in f"{check.code} {check.message} {check.next_step}"
    assert not local_hub.downloaded("model.safetensors")


def test_after_a_failure_the_checks_that_do_not_need_it_still_run(
    outcome: Outcome, spoilt: Callable[[Spoil], None]
) -> None:
    _, _, pickled = FAULTS[0]
    spoilt(pickled)
    checks = outcome("org/spoilt")
    assert (checks["size"].state, checks["kind"].state) == ("skipped", "ok")


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_of_a_known_type_is_ignored_and_said(outcome: Outcome, spoilt: Callable[[Spoil], None], file: str) -> None:
    spoilt(config(file, auto_map={"AutoModel": "modeling.Own"}))
    check = outcome("org/spoilt")["no custom code"]
    assert check.state == "ok"
    assert f"{file} names code of its own (auto_map); it is ignored, as transformers knows gpt2." in check.message


def test_keys_that_ask_for_nothing_are_accepted_and_unknown_ones_named(
    outcome: Outcome, spoilt: Callable[[Spoil], None]
) -> None:
    spoilt(config(_attn_implementation_autoset=True, auto_map=None, surprise=1))
    checks = outcome("org/spoilt")
    assert checks["no custom code"].state == "ok"
    assert "surprise" in checks["config fits"].message


def test_a_hub_that_states_a_size_below_zero_is_refused(
    outcome: Outcome, spoilt: Callable[[Spoil], None], local_hub: Hub
) -> None:
    spoilt(config())
    local_hub.repositories["org/spoilt"].sizes["model.safetensors"] = -1
    checks = outcome("org/spoilt")
    assert (checks["files safe"].state, checks["files safe"].code) == ("failed", "wrong-sizes")
    assert checks["size"].state == "skipped"


def test_a_hub_that_trickles_is_given_up_soon_and_the_model_has_to_wait(
    small: Benchmark, spoilt: Callable[[Spoil], None], local_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "DEADLINE", 1)
    spoilt(config())
    local_hub.repositories["org/spoilt"].slow = {"config.json"}
    begin = time.monotonic()
    examination = examine(Examination("org/spoilt", small, plan_of(STARTER, Settings())))
    assert time.monotonic() - begin < 8
    assert {check.code for check in examination.checks if check.state == "warning"} == {"slow-download"}
    assert examination.waiting


def test_an_encoder_decoder_is_a_kind_of_its_own(outcome: Outcome, local_hub: Hub, tmp_path: Path) -> None:
    local_hub.add("org/t5", build(tmp_path / "t5", "t5"))
    checks = outcome("org/t5")
    assert {check.state for check in checks.values()} == {"ok"}
    assert checks["kind"].message == "An encoder-decoder (T5ForConditionalGeneration)."
    assert "tokenizer of an encoder-decoder adds all special tokens" in checks["start token"].message


def test_a_model_over_the_limit_is_refused_before_its_weights_are_fetched(
    outcome: Outcome, local_hub: Hub, settings: DjangoSettings
) -> None:
    settings.MODEL_SIZE_LIMIT = 1000
    assert "up to" in outcome("org/causal")["size"].message
    assert not local_hub.downloaded("model.safetensors")


def test_a_file_that_is_not_valid_gguf_is_refused(outcome: Outcome, data: Path) -> None:
    (data / "models/org/name").mkdir(parents=True)
    (data / "models/org/name/x.gguf").write_bytes(b"not a model at all")
    assert outcome("org/name")["config readable"].state == "failed"


@pytest.mark.parametrize("state", [Run.State.FINISHED, Run.State.SCORING, Run.State.WAITING])
def test_a_measured_model_leads_to_its_run(
    outcome: Outcome, local_hub: Hub, small: Benchmark, state: Run.State
) -> None:
    run = measured(local_hub, small, state)
    check = outcome("org/causal")["not measured already"]
    assert (check.state, check.code) == ("warning", "already-measured")
    assert f"run {run.pk}" in check.message


@pytest.mark.parametrize("state", [Run.State.FAILED, Run.State.CANCELLED])
def test_a_failed_measurement_may_be_repeated(
    outcome: Outcome, local_hub: Hub, small: Benchmark, state: Run.State
) -> None:
    measured(local_hub, small, state)
    assert outcome("org/causal")["not measured already"].state == "ok"


def measured(hub: Hub, benchmark: Benchmark, state: Run.State) -> Run:
    model = Model.objects.create(hub_id="org/causal", commit=hub.repositories["org/causal"].commit)
    return Run.objects.create(
        model=model, benchmark=benchmark, settings_digest=Settings().digest, state=state, submitter="someone"
    )


GPTQ = {"quant_method": "gptq", "bits": 4}
GGUF = Listing("a/b", "c", {"m.gguf": 1}, Path("f"))
LISTING = Listing("org/name", "c0ffee" * 4, {"model.safetensors": 2 * 10**9, "tokenizer.json": 1, "config.json": 1})


@pytest.mark.parametrize(
    ("check", "listing", "message"),
    [
        (checks.public, LISTING, "Anyone can download it."),
        (checks.public, replace(LISTING, folder=Path("folder")), "Offered by this site."),
        (checks.version_pinned, LISTING, "Pinned to c0ffeec0ffee."),
        (checks.version_pinned, replace(LISTING, commit=""), "names no commit of org/name"),
        (checks.weights_format, LISTING, "Weights are in safetensors."),
        (checks.weights_format, GGUF, "One GGUF file, from the local"),
        (checks.version_pinned, replace(LISTING, folder=Path("f")), "by their content: SHA-256 c0ffeec0ffee."),
    ],
)
def test_a_check_of_a_listing_says_what_it_found(
    check: Callable[[Listing], str], listing: Listing, message: str
) -> None:
    assert message in outcome_of(check, listing)


@pytest.mark.parametrize(
    ("check", "listing", "config", "message"),
    [
        (checks.architecture_known, LISTING, {"model_type": "gpt2"}, "transformers knows gpt2."),
        (checks.architecture_known, LISTING, {}, "no key 'model_type'"),
        (checks.fast_tokenizer, LISTING, {}, "Has a fast tokenizer."),
        (checks.fast_tokenizer, GGUF, {"tokenizer": False}, "no tokenizer"),
        (checks.start_token, LISTING, {}, "known when the tokenizer is loaded"),
        (checks.start_token, GGUF, {"special_tokens": {"bos": "<s>"}}, "Texts start with <s> (bos)."),
        (checks.no_custom_code, LISTING, {"model_type": "gpt2"}, "Needs no code of its own."),
        (checks.config_fits, LISTING, {"model_type": "gpt2", "n_embd": 32}, "describes a model of this size"),
        (checks.size_accepted, LISTING, {}, "2.00 GB of weights, below 20 GB."),
        (checks.weights_intact, LISTING, {"quantization_config": {"bits": 4}}, "by an unknown method"),
        (checks.weights_intact, LISTING, {"quantization_config": GPTQ}, "no weights that are quantised (GPTQ"),
    ],
)
def test_a_check_of_a_config_says_what_it_found(
    check: Callable[[Examination], str], listing: Listing, config: dict[str, Any], message: str
) -> None:
    examination = Examination(listing.hub_id, Benchmark(), plan_of(STARTER, Settings()), listing=listing, config=config)
    examination.tensors = {"embedding": Tensor("F32", (32,))}
    assert message in outcome_of(check, examination)


@pytest.mark.parametrize(
    ("chosen", "kind", "message"),
    [
        (Settings(start="eos"), "masked", "no start token to choose"),
        (Settings(protocol="lm-eval"), "masked", "takes causal models only"),
        (Settings(), "masked", "adds all special tokens"),
        (Settings(start="400"), "causal", "has no token 400"),
        (Settings(start="399"), "causal", "Texts start with token 399"),
    ],
)
def test_the_start_token_is_checked_against_the_model(chosen: Settings, kind: Any, message: str) -> None:
    plan = plan_of(STARTER, chosen)
    examination = Examination("org/name", Benchmark(), plan, listing=LISTING, config={"vocab_size": 400}, kind=kind)
    assert message in outcome_of(checks.start_token, examination)


def outcome_of(check: Callable[[Any], str], subject: object) -> str:
    try:
        return check(subject)
    except ProbingError as error:
        return error.message


def test_every_rule_needs_only_rules_before_it() -> None:
    names = [rule.name for rule in RULES]
    assert all(names.index(need) < names.index(rule.name) for rule in RULES for need in rule.needs)


@pytest.mark.parametrize("name", ["MistralForCausalLM", "Qwen2VLTextModel"])
def test_of_a_model_that_also_sees_the_text_part_is_checked(
    name: str, small: Benchmark, local_hub: Hub, tmp_path: Path
) -> None:
    whole = save_wrapped(name, tmp_path / "seeing")
    local_hub.add("org/seeing", tmp_path / "seeing")
    examination = examine(Examination("org/seeing", small, plan_of(STARTER, Settings())))
    assert {check.state for check in examination.checks} == {"ok"}
    assert examination.weights is not None
    text = text_parameters(whole)
    assert (examination.weights.parameters, examination.weights.bytes) == (text, 4 * text)
    assert examination.architecture == f"{name} (text part of {type(whole).__name__})"
    notes = {check.name: check.message for check in examination.checks}
    assert f"Only the text part of {type(whole).__name__} is probed" in " ".join(notes.values())
