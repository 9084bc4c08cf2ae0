"""Calls in a process of their own: memory that was freed is not always given back, and imports are made once."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")


def in_new_process(
    function: Callable[ParametersT, ResultT], *arguments: ParametersT.args, **keywords: ParametersT.kwargs
) -> ResultT:
    """Call a function of a module in a new process, and return what it returns."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments, **keywords).result()
