"""The command `paper`: the tables and figures of a paper, with what is measured here beside what it prints."""

import argparse
from pathlib import Path

from probing.catalog import benchmarks_folder
from probing.command_line.exit_codes import refuse_without
from probing.command_line.judge import judge
from probing.command_line.printing import print_lines, print_table, write_csv
from probing.errors import BadInput, Incomplete
from probing.files.folders import new_file
from probing.papers.declarations import NAMES, Exhibit, Paper, differences_of_source, read_paper
from probing.papers.exhibits import CHARTS, TEXTS, all_figures, as_latex, paper_table, remarks
from probing.papers.paper_runs import Choices, MeasuredExhibit, asks, measure, needs

KINDS = ("table", "figure", "section")


def add_paper(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paper", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    add("--list", action="store_true", help="list the paper's tables and figures, and what each needs; measure nothing")
    for kind in KINDS:
        add(f"--{kind}", action="append", default=[], metavar="N", help=f"only this {kind}; may be repeated")
    add("--models", nargs="+", default=[], metavar="MODEL", help="measure these in place of the paper's models")
    add("--sample", type=int, metavar="N", help="ask N items of each relation; of a graph, draw N true sentences")
    copies = "the folder of your copy of a benchmark, in place of a download; may be repeated"
    add("--data", action="append", default=[], metavar="SLUG=DIR", help=copies)
    corrector = "model that corrects the grammar of a graph's sentences, or none; default: the paper's"
    add("--corrector", default="", metavar="MODEL", help=corrector)
    add("--device", default="auto", help="cpu, cuda or cuda:1; default: a GPU where there is one")
    judged = "geography: have the sentences of this benchmark judged; draw forms, or with --models let a model judge"
    add("--judge", default="", metavar="BENCHMARK", help=judged)
    add("--forms", nargs="+", default=[], type=Path, metavar="FILE", help="with --judge: read these filled forms")
    add("--out", type=Path, metavar="DIR", help="folder for results, tables and charts; default: papers/NAME in var")
    parser.set_defaults(command=print_paper)


def print_paper(arguments: argparse.Namespace) -> None:
    """Print the chosen exhibits and write them to files; raise `Incomplete` where something was not measured."""
    refuse_without(arguments, "judge", ["forms"])
    if arguments.judge:
        judge(arguments)
        return
    paper = read_paper(arguments.paper)
    chosen = [exhibit for kind in KINDS for exhibit in paper.chosen(kind, getattr(arguments, kind))]
    exhibits = chosen or list(paper.exhibits)
    if arguments.list:
        print(f"{paper.title}: {paper.publication}")
        for exhibit in exhibits:
            print_lines(f"{exhibit.number} ({exhibit.flag}): {exhibit.caption}", needs(exhibit))
        return
    choices = _choices(arguments)
    problems: list[str] = []
    for exhibit in exhibits:
        measurement = measure(exhibit, choices)
        _print_exhibit(paper, exhibit, measurement, choices)
        problems += measurement.problems
    if problems:
        told = "; ".join(dict.fromkeys(problems))
        raise Incomplete(f"Not everything was measured: {told}", "The same command tries this again, and nothing else.")


def _choices(arguments: argparse.Namespace) -> Choices:
    if arguments.sample is not None and arguments.sample < 1:
        raise BadInput(f"A sample cannot have {arguments.sample} items.", "Give 1 or more.")
    out = arguments.out or benchmarks_folder().parent / "papers" / arguments.paper
    data = dict(map(_copy, arguments.data))
    return Choices(out, tuple(arguments.models), data, arguments.sample, arguments.device, arguments.corrector)


def _copy(text: str) -> tuple[str, Path]:
    slug, separator, folder = text.partition("=")
    if not separator or not slug or not Path(folder).exists():
        raise BadInput(f"--data {text} names no folder.", "Write --data SLUG=FOLDER, such as --data stest=my/S-TEST.")
    return slug, Path(folder)


def _print_exhibit(paper: Paper, exhibit: Exhibit, measurement: MeasuredExhibit, choices: Choices) -> None:
    """Print the exhibit and write it as CSV, as LaTeX and, where it has a chart, as HTML."""
    print(f"\n{paper.title}, {exhibit.number}: {exhibit.caption}")
    texts = TEXTS[exhibit.texts](measurement.runs) if exhibit.texts else None
    table = paper_table(paper, exhibit, measurement.cells) if texts is None else texts
    figures = all_figures(exhibit, measurement.cells) if texts is None else texts
    if len(table):
        print_table(table)
    print_lines("The paper states", [f"{name}: {value}" for name, value in exhibit.facts.items()])
    sources, sample = (differences_of_source(exhibit), choices.sample) if asks(exhibit) else ([], None)
    has_printed = measurement.cells["printed"].notna().any()
    heading = "Why figures can differ" if has_printed else "About the printed figures"
    print_lines(heading, list(remarks(exhibit, measurement.cells, sources, sample)))
    print_lines("About the data", measurement.notes)
    is_waiting = exhibit.needs and measurement.cells["value"].isna().all()
    print_lines("Not measured", measurement.problems or ([f"needed: {exhibit.needs}"] if is_waiting else []))
    if not len(table):
        return
    choices.out.mkdir(parents=True, exist_ok=True)
    written = [choices.out / f"{exhibit.slug}{ending}" for ending in (".csv", ".tex")]
    write_csv(figures, written[0])
    with new_file(written[1]) as new:
        new.write_text(as_latex(paper, exhibit, table), encoding="utf-8")
    if exhibit.chart and texts is None:
        written.append(choices.out / f"{exhibit.slug}.html")
        with new_file(written[-1]) as new:
            CHARTS[exhibit.chart](paper, exhibit, measurement.cells).write_html(new, include_plotlyjs=True)
    print(f"\nFiles: {', '.join(map(str, written))}")
