"""The state in which a network is scored. The network is put back exactly as it was, also when an error is raised.

A network may be handed over in the middle of its training. Then it drops out states, runs in mixed precision, or uses
an attention that takes no mask for single pairs of tokens. Settings of torch for the whole process are changed while
any network is scored; `_full_precision` names what cannot be put back exactly.

On a CPU, a step of the gated delta rule, by which Qwen3.5 and its relatives continue a text by a token, is computed in
another way while a network is scored. A layer's recurrent state has a matrix for each head and text. transformers makes
five new tensors of the size of the state in each step, and copies the last one back, which takes longer than all
products with weights. Here the state is read in one product and changed in place. Both compute in float32, and their
results differ by rounding.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial, wraps
from threading import RLock
from types import ModuleType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary, ref

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.utils import logging

from probing.model_source import ATTENTION
from probing.scoring.products import fast_products
from probing.scoring.quantised import exact_products

# For how long answers are taken in one entry into the scoring state.
HELD_SECONDS = 0.05
# The function of transformers, which each of its modules that define layers with the gated delta rule has.
GATED_DELTA_RULE = "torch_recurrent_gated_delta_rule"
DELTA_RULE_EPSILON = 1e-6  # added to the squared length by which queries and keys are divided
ParametersT = ParamSpec("ParametersT")
AnswerT = TypeVar("AnswerT")
DeltaRule = Callable[..., tuple[torch.Tensor, torch.Tensor | None]]


class _Shared:
    """A change that holds as long as any of several blocks, in any number of threads, needs it.

    The first block that begins makes the change, and the last one that ends takes it back.
    """

    def __init__(self) -> None:
        self._blocks, self._way_back = 0, ExitStack()
        self._changing = RLock()

    @contextmanager
    def block(self, change: Callable[[ExitStack], None]) -> Iterator[None]:
        """Hold the change, which `change` makes; it leaves the way back on the stack."""
        with self._changing:
            if not self._blocks:
                with ExitStack() as stack:
                    change(stack)
                    self._way_back = stack.pop_all()
            self._blocks += 1
        try:
            yield
        finally:
            with self._changing:
                self._blocks -= 1
                if not self._blocks:
                    self._way_back.close()


class ScoringState:
    """The state of one network while it is scored, by any number of models and threads, in blocks that may be nested.

    The first block that begins puts the network into it, and the last one that ends puts the network back.
    """

    def __init__(self, network: PreTrainedModel) -> None:
        self._network = ref(network)  # weak, as the states of networks must not keep them in memory
        self._shared = _Shared()

    @classmethod
    def of(cls, network: PreTrainedModel) -> "ScoringState":
        """Return the one state of a network."""
        return STATES.setdefault(network, cls(network))

    def __reduce__(self) -> tuple[Any, ...]:
        return ScoringState.of, (self._network(),)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold the network in the state in which it is scored."""
        network = self._network()
        assert network is not None, "whoever scores a network holds it"
        mixed_precision = torch.autocast(network.device.type, enabled=False)  # a state of the thread
        with self._shared.block(partial(_enter, network=network)), mixed_precision:
            yield


STATES: WeakKeyDictionary[PreTrainedModel, ScoringState] = WeakKeyDictionary()


class _Stateful(Protocol):
    scoring_state: ScoringState


StatefulT = TypeVar("StatefulT", bound=_Stateful)


def in_scoring_state(
    verb: Callable[Concatenate[StatefulT, ParametersT], Iterator[AnswerT]],
) -> Callable[Concatenate[StatefulT, ParametersT], Iterator[AnswerT]]:
    """Hold a model's network in the scoring state while answers are computed, and not while the caller has one.

    Answers that were computed together come quickly one after another, and are taken from the verb together, because
    entering the state takes as long as computing some tokens.
    """

    def answers(model: StatefulT, stream: Iterator[AnswerT]) -> Iterator[AnswerT]:
        while computed := _computed(model, stream):
            yield from computed

    @wraps(verb)
    def guarded(model: StatefulT, /, *args: ParametersT.args, **kwargs: ParametersT.kwargs) -> Iterator[AnswerT]:
        return answers(model, verb(model, *args, **kwargs))

    return guarded


def _computed(model: _Stateful, stream: Iterator[AnswerT]) -> list[AnswerT]:
    """Return the answers that come within `HELD_SECONDS`, but at least one; none at the end of the stream."""
    computed: list[AnswerT] = []
    end = time.perf_counter() + HELD_SECONDS
    with model.scoring_state():
        for answer in stream:
            computed.append(answer)
            if time.perf_counter() >= end:
                break
    return computed


def _enter(stack: ExitStack, network: PreTrainedModel) -> None:
    stack.enter_context(PROCESS.block(_enter_for_process))
    for keep in (
        _random_states_of_devices,
        _evaluation_mode,
        _plain_forward,
        _pairwise_attention,
        exact_products,
        fast_products,
        fast_steps,
    ):
        stack.enter_context(keep(network))


def _enter_for_process(stack: ExitStack) -> None:
    """Set what is not of one network but of the whole process."""
    for keep in (_random_states, _full_precision, _attention_for_any_shape, without_advice):
        stack.enter_context(keep())


PROCESS, ADVICE = _Shared(), _Shared()


@contextmanager
def without_advice() -> Iterator[None]:
    """Keep transformers from logging what is meant for whoever calls it, and not for users of this library.

    While a network is loaded, that is a long table of weights that do not fit or that a text part leaves out; while it
    computes, that padding should be masked, and which packages have faster kernels.
    """
    with ADVICE.block(_log_errors_only):
        yield


def _log_errors_only(stack: ExitStack) -> None:
    stack.callback(logging.set_verbosity, logging.get_verbosity())
    logging.set_verbosity_error()


@contextmanager
def _random_states() -> Iterator[None]:
    python, numpy, cpu = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(cpu)


@contextmanager
def _random_states_of_devices(network: PreTrainedModel) -> Iterator[None]:
    """Keep the states of the random generators of all accelerators, if the network is on one."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    backend: Any = getattr(torch, accelerator.type) if accelerator and network.device.type != "cpu" else None
    devices = range(torch.accelerator.device_count() if backend else 0)
    on_devices = [backend.get_rng_state(device) for device in devices]
    try:
        yield
    finally:
        for device, state in zip(devices, on_devices, strict=True):
            backend.set_rng_state(state, device)


@contextmanager
def _evaluation_mode(network: PreTrainedModel) -> Iterator[None]:
    """Put every module that is in training mode into evaluation mode.

    The flag is set without `train()`, because some adapters merge their weights there.
    """
    training = [module for module in network.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True


@contextmanager
def _plain_forward(network: PreTrainedModel) -> Iterator[None]:
    """Undo mixed precision, by which accelerate replaces the network's `forward`, and compilation in place.

    Mixed precision would give other scores than the same weights give after they are saved. A compiled module would be
    compiled again for each size of batch.
    """
    compiled = [(module, module._compiled_call_impl) for module in network.modules() if module._compiled_call_impl]
    replaced = network.__dict__.get("forward") if "_original_forward" in network.__dict__ else None
    for module, _ in compiled:
        module._compiled_call_impl = None
    if replaced:
        network.forward = network._original_forward
    try:
        yield
    finally:
        if replaced:
            network.forward = replaced
        for module, call in compiled:
            module._compiled_call_impl = call


@contextmanager
def _full_precision() -> Iterator[None]:
    """Compute with float32 numbers in float32, also where a setting of torch lets them be rounded to fewer bits.

    By default torch lets cuDNN round the inputs of convolutions, which recurrent networks have (TensorFloat-32). An
    operation has a precision of its own, or inherits that of its library, as this does that of all: those above are set
    first, so that what inherits is left alone. torch's older switches are set too, because torch refuses to read one
    that contradicts the precisions. One trace stays: where `torch.backends.cudnn.allow_tf32` was on, which is the
    default, cuDNN's convolutions and recurrent layers have "tf32" as their own precision afterwards, and no longer
    inherit one that is set later. torch offers no way to restore that.
    """
    libraries: list[Any] = [torch.backends.cudnn, torch.backends.mkldnn]
    operations: list[Any] = [torch.backends.cuda.matmul, torch.backends.mkldnn.matmul]  # type: ignore[attr-defined]
    operations += [operation for library in libraries for operation in (library.conv, library.rnn)]
    before = [operation.fp32_precision for operation in operations]
    with ExitStack() as stack:
        stack.callback(_restore_precisions, operations, before)
        _switch_off_rounding(stack)
        for level in (torch.backends, *libraries, *operations):
            if level.fp32_precision != "ieee":
                stack.callback(setattr, level, "fp32_precision", level.fp32_precision)
                level.fp32_precision = "ieee"
        yield


def _restore_precisions(operations: list[Any], before: list[str]) -> None:
    """Set those that a switch, which stands for several operations, has set to something else."""
    for operation, precision in zip(operations, before, strict=True):
        if operation.fp32_precision != precision:
            operation.fp32_precision = precision


def _switch_off_rounding(stack: ExitStack) -> None:
    """Set torch's older switches of the precision of float32, where they are on and agree with the newer ones."""
    with suppress(RuntimeError):  # it is raised where they do not agree
        if (precision := torch.get_float32_matmul_precision()) != "highest":
            torch.set_float32_matmul_precision("highest")
            stack.callback(torch.set_float32_matmul_precision, precision)
    libraries: list[Any] = [torch.backends.cuda.matmul, torch.backends.cudnn]
    for library in libraries:
        with suppress(RuntimeError):
            if library.allow_tf32:
                library.allow_tf32 = False
                stack.callback(setattr, library, "allow_tf32", True)


@contextmanager
def _attention_for_any_shape() -> Iterator[None]:
    """Leave attention on a GPU to other kernels than those of cuDNN, which prepares for each shape of a batch anew.

    That takes far longer than computing a batch, and most batches have a shape of their own. torch prefers cuDNN for 16
    bits with a mask on GPUs since Hopper.
    """
    before: bool = torch.backends.cuda.cudnn_sdp_enabled()  # type: ignore[no-untyped-call]
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


@contextmanager
def _pairwise_attention(network: PreTrainedModel) -> Iterator[None]:
    """Replace an attention that takes no mask for single pairs of tokens, such as flex or flash attention."""
    configs = {id(module.config): module.config for module in network.modules() if _is_configured(module)}
    replaced = {
        key: config._attn_implementation_internal
        for key, config in configs.items()
        if config._attn_implementation_internal not in (*ATTENTION, None)
    }
    for key in replaced:
        configs[key]._attn_implementation_internal = "sdpa" if network._supports_sdpa else "eager"
    try:
        yield
    finally:
        for key, implementation in replaced.items():
            configs[key]._attn_implementation_internal = implementation


def _is_configured(module: torch.nn.Module) -> bool:
    return isinstance(getattr(module, "config", None), PreTrainedConfig)


# The gated delta rule is replaced in the module of transformers that defines a network's layers, because a layer takes
# the function from its module whenever it computes: no argument, attribute or config of a network names another one.
# Every network of the module gets the replacement, in whatever thread it computes, so that it must compute as usual
# whatever is not scored (`in_place_where_possible`), and must last until the last of them has left the scoring state.
RULES: dict[ModuleType, _Shared] = {}


@contextmanager
def fast_steps(network: nn.Module) -> Iterator[None]:
    """Compute single steps of the network's layers with the gated delta rule, if it has any, in place on a CPU."""
    names = {type(layer).__module__ for layer in network.modules()}
    with ExitStack() as stack:
        for module in (sys.modules[name] for name in names if hasattr(sys.modules.get(name), GATED_DELTA_RULE)):
            stack.enter_context(RULES.setdefault(module, _Shared()).block(partial(_replace_rule, module=module)))
        yield


def _replace_rule(stack: ExitStack, module: ModuleType) -> None:
    usual = getattr(module, GATED_DELTA_RULE)
    setattr(module, GATED_DELTA_RULE, in_place_where_possible(usual))
    stack.callback(setattr, module, GATED_DELTA_RULE, usual)


def in_place_where_possible(usual: DeltaRule) -> DeltaRule:
    """Return a function that continues texts by one token in place, and computes everything else as usual.

    Other threads may train a network of the same class meanwhile, which is never done in the inference mode.
    """

    def rule(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, **options: Any) -> Any:
        state: Any = options.get("initial_state")
        is_step = state is not None and key.shape[1] == 1 and options.get("use_qk_l2norm_in_kernel")
        if not (is_step and torch.is_inference_mode_enabled() and _is_plain(state)):
            return usual(query, key, value, **options)
        return delta_rule_step(query, key, value, options["g"], options["beta"], state), state

    return rule


def _is_plain(state: torch.Tensor) -> bool:
    return (state.dtype, state.device.type) == (torch.float32, "cpu")


def delta_rule_step(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    decay: torch.Tensor,
    beta: torch.Tensor,
    state: torch.Tensor,
) -> torch.Tensor:
    """Change the state of each text by one token, and return the output in the form of `value`.

    `query`, `key` and `value`: shape (texts, 1, heads, size); `decay` (a logarithm) and `beta`: shape (texts, 1,
    heads); `state`: shape (texts, heads, size of keys, size of values).
    """
    heads = value.shape[2]
    query, key = (_unit(vector.repeat_interleave(heads // vector.shape[2], dim=2)) for vector in (query, key))
    query = query * query.shape[-1] ** -0.5
    kept, learned = (factor.float().transpose(1, 2)[..., None] for factor in (decay.exp(), beta))
    read = torch.cat([key, query], dim=2) @ state * kept  # what the decayed state says to key and query
    change = (value.float().transpose(1, 2) - read[:, :, :1]) * learned
    state.mul_(kept).addcmul_(key.transpose(2, 3), change)
    output = read[:, :, 1:] + (query * key).sum(dim=-1, keepdim=True) * change
    return output.transpose(1, 2).to(value.dtype)


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    """Return vectors of length 1 in float32, shape (texts, heads, 1, size)."""
    vectors = vectors.float().transpose(1, 2)
    return vectors * torch.rsqrt((vectors * vectors).sum(dim=-1, keepdim=True) + DELTA_RULE_EPSILON)
