import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.intake import checks as module
from leaderboard.intake.checks import RULES, Check, Description, Examination, examine
from leaderboard.intake.hub import Listing
from leaderboard.models import Benchmark, Model, Run
from probing.errors import ProbingError
from probing.settings import Settings
from tests.hub.local_hub import Hub

Outcome = Callable[..., dict[str, Check]]


@pytest.fixture
def spoilt(local_hub: Hub, tiny_models: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    """A copy of the causal model at the hub as org/spoilt, with keys added to its config."""

    def copy(file: str = "config.json", **keys: Any) -> Path:
        folder = shutil.copytree(tiny_models["org/causal"], tmp_path / "spoilt")
        config = json.loads((folder / file).read_text()) | keys
        (folder / file).write_text(json.dumps(config))
        local_hub.add("org/spoilt", folder)
        return folder

    return copy


@pytest.fixture
def outcome(small: Benchmark) -> Outcome:
    def examined(hub_id: str, submitter: str = "") -> dict[str, Check]:
        examination = examine(Examination(hub_id, small, Settings(), submitter))
        return {check.name: check for check in examination.checks}

    return examined


@pytest.mark.parametrize("hub_id", ["org/causal", "org/masked", "causal"])
def test_a_good_model_passes_every_check(outcome: Outcome, local_hub: Hub, hub_id: str) -> None:
    checks = outcome(hub_id)
    assert {check.state for check in checks.values()} == {"ok"}
    assert len(checks) == len(RULES)
    assert not local_hub.downloaded("model.safetensors")


@pytest.mark.parametrize(
    "hub_id", ["", "a b", "org/", "/name", "org/name/more", "../etc", "org/..", "https://x.org/a", "a/b--c", "é/ü"]
)
def test_a_malformed_id_is_refused_and_the_rest_skipped(outcome: Outcome, hub_id: str) -> None:
    checks = outcome(hub_id)
    assert checks["well-formed id"].state == "failed"
    assert "org/name" in checks["well-formed id"].next_step
    rest = {check.state for name, check in checks.items() if name != "well-formed id"}
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
    assert outcome("org/closed")["public"].state == "failed"


def test_pickled_weights_are_refused_and_the_other_checks_still_run(
    outcome: Outcome, spoilt: Callable[..., Path]
) -> None:
    folder = spoilt()
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    checks = outcome("org/spoilt")
    assert (checks["safetensors only"].state, checks["safetensors only"].code) == ("failed", "unsafe-model")
    assert checks["size"].state == "skipped"
    assert checks["causal or masked"].state == "ok"


@pytest.mark.parametrize(
    "keys",
    [
        {"auto_map": {"AutoModel": "modeling.Evil"}},
        {"text_config": {"deep": [{"auto_map": {"AutoConfig": "x.Y"}}]}},
        {"_attn_implementation_internal": "someone/kernels"},
        {"attn_implementation": "someone/kernels:forward"},
        {"use_kernels": True},
        {"custom_pipelines": {"a": 1}},
        {"trust_remote_code": True},
    ],
)
def test_a_config_that_asks_for_code_is_refused(
    outcome: Outcome, spoilt: Callable[..., Path], keys: dict[str, Any]
) -> None:
    spoilt(**keys)
    check = outcome("org/spoilt")["no custom code"]
    assert (check.state, check.code) == ("failed", "unsafe-model")


def test_a_tokenizer_that_asks_for_code_is_refused(outcome: Outcome, spoilt: Callable[..., Path]) -> None:
    spoilt("tokenizer_config.json", auto_map={"AutoTokenizer": ["x.Y", None]})
    assert outcome("org/spoilt")["no custom code"].state == "failed"


def test_a_key_for_code_without_a_value_is_accepted(outcome: Outcome, spoilt: Callable[..., Path]) -> None:
    spoilt(_attn_implementation_autoset=True, auto_map=None)
    assert outcome("org/spoilt")["no custom code"].state == "ok"


def test_an_unknown_model_type_is_refused(outcome: Outcome, spoilt: Callable[..., Path]) -> None:
    spoilt(model_type="brandnew")
    assert "brandnew" in outcome("org/spoilt")["architecture known"].message


@pytest.mark.parametrize(
    "architectures", [["T5ForConditionalGeneration"], ["BertModel"], ["BertForSequenceClassification"], [], None, [7]]
)
def test_a_head_that_is_neither_causal_nor_masked_is_refused(
    outcome: Outcome, spoilt: Callable[..., Path], architectures: list[Any] | None
) -> None:
    spoilt(architectures=architectures)
    assert outcome("org/spoilt")["causal or masked"].state == "failed"


def test_a_slow_tokenizer_is_refused(outcome: Outcome, spoilt: Callable[..., Path]) -> None:
    (spoilt() / "tokenizer.json").unlink()
    assert "tokenizer.json" in outcome("org/spoilt")["fast tokenizer"].next_step


def test_a_broken_config_is_refused(outcome: Outcome, spoilt: Callable[..., Path]) -> None:
    (spoilt() / "config.json").write_text("{")
    checks = outcome("org/spoilt")
    assert "not valid JSON" in checks["config readable"].message
    assert checks["architecture known"].state == "skipped"


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


LISTING = Listing("org/name", "c0ffee" * 4, {"model.safetensors": 2 * 10**9, "tokenizer.json": 1, "config.json": 1})


@pytest.mark.parametrize(
    ("check", "listing", "message"),
    [
        (module.public, LISTING, "Anyone can download it."),
        (module.public, replace(LISTING, folder=Path("folder")), "Offered by this site."),
        (module.public, replace(LISTING, public=False), "private or gated"),
        (module.commit_pinned, LISTING, "Pinned to c0ffeec0ffee."),
        (module.commit_pinned, replace(LISTING, commit=""), "names no commit of org/name"),
        (module.safetensors_only, LISTING, "Weights are in safetensors."),
        (module.safetensors_only, replace(LISTING, files={"pytorch_model.bin": 1}), "no safetensors weights"),
        (module.safetensors_only, Listing("org/gguf", "c", {"m.gguf": 1}, Path("folder")), "One GGUF file"),
        (module.small_enough, LISTING, "2.00 GB of weights, below 20 GB."),
        (module.small_enough, replace(LISTING, files={"model.safetensors": 30 * 10**9}), "The weights take 30.0 GB"),
    ],
)
def test_a_check_of_a_listing_says_what_it_found(
    check: Callable[[Listing], str], listing: Listing, message: str
) -> None:
    assert message in outcome_of(check, listing)


@pytest.mark.parametrize(
    ("check", "listing", "config", "message"),
    [
        (module.architecture_known, LISTING, {"model_type": "gpt2"}, "transformers knows gpt2."),
        (module.architecture_known, LISTING, {}, "does not know the model type ''"),
        (module.fast_tokenizer, LISTING, {}, "Has a fast tokenizer."),
        (module.fast_tokenizer, replace(LISTING, files={}), {}, "has no fast tokenizer"),
        (module.fast_tokenizer, Listing("a/b", "c", {"m.gguf": 1}, Path("f")), {"tokenizer": False}, "no tokenizer"),
        (module.no_custom_code, LISTING, {"model_type": "gpt2"}, "Needs no code of its own."),
        (module.no_custom_code, LISTING, {"auto_map": {"AutoModel": "x.Y"}}, "config.json of org/name has the key"),
    ],
)
def test_a_check_of_a_description_says_what_it_found(
    check: Callable[[Description], str], listing: Listing, config: dict[str, Any], message: str
) -> None:
    assert message in outcome_of(check, Description(listing, config))


def outcome_of(check: Callable[[Any], str], subject: object) -> str:
    try:
        return check(subject)
    except ProbingError as error:
        return error.message


def test_every_rule_needs_only_rules_before_it() -> None:
    names = [rule.name for rule in RULES]
    assert all(names.index(need) < names.index(rule.name) for rule in RULES for need in rule.needs)
