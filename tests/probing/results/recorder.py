"""A stand-in for loggers of experiments, which are not installed."""

import posixpath
import re
from typing import Any


class Recorder:
    """Stands in for W&B's run and for MLflow: their documented signatures, and MLflow's rule for names."""

    def __init__(self) -> None:
        self.logged: dict[str, float] = {}

    def init(self, project: str | None = None, config: dict[str, Any] | None = None) -> None:
        assert project and config

    def log_params(self, params: dict[str, Any]) -> None:
        assert params

    def log(
        self, data: dict[str, Any], step: int | None = None, commit: bool | None = None, sync: bool | None = None
    ) -> None:
        self.logged |= data

    def log_metrics(
        self,
        metrics: dict[str, float],
        step: int | None = None,
        synchronous: bool | None = None,
        run_id: str | None = None,
        timestamp: int | None = None,
    ) -> None:
        for name, value in metrics.items():
            assert re.fullmatch(r"[/\w.\- ]+", name) and posixpath.normpath(name) == name and len(name) <= 250
            assert type(value) is float
        self.logged |= metrics
