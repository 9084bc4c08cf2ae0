"""The base class of the commands: a `ProbingError` ends them with its message instead of a stack trace."""

from abc import ABC, abstractmethod
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from probing.errors import BadInput, ProbingError


class PlainCommand(BaseCommand, ABC):
    """A command whose work is in `run`. The exit code is 2 for errors that the user can correct, else 1."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except ProbingError as error:
            raise CommandError(str(error), returncode=2 if isinstance(error, BadInput) else 1) from error

    @abstractmethod
    def run(self, *args: Any, **options: Any) -> None:
        """Do the work of the command; subclasses name the options that they use."""

    def say(self, text: str) -> None:
        self.stdout.write(text)
