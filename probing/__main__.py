"""The command line: `python -m probing` with one of the commands that `parser` lists."""

import sys
from collections.abc import Sequence

from probing.command_line.compare import add_compare
from probing.command_line.download import add_download
from probing.command_line.perplexity import add_perplexity
from probing.command_line.program import Parser, program
from probing.command_line.rescore import add_rescore
from probing.command_line.run import add_run
from probing.command_line.sample import add_sample
from probing.command_line.show import add_show
from probing.command_line.work import add_work
from probing.curation.command import add_options
from probing.errors import BadInput, ProbingError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 for success, 2 for bad input, 1 for failure, 130 when interrupted."""
    parsed = parser().parse_args(arguments)
    try:
        parsed.command(parsed)
    except BadInput as error:
        return _report_error(str(error), 2)
    except (ProbingError, OSError) as error:
        return _report_error(str(error), 1)
    except KeyboardInterrupt:
        return _report_error("Interrupted. The same command goes on from what is finished.", 130)
    return 0


def parser() -> Parser:
    whole = Parser(prog=program(), description="Knowledge probing of language models.")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    add_run(commands.add_parser("run", help="probe a model on a benchmark"))
    add_show(commands.add_parser("show", help="print a result's scores"))
    add_compare(commands.add_parser("compare", help="compare results on the items that they share"))
    add_rescore(commands.add_parser("rescore", help="compute scores again, with the benchmark's present tags"))
    add_perplexity(commands.add_parser("perplexity", help="measure the perplexity of your own sentences"))
    add_sample(commands.add_parser("sample", help="draw true and false statements from a knowledge graph"))
    add_download(commands.add_parser("download", help="fetch a benchmark from its official source"))
    add_options(commands.add_parser("curate", help="make a benchmark from Wikidata"))
    add_work(commands.add_parser("work", help="measure models for a site, from anywhere"))
    return whole


def _report_error(message: str, code: int) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
