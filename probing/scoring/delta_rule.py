"""One step of the gated delta rule on a CPU, by which Qwen3.5 and its relatives continue a text by a token.

A layer's recurrent state has a matrix for each head and text. transformers makes five new tensors of the size of the
state in each step, and copies the last one back, which takes longer than all products with weights. Here the state is
read in one product and changed in place. Both compute in float32, and their results differ by rounding.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from types import ModuleType
from typing import Any

import torch
from torch import nn

# The function of transformers, which each of its modules that define such layers has.
NAME = "torch_recurrent_gated_delta_rule"
EPSILON = 1e-6  # added to the squared length by which queries and keys are divided
Step = Callable[..., tuple[torch.Tensor, torch.Tensor | None]]
# Several networks of a module, or several threads, may be in the scoring state at once.
CHANGING = RLock()
USERS: Counter[ModuleType] = Counter()
USUAL: dict[ModuleType, Step] = {}


@contextmanager
def fast_steps(network: nn.Module) -> Iterator[None]:
    """Compute single steps of the network's layers with the gated delta rule, if it has any, in place on a CPU."""
    names = {type(layer).__module__ for layer in network.modules()}
    modules = [sys.modules[name] for name in names if hasattr(sys.modules.get(name), NAME)]
    with CHANGING:
        for module in modules:
            if not USERS[module]:
                USUAL[module] = getattr(module, NAME)
                setattr(module, NAME, in_place_where_possible(USUAL[module]))
            USERS[module] += 1
    try:
        yield
    finally:
        with CHANGING:
            for module in modules:
                USERS[module] -= 1
                if not USERS[module]:
                    setattr(module, NAME, USUAL.pop(module))


def in_place_where_possible(usual: Step) -> Step:
    """Return a function that continues texts by one token in place, and computes everything else as usual.

    Other threads may train a network of the same class meanwhile, which is never done in the inference mode.
    """

    def rule(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, **options: Any) -> Any:
        state: Any = options.get("initial_state")
        is_step = state is not None and key.shape[1] == 1 and options.get("use_qk_l2norm_in_kernel")
        if not (is_step and torch.is_inference_mode_enabled() and _is_plain(state)):
            return usual(query, key, value, **options)
        return step(query, key, value, options["g"], options["beta"], state), state

    return rule


def _is_plain(state: torch.Tensor) -> bool:
    return (state.dtype, state.device.type) == (torch.float32, "cpu")


def step(
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
    return vectors * torch.rsqrt((vectors * vectors).sum(dim=-1, keepdim=True) + EPSILON)
