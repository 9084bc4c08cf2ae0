"""What our commands share: a `ProbingError` ends them with its sentence instead of a stack trace."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from probing.errors import BadInput, ProbingError


class PlainCommand(BaseCommand):
    """Subclasses write `run`. Exit code 2 for what the user can mend, 1 for the rest."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except ProbingError as error:
            raise CommandError(str(error), returncode=2 if isinstance(error, BadInput) else 1) from error

    def run(self, **options: Any) -> None:
        raise NotImplementedError

    def say(self, text: str) -> None:
        self.stdout.write(text)
