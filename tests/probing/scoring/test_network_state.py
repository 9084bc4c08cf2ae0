"""A network that is handed over is scored as if it were loaded from a file, and is left exactly as it was."""

import gc
import pickle
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from threading import Barrier, Event, get_ident
from typing import Any
from weakref import ref

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, PartialState
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, PreTrainedModel
from transformers.models.qwen3_5 import modeling_qwen3_5
from transformers.models.qwen3_next import modeling_qwen3_next

import probing
from probing.errors import BadInput
from probing.language_model import Request, Scoring
from probing.scoring import network_state
from probing.scoring.causal import CausalModel
from probing.scoring.load import load
from probing.scoring.network_state import GATED_DELTA_RULE, fast_steps, in_place_where_possible
from probing.scoring.verbs import AnsweringModel
from probing.template import prompt
from tests.probing.scoring.hybrid_networks import HYBRID
from tests.tiny_models import build_bert, build_gpt2, build_llama, byte_level_bpe

PROMPTS: list[Request] = [(prompt("[X] is in [Y].", "Chad"), ["Africa", "South America", "Norway"])]
PATIENCE = 30  # seconds until a test fails in which one thread waits in vain for another
KINDS = {
    "gpt2": (build_gpt2, AutoModelForCausalLM),
    "llama": (build_llama, AutoModelForCausalLM),
    "bert": (build_bert, AutoModelForMaskedLM),
}


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build, _ = KINDS[request.param]
    return build(tmp_path_factory.mktemp("model") / request.param)


@pytest.fixture
def network(folder: Path) -> PreTrainedModel:
    """Return a network that is in evaluation mode, as it was loaded."""
    network: PreTrainedModel = KINDS[folder.name][1].from_pretrained(folder)
    return network


def scores(model: AnsweringModel) -> list[float]:
    (answer,) = model.score(PROMPTS, Scoring())
    return answer.reduce().tolist()


def random_states() -> tuple[Any, ...]:
    return random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()


def snapshot(network: PreTrainedModel) -> dict[str, Any]:
    """Return everything about a network and the random generators that scoring must leave alone."""
    return {
        "modes": [module.training for module in network.modules()],
        "wants_gradient": [parameter.requires_grad for parameter in network.parameters()],
        "gradients": [parameter.grad for parameter in network.parameters()],
        "weights": [hash(parameter.detach().numpy().tobytes()) for parameter in network.parameters()],
        "attention": network.config._attn_implementation,
        "configuration": deepcopy(network.config.to_dict()),
        "forward": network.__dict__.get("forward"),
        "hooks": [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in network.modules()],
        "random": random_states(),
        "records_gradients": torch.is_grad_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "precision": torch.get_float32_matmul_precision(),
    }


def test_a_network_in_training_mode_is_scored_without_dropout_each_time(network: PreTrainedModel, folder: Path) -> None:
    expected = scores(load(str(folder)))
    model = probing.wrap(network)
    network.train()
    assert scores(model) == expected
    network.train()
    assert scores(model) == expected, "the wrapper is used again"
    assert network.training


def test_a_wrapper_made_before_the_training_is_checked_as_in_evaluation(network: PreTrainedModel, folder: Path) -> None:
    kind = type(load(str(folder)))
    model = kind(network.eval(), load(str(folder)).tokenizer)
    network.train()
    assert scores(model) == scores(load(str(folder)))
    assert not [note for note in model.usage.notes if "reference implementation" in note]


def test_everything_is_as_it_was_afterwards(network: PreTrainedModel) -> None:
    network.train()
    next(network.parameters()).requires_grad_(False)
    before = snapshot(network)
    model = probing.wrap(network)
    assert snapshot(network) == before
    scores(model)
    list(model.embed(["Oslo"]))
    assert snapshot(network) == before


def test_the_training_goes_on_between_two_answers_and_after_an_error(network: PreTrainedModel) -> None:
    network.train()
    before, model = snapshot(network), probing.wrap(network)
    stream = model.score(PROMPTS * 3, Scoring())
    next(stream)
    assert snapshot(network) == before
    with pytest.raises(BadInput, match="nothing to score"):
        list(model.score([(prompt("[X] is in [Y]", "Chad"), [""])], Scoring(span="answer")))
    assert snapshot(network) == before


def random_numbers(network: Any, args: Any, output: Any) -> None:
    """Draw from every generator, as the modules of some networks do."""
    random.random(), np.random.random(), torch.rand(1)


def test_random_numbers_that_a_network_draws_are_not_missed_by_the_training(network: PreTrainedModel) -> None:
    network.register_forward_hook(random_numbers)
    before = snapshot(network)
    scores(probing.wrap(network))
    assert snapshot(network) == before


@pytest.mark.parametrize("implementation", ["flex_attention", "flash_attention_2", "eager"])
def test_an_attention_that_takes_no_mask_for_pairs_is_replaced_for_the_time(
    network: PreTrainedModel, folder: Path, implementation: str
) -> None:
    network.config._attn_implementation_internal = implementation
    model = probing.wrap(network)
    assert scores(model) == pytest.approx(scores(load(str(folder))), abs=1e-4)
    assert network.config._attn_implementation == implementation
    assert not [note for note in model.usage.notes if "reference implementation" in note]


def test_mixed_precision_is_set_aside_for_the_time(network: PreTrainedModel, folder: Path) -> None:
    prepared = Accelerator(mixed_precision="bf16", cpu=True).prepare_model(network)
    before = snapshot(network)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert scores(probing.wrap(prepared)) == scores(load(str(folder)))
    assert snapshot(network) == before


LIBRARIES: list[Any] = [torch.backends.cudnn, torch.backends.mkldnn]
MATMUL: list[Any] = [torch.backends.cuda.matmul, torch.backends.mkldnn.matmul]  # type: ignore[attr-defined]
OPERATIONS = [*MATMUL, *(operation for library in LIBRARIES for operation in (library.conv, library.rnn))]


def precisions() -> dict[str, Any]:
    """Return everything that says how torch rounds float32 numbers; the older switches may not be readable."""

    def readable(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except RuntimeError:
            return "contradicts"

    return {
        "levels": [level.fp32_precision for level in (torch.backends, *LIBRARIES, *OPERATIONS)],
        "matmul": readable(torch.get_float32_matmul_precision),
        "switches": [readable(lambda own=own: own.allow_tf32) for own in (torch.backends.cuda.matmul, LIBRARIES[0])],
    }


@pytest.fixture
def usual_precisions() -> Iterator[None]:
    """Put torch's defaults back after a test that sets precisions."""
    yield
    torch.set_float32_matmul_precision("highest")
    for level in (torch.backends, *LIBRARIES, *OPERATIONS):
        level.fp32_precision = "none"
    torch.backends.cudnn.allow_tf32 = True


def set_to(level: Any, precision: str) -> Callable[[], None]:
    return lambda: setattr(level, "fp32_precision", precision)


@pytest.mark.usefixtures("usual_precisions")
@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(lambda: None, id="default"),
        pytest.param(lambda: torch.set_float32_matmul_precision("medium"), id="medium"),
        pytest.param(lambda: setattr(torch.backends.cuda.matmul, "allow_tf32", True), id="tf32"),
        pytest.param(lambda: setattr(torch.backends.cudnn, "allow_tf32", False), id="no-tf32"),
        pytest.param(set_to(torch.backends, "tf32"), id="all"),
        pytest.param(set_to(torch.backends.mkldnn, "bf16"), id="library"),
        pytest.param(set_to(OPERATIONS[2], "ieee"), id="operation"),
    ],
)
def test_float32_numbers_are_not_rounded_and_the_settings_are_as_before(
    network: PreTrainedModel, setting: Callable[[], None]
) -> None:
    """By default torch rounds the inputs of convolutions on a GPU to ten bits, and trainings often more."""
    model = probing.wrap(network)
    setting()
    before = precisions()
    with model.scoring_state():
        assert [operation.fp32_precision for operation in OPERATIONS] == ["ieee"] * len(OPERATIONS)
    assert precisions() == before


@pytest.mark.usefixtures("usual_precisions")
@pytest.mark.parametrize("precision", ["highest", "high", "medium"])
def test_the_older_switches_can_be_read_and_set_while_a_network_is_scored(
    network: PreTrainedModel, precision: str
) -> None:
    """torch refuses to read one that contradicts the precisions of operations."""
    model = probing.wrap(network)
    torch.set_float32_matmul_precision(precision)
    with model.scoring_state():
        assert precisions()["switches"] == [False, False]
        assert torch.get_float32_matmul_precision() == "highest"
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            assert not torch.backends.cudnn.allow_tf32
    assert torch.get_float32_matmul_precision() == precision
    assert torch.backends.cudnn.allow_tf32


@pytest.mark.usefixtures("usual_precisions")
def test_a_precision_that_was_inherited_is_inherited_afterwards(network: PreTrainedModel) -> None:
    model, inheriting = probing.wrap(network), [*MATMUL, torch.backends.mkldnn.conv]
    for operation in inheriting:
        operation.fp32_precision = "none"
    torch.backends.fp32_precision = "tf32"
    with model.scoring_state():
        pass
    assert [operation.fp32_precision for operation in inheriting] == ["tf32"] * 3
    torch.backends.fp32_precision = "none"
    assert [operation.fp32_precision for operation in inheriting] == ["none"] * 3


def test_settings_of_the_process_are_put_back_after_the_last_of_several_networks(folder: Path) -> None:
    def settings() -> Any:
        return precisions(), torch.backends.cuda.cudnn_sdp_enabled(), str(random_states())

    before = settings()
    models = [probing.wrap(KINDS[folder.name][1].from_pretrained(folder)) for _ in range(2)]
    first, second = (model.scoring_state() for model in models)
    first.__enter__()
    within = settings()
    second.__enter__()
    random_numbers(None, None, None)
    first.__exit__(None, None, None)
    assert settings()[:2] == within[:2] != before[:2]
    second.__exit__(None, None, None)
    assert settings() == before


@pytest.mark.parametrize("before", [True, False])
def test_attention_prepares_for_no_shape_of_a_batch(network: PreTrainedModel, before: bool) -> None:
    model, usual = probing.wrap(network), torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(before)
    try:
        with model.scoring_state():
            assert not torch.backends.cuda.cudnn_sdp_enabled()
        assert torch.backends.cuda.cudnn_sdp_enabled() == before
    finally:
        torch.backends.cuda.enable_cudnn_sdp(usual)


def test_threads_score_different_texts_with_one_network_at_once(network: PreTrainedModel) -> None:
    """Each thread waits in its first pass until the other one is there."""
    model, other = probing.wrap(network), probing.wrap(network)
    texts = [PROMPTS, [(prompt("[X] is the capital of [Y].", "Oslo"), ["Norway", "Chad", "the Arab world"])]]

    def score(model: AnsweringModel, requests: list[Request]) -> list[float]:
        (answer,) = model.score(requests, Scoring())
        return answer.reduce().tolist()

    def wait_for_the_other(*_: Any) -> None:
        if get_ident() not in threads:
            threads.add(get_ident())
            together.wait(PATIENCE)

    expected = [score(model, requests) for requests in texts]
    threads, together = set[int](), Barrier(2)
    network.get_input_embeddings().register_forward_pre_hook(wait_for_the_other)
    for pair in ((model, model), (model, other)):
        threads.clear()
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(score, pair, texts)) == expected


def test_a_network_is_put_back_when_the_last_thread_has_scored_it(network: PreTrainedModel) -> None:
    network.train()
    first, second = probing.wrap(network), probing.wrap(network)
    begun, goes_on = Event(), Event()

    def hold() -> bool:
        with first.scoring_state():
            begun.set()
            goes_on.wait(PATIENCE)
            return network.training

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(hold)
        begun.wait(PATIENCE)
        scores(second)
        goes_on.set()
        assert held.result() is False
    assert network.training


def test_threads_with_mixed_precision_of_their_own_score_in_full_precision(network: PreTrainedModel) -> None:
    """Mixed precision is switched on for each thread, and the state for all of them together."""
    model = probing.wrap(network)
    expected = scores(model)

    def score_in_mixed_precision() -> list[float]:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return scores(model)

    with ThreadPoolExecutor(1) as pool, model.scoring_state():
        assert pool.submit(score_in_mixed_precision).result() == expected


@pytest.mark.parametrize("copied", [deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["copy", "pickle"])
def test_a_copy_of_a_model_has_a_network_and_a_state_of_its_own(
    network: PreTrainedModel, copied: Callable[[AnsweringModel], AnsweringModel]
) -> None:
    model = probing.wrap(network)
    twin = copied(model)
    assert scores(twin) == scores(model)
    twin.network.train()
    with model.scoring_state():
        assert twin.network.training


def test_states_do_not_keep_networks_in_memory(folder: Path) -> None:
    network = ref(load(str(folder)).network)
    gc.collect()
    assert network() is None


def test_a_compiled_module_is_not_compiled_again_for_each_batch(network: PreTrainedModel, folder: Path) -> None:
    calls: list[str] = []

    def compiled(*args: Any, **kwargs: Any) -> Any:
        calls.append("compiled")
        return network._call_impl(*args, **kwargs)

    network._compiled_call_impl = compiled
    assert scores(probing.wrap(network)) == scores(load(str(folder)))
    assert not calls and network._compiled_call_impl is compiled


@pytest.fixture(autouse=True)
def no_other_accelerator() -> Iterator[None]:
    """Let each test make an accelerator of its own."""
    yield
    AcceleratorState._reset_state(True)
    PartialState._reset_state()


USUAL = modeling_qwen3_5.torch_recurrent_gated_delta_rule
TEXTS, KEYS, HEADS, SIZE, WIDTH = 3, 2, 4, 8, 6


def inputs(tokens: int = 1, **options: Any) -> dict[str, Any]:
    torch.manual_seed(0)
    return {
        "query": torch.randn(TEXTS, tokens, KEYS, SIZE),
        "key": torch.randn(TEXTS, tokens, KEYS, SIZE),
        "value": torch.randn(TEXTS, tokens, HEADS, WIDTH),
        "g": -torch.rand(TEXTS, tokens, HEADS),
        "beta": torch.rand(TEXTS, tokens, HEADS),
        "initial_state": torch.randn(TEXTS, HEADS, SIZE, WIDTH),
        "output_final_state": True,
        "use_qk_l2norm_in_kernel": True,
    } | options


@torch.inference_mode()
def test_a_step_equals_that_of_transformers() -> None:
    tensors = inputs()
    state = tensors["initial_state"]
    expected, expected_state = USUAL(**tensors | {"initial_state": state.clone()})
    output, new_state = in_place_where_possible(USUAL)(**tensors)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(new_state, expected_state)
    assert new_state is state


@pytest.mark.parametrize(
    "other",
    [
        {"tokens": 2},
        {"initial_state": None},
        {"initial_state": torch.zeros(TEXTS, HEADS, SIZE, WIDTH, dtype=torch.float64)},
        {"use_qk_l2norm_in_kernel": False},
    ],
)
@torch.inference_mode()
def test_anything_else_is_left_to_transformers(other: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(network_state, "delta_rule_step")
    tensors = inputs(**other)
    for output, expected in zip(in_place_where_possible(USUAL)(**tensors), USUAL(**tensors), strict=True):
        torch.testing.assert_close(output, expected, rtol=0, atol=0)


def test_the_state_of_a_training_is_not_changed_in_place() -> None:
    tensors = inputs()
    before = tensors["initial_state"].clone()
    in_place_where_possible(USUAL)(**tensors)
    assert tensors["initial_state"].equal(before)


def test_transformers_is_as_before_after_the_last_of_several_networks() -> None:
    networks = [HYBRID[name](64) for name in ("qwen3.5", "qwen3.5", "qwen3-next", "lfm2")]
    usual = {module: getattr(module, GATED_DELTA_RULE) for module in (modeling_qwen3_5, modeling_qwen3_next)}
    blocks = [fast_steps(network) for network in networks]
    for block in blocks:
        block.__enter__()
    assert all(getattr(module, GATED_DELTA_RULE) is not function for module, function in usual.items())
    for block in blocks[:-1]:
        block.__exit__(None, None, None)
    assert all(getattr(module, GATED_DELTA_RULE) is function for module, function in usual.items())


def test_networks_are_scored_by_these_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, step = [], network_state.delta_rule_step

    def counted(*tensors: torch.Tensor) -> torch.Tensor:
        steps.append(tensors)
        return step(*tensors)

    monkeypatch.setattr(network_state, "delta_rule_step", counted)
    tokenizer = byte_level_bpe(start="<s>")
    assert CausalModel(HYBRID["qwen3.5"](len(tokenizer)), tokenizer).check() == "states"
    assert steps
