"""Results of costly computations that many tests repeat with the same arguments."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def remembered(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compute each result once in this process, for arguments of the same types and with the same text (`repr`).

    The function must depend on its arguments alone, and nobody may change what it returns.
    """
    results: dict[Hashable, Result] = {}

    @wraps(function)
    def result(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        key = tuple((type(value), repr(value)) for value in (*arguments, *named.items()))
        if key not in results:
            results[key] = function(*arguments, **named)
        return results[key]

    return result
