"""A callback for the Trainer of transformers that probes the model under training (methods 1.5)."""

import math
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import torch
from transformers import (
    DefaultFlowCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from transformers.utils import logging

from probing.analysis.confidence import BRIER, CALIBRATION_ERROR
from probing.benchmark import Benchmark
from probing.errors import BadInput, NonFiniteScores
from probing.given_settings import GivenSettings
from probing.monitor.measuring import Measurement, MissingMetric, Monitor, agreed

logger = logging.get_logger(__name__)
LESS_IS_BETTER = (BRIER, CALIBRATION_ERROR)
PREFIX = "eval_"  # by which the loggers of transformers put figures beside those of evaluations
# What the Trainer itself measures in an evaluation; the name of one of several data sets may stand in between.
TRAINERS_OWN = re.compile(
    rf"{PREFIX}(.+_)?(loss|runtime|.+_per_second|(jit_compilation|model_preparation)_time|mem_.+)"
)


def refuse_bad_cadence(**cadence: float | None) -> None:
    """Raise `BadInput` unless a training is probed after every so many of something; None stands for never."""
    for name, value in cadence.items():
        types = (int, float) if name == "every_seconds" else (int,)
        if value is not None and (type(value) not in types or value <= 0):
            raise BadInput(f"{name} cannot be {value!r:.80}.", "Give a number above 0, or leave it out.")
    if not any(cadence.values()):
        raise BadInput("Nothing says when to probe.", f"Give one or more of: {', '.join(cadence)}.")


class KnowledgeCallback(TrainerCallback):  # type: ignore[misc]  # transformers has no types here
    """Probe the model under training and log its scores through the Trainer.

    They reach whatever the Trainer reports to (TensorBoard, Weights & Biases and others) and its `log_history`: as
    `eval_<name>_<metric>` overall, and as `eval_<name>_<dimension>_<group>` for breakdowns, together with
    `eval_<name>_seconds`, the time that the measurement took, and `eval_<name>_share_of_time`, the share of the
    training's time that all measurements of this callback have taken so far.

    An evaluation of a model that is probed at the same step has them among its metrics, for `metric_for_best_model`,
    `load_best_model_at_end` and `EarlyStoppingCallback`. If `metric_for_best_model` names one, the model is probed
    before the first step and at every evaluation as well.

    One training can have several callbacks, such as one for each probe; each knows its own steps by its name.

    `name`: by default `<benchmark>_<probe>`; two callbacks of one training need different names.

    `every_steps`, `every_epochs`, `every_evaluations`, `every_seconds`: when to probe; several can be combined.
    `at_start`, `at_end`: probe before the first step and after the last one as well.
    `tokenizer`: by default the Trainer's `processing_class`, else the one that the model was loaded with.
    `save_to`: a folder in which each measurement becomes a result folder `step-<number>`, as `probing.run` writes it.
    The other arguments are those of `Monitor`: any setting of a run and option of its probe, such as `sample=20`.

    The training itself is not changed: weights, gradients, modes and random states are the same as without the
    callback. Where several processes train together (DistributedDataParallel), they share the work.
    Raises `BadInput` for bad arguments, when the callback is made.

    Examples:
        >>> from probing.monitor import KnowledgeCallback
        >>> trainer.add_callback(KnowledgeCallback(trainer, "starter", every_steps=100, sample=5))
    """

    def __init__(
        self,
        trainer: Trainer,
        benchmark: str | Path | Benchmark,
        *,
        every_steps: int | None = None,
        every_epochs: int | None = None,
        every_evaluations: int | None = None,
        every_seconds: float | None = None,
        at_start: bool = True,
        at_end: bool = True,
        tokenizer: Any = None,
        save_to: str | Path | None = None,
        metrics: Sequence[str] = (),
        breakdowns: Sequence[str] = (),
        batch_tokens: int | None = None,
        name: str = "",
        **settings_and_options: Unpack[GivenSettings],
    ) -> None:
        if not isinstance(trainer, Trainer):
            raise BadInput(f"{trainer!r:.80} is no Trainer.", "Make the Trainer first, then add this callback to it.")
        self.monitor = Monitor(
            benchmark,
            metrics=metrics,
            breakdowns=breakdowns,
            batch_tokens=batch_tokens,
            name=name,
            **settings_and_options,
        )
        refuse_bad_cadence(
            every_steps=every_steps,
            every_epochs=every_epochs,
            every_evaluations=every_evaluations,
            every_seconds=every_seconds,
        )
        self.every_steps, self.every_epochs = every_steps, every_epochs
        self.every_evaluations, self.every_seconds = every_evaluations, every_seconds
        self.at_start, self.at_end = at_start, at_end
        self.tokenizer = tokenizer or trainer.processing_class
        self.save_to = Path(save_to) if save_to is not None else None
        self._trainer = trainer
        self._begin = self._last_time = time.perf_counter()
        self._seconds = 0.0
        self._evaluations = 0
        self._last_step: int | None = None
        self._figures: dict[str, float] = {}  # of the last step that was probed, until an evaluation has them
        self._best_by = ""  # the figure by which the training chooses its best model, if it is one of these

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: Any
    ) -> None:
        """Probe the model as it is before the training, unless the training goes on from a step that was probed.

        Raises `BadInput` if `metric_for_best_model` names a figure that no evaluation will have, or one of which less
        is better while `greater_is_better` is true.
        """
        if self.every_evaluations and args.eval_strategy == "no":
            raise BadInput("This training never evaluates.", "Set eval_strategy, or give every_steps or every_epochs.")
        self._refuse_confusion()
        self._go_first()
        self._best_by = self._figure_of_best(args)
        self._refuse_wrong_direction(args)
        self._begin = self._last_time = time.perf_counter()
        self._seconds, self._evaluations = 0.0, 0
        probed = [entry["step"] for entry in state.log_history if self._name("seconds") in entry]
        self._last_step = probed[-1] if probed else None
        if self.at_start or self._best_by:
            self._probe(state, control)
        self._refuse_missing(state)

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: Any) -> None:
        """Probe after every so many steps or seconds, and after the last step."""
        due = bool(self.every_steps and state.global_step % self.every_steps == 0) or self._ends(control)
        if self.every_seconds and not due:
            due = agreed(time.perf_counter() - self._last_time >= self.every_seconds)
        if due:
            self._probe(state, control)

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: Any
    ) -> None:
        """Probe after every so many epochs, and at the end of a training that something else has stopped."""
        epochs = self.every_epochs
        if (epochs and round(state.epoch or 0) % epochs == 0) or self._ends(control):
            self._probe(state, control)

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float],
        **others: Any,
    ) -> None:
        """Probe after every so many evaluations, and add the figures of this step to the metrics of the evaluation.

        Of several data sets that are evaluated at a step, the first gets them: early stopping counts each time that it
        sees the figure.
        """
        self._evaluations += 1
        every = self.every_evaluations
        if self._best_by or (every and self._evaluations % every == 0):
            self._probe(state, control)
        if state.global_step == self._last_step and any(name.startswith(PREFIX) for name in metrics):
            metrics.update(self._figures)
            self._figures = {}

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: Any
    ) -> None:
        """Forget the figures of the last step; what is evaluated later may be another model."""
        self._figures = {}

    def _refuse_confusion(self) -> None:
        for callback in self._watching():
            if callback is self:
                continue
            if callback.monitor.name == self.monitor.name:
                raise BadInput(f"Two callbacks are called {self.monitor.name!r}.", "Give one of them another name=….")
            if self.save_to and callback.save_to == self.save_to:
                raise BadInput(f"Two callbacks save to {self.save_to}.", "Give each a folder of its own.")

    def _watching(self) -> list["KnowledgeCallback"]:
        callbacks = self._trainer.callback_handler.callbacks
        return [callback for callback in callbacks if isinstance(callback, KnowledgeCallback)]

    def _go_first(self) -> None:
        """Stand before the callbacks that may read metrics, such as early stopping, in whatever order they were added.

        What decides when to evaluate and when to end stays before all. The list is replaced, not changed, because the
        Trainer is going through it.
        """
        handler, first = self._trainer.callback_handler, (DefaultFlowCallback, KnowledgeCallback)
        handler.callbacks = sorted(handler.callbacks, key=lambda callback: not isinstance(callback, first))

    def _figure_of_best(self, args: TrainingArguments) -> str:
        """Return the figure that chooses the best model; an empty text where it is not for this callback to measure.

        It is if the figure begins with this callback's name, or if nothing else in this training could measure it.
        """
        figure = f"{PREFIX}{(args.metric_for_best_model or 'loss').removeprefix(PREFIX)}"
        if TRAINERS_OWN.fullmatch(figure):
            return ""
        owners = [callback.monitor.name for callback in self._watching() if figure.startswith(callback._name(""))]
        if owners:
            return figure if max(owners, key=len) == self.monitor.name else ""
        trainer, modules = self._trainer, ("transformers.", __name__)
        callbacks = trainer.callback_handler.callbacks
        others = [callback for callback in callbacks if not type(callback).__module__.startswith(modules)]
        return "" if trainer.compute_metrics or type(trainer) is not Trainer or others else figure

    def _refuse_wrong_direction(self, args: TrainingArguments) -> None:
        """Raise `BadInput` where the Trainer would take the worst model for the best one, as it does by default."""
        metrics = {self._name(metric): metric for metric in self.monitor.metrics}
        metric = metrics.get(self._best_by, self.monitor.metrics[0])
        if self._best_by and args.greater_is_better and metric in LESS_IS_BETTER:
            raise BadInput(
                f"metric_for_best_model is {self._best_by!r}, of which less is better.",
                "Set greater_is_better=False in the TrainingArguments.",
            )

    def _refuse_missing(self, state: TrainerState) -> None:
        logged = dict.fromkeys(name for entry in state.log_history for name in entry)
        names = [name for name in logged if name.startswith(self._name(""))]
        if self._best_by and names and self._best_by not in names:
            raise BadInput(
                f"metric_for_best_model is {self._best_by!r}, which no evaluation of this training measures.",
                f"Choose one of: {', '.join(names)}.",
            )

    def _ends(self, control: TrainerControl) -> bool:
        """Tell whether to probe because the training ends; at its very end the loggers are closed already."""
        return bool(self.at_end and control.should_training_stop)

    def _probe(self, state: TrainerState, control: TrainerControl) -> None:
        """Probe the model once at each step, log the scores and save the result."""
        if state.global_step == self._last_step:
            return
        begin, self._last_step = self._now(), state.global_step
        self._figures = {self._best_by: math.nan} if self._best_by else {}  # which is never better
        try:
            measured = self.monitor.measure(
                self._trainer.model, self.tokenizer, step=state.global_step, epoch=state.epoch
            )
            self._save(measured, state)
        except (NonFiniteScores, MissingMetric) as error:
            if isinstance(error, MissingMetric) and state.global_step == 0:
                raise  # before the first step nothing is lost
            logger.warning(f"Step {state.global_step} cannot be probed, the training goes on: {error}")
            return
        finally:
            self._last_time = time.perf_counter()
            self._seconds += self._last_time - begin
        costs = {"seconds": self._last_time - begin, "share_of_time": self._seconds / (self._last_time - self._begin)}
        figures = {f"{PREFIX}{name}": value for name, value in measured.figures.items()}
        figures |= {self._name(name): value for name, value in costs.items()}
        self._figures |= figures
        should_log = control.should_log  # which logging clears, although the Trainer has still to log its loss
        self._trainer.log(figures)
        control.should_log = should_log

    def _save(self, measured: Measurement, state: TrainerState) -> None:
        if self.save_to is None or not state.is_world_process_zero:
            return
        folder = self.save_to / f"step-{state.global_step}"
        if folder.exists():
            measured.result.replace(folder)
        else:
            measured.result.save(folder)

    def _name(self, figure: str) -> str:
        return f"{PREFIX}{self.monitor.name}_{figure}"

    def _now(self) -> float:
        """Return the time when the device has finished the steps before, whose work is not the callback's."""
        if self._trainer.args.device.type != "cpu":
            torch.accelerator.synchronize(self._trainer.args.device)
        return time.perf_counter()
