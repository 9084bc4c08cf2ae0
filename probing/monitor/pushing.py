"""Pushing of measurements to a site during a training, which never ends because a site does not answer."""

from pathlib import Path

from transformers.utils import logging

from probing.errors import BadInput, ProbingError
from probing.remote.connection import environment_token
from probing.remote.results import ResultSite

logger = logging.get_logger(__name__)

QUICK_TIMEOUTS = (5, 60)  # seconds to connect, and to wait for the next byte, while the training waits


class Publisher:
    """A site to which results are pushed: at once, and those that it did not take again at the end.

    `push_to`: the address of the site, with the token in the environment, or the address and the token.
    `model`: the id by which the site is to know the model.
    Raises `BadInput` for bad arguments.
    """

    def __init__(self, push_to: str | tuple[str, str], model: str) -> None:
        if not model:
            raise BadInput("A network in training has no name for a site.", "Give one: model='org/name'.")
        address, token = (push_to, environment_token()) if isinstance(push_to, str) else push_to
        self._model = model
        self._quick = ResultSite(address, token, attempts=0, timeouts=QUICK_TIMEOUTS)
        self._patient = ResultSite(address, token)
        self._waiting: dict[Path, None] = {}

    def push(self, folder: Path) -> None:
        """Push a result without trying it again; warn where that fails."""
        self._send(self._quick, folder, "It is pushed again at the end of the training.")

    def finish(self) -> None:
        """Push what the site has not taken, with more patience."""
        for folder in list(self._waiting):
            self._send(self._patient, folder, "Push it with the command push, if it was saved.")

    def _send(self, site: ResultSite, folder: Path, next_step: str) -> None:
        self._waiting.pop(folder, None)
        try:
            pushed = site.push(folder, model=self._model)
            logger.info(f"{folder} is at {pushed.address}.")
        except (ProbingError, OSError) as error:
            self._waiting[folder] = None
            logger.warning(f"{folder} is not pushed, the training goes on: {error} {next_step}")
