"""Runs a management command and returns what it prints."""

import io

from django.core.management import call_command


def output_of(*arguments: str) -> str:
    output = io.StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()
