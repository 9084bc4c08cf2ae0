"""Import a folder as the current version of a benchmark."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from leaderboard.figures import benchmarks
from leaderboard.figures.benchmarks import store_rarer_answer
from leaderboard.management.base import PlainCommand
from leaderboard.models import Benchmark
from probing.baselines import pair_answers
from probing.formats import FORMATS
from probing.plan import plan_of
from probing.sentences.sentence_files import corpus_counts, listed_counts


class Command(PlainCommand):
    help = "Import a benchmark folder; older versions and their runs are kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("format", help=f"one of: {', '.join(FORMATS)}")
        parser.add_argument("folder", type=Path, help="the benchmark's folder or archive")
        parser.add_argument("--slug", default="", help="name in addresses (default: the folder's name)")
        parser.add_argument("--title", default="", help="name on pages")
        parser.add_argument(
            "--probe",
            default="",
            help="how models are asked (default: its usual probes); added to the probes that it has here",
        )
        words = parser.add_mutually_exclusive_group()
        corpus = "pairs of answers: also store the baseline of the answer that is rarer in this text file"
        words.add_argument("--corpus", default="", metavar="FILE", help=corpus)
        listed = "the same by a list of words, each with its count behind a tab, comma or space"
        words.add_argument("--frequencies", default="", metavar="FILE", help=listed)
        parser.add_argument("--ignore-case", action="store_true", help="count words whatever their case")

    def run(self, *, format: str, folder: Path, slug: str, title: str, probe: str, **options: Any) -> None:
        benchmark, new = benchmarks.install(format, folder, slug, title, probe)
        content = f"{benchmark.relations} relations, {benchmark.items} items"
        self.say(f"{benchmark}: {content}." if new else f"{benchmark} is imported already: nothing to do.")
        self.say(f"Plan: {benchmark.plan}.")
        others = Benchmark.objects.filter(slug=benchmark.slug, current=True).exclude(pk=benchmark.pk)
        for other in others.exclude(path=""):
            self.say(f"Asked by another probe as well: {other.name}.")
        if not new:
            self.say("A version keeps the plan of its first import; import it under another --slug for another plan.")
        if counted_in := options["corpus"] or options["frequencies"]:
            count = corpus_counts if options["corpus"] else listed_counts
            pairs = benchmarks.read(benchmark)
            counts = count(counted_in, pair_answers(pairs), options["ignore_case"])
            plan = plan_of(pairs, benchmark.settings_with({}))
            value = store_rarer_answer(benchmark, plan, counts)
            self.say(f"Always choosing the answer that is rarer in {Path(counted_in).name} reaches {value:.3f}.")
