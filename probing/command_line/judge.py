"""The command `judge`: people or a model judge a geography benchmark's sentences, and what they refuse is left out."""

import argparse
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

import probing
from probing.catalog import open_benchmark
from probing.command_line.printing import print_table, write_csv
from probing.curation.facts import write_json
from probing.curation.geography_facts import REPORT, report
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.judging.forms import (
    SAMPLES,
    SIZE,
    Sampling,
    draw,
    empty_lines,
    judged_by_model,
    read_form,
    sentences_of,
    write_form,
    write_page,
)
from probing.judging.verdicts import agreement, write_version

MODEL_FORM = "model.csv"


def add_judge(parser: argparse.ArgumentParser) -> None:
    tasks = parser.add_subparsers(required=True, metavar="TASK")
    drawing = tasks.add_parser("draw", help="draw samples of sentences, as CSV forms and as pages")
    _add_benchmark(drawing)
    drawing.add_argument("--samples", type=int, default=SAMPLES, metavar="N", help=f"samples; default: {SAMPLES}")
    drawing.add_argument("--size", type=int, default=SIZE, metavar="N", help=f"sentences of each; default: {SIZE}")
    drawing.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the draws; default: 0")
    drawing.add_argument("--out", required=True, type=Path, metavar="DIR", help="the folder to write")
    drawing.set_defaults(command=draw_samples)
    by_model = tasks.add_parser("model", help="let a model judge how acceptable all sentences are")
    _add_benchmark(by_model)
    by_model.add_argument("model", metavar="MODEL", help="such as google-t5/t5-base, or a classifier trained on CoLA")
    by_model.add_argument("--commit", default="", help="commit of a hub model; default: the newest")
    by_model.add_argument("--out", required=True, type=Path, metavar="DIR", help="the folder to write")
    by_model.set_defaults(command=judge_by_model)
    reading = tasks.add_parser("read", help="read filled forms: agreement, and what the judges refuse")
    _add_benchmark(reading)
    reading.add_argument("forms", metavar="FORM", nargs="+", type=Path, help="filled forms, one of each judge")
    reading.add_argument("--csv", type=Path, metavar="FILE", help="write the table of agreement to a CSV file as well")
    reading.add_argument("--out", type=Path, metavar="DIR", help="write the benchmark without what the judges refuse")
    reading.set_defaults(command=read_forms)


def _add_benchmark(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("benchmark", metavar="BENCHMARK", help="the folder of a geography benchmark")


def draw_samples(arguments: argparse.Namespace) -> None:
    benchmark = open_benchmark(arguments.benchmark)
    sampling = Sampling(**{field.name: getattr(arguments, field.name) for field in fields(Sampling)})
    samples = draw(sentences_of(benchmark), sampling)
    with new_folder(arguments.out) as folder:
        for number, sample in enumerate(samples, 1):
            lines = empty_lines(str(number), sample)
            write_form(folder / f"sample-{number}.csv", lines)
            write_page(folder / f"sample-{number}.html", f"{benchmark.slug}, sample {number} of {len(samples)}", lines)
    types = len({key for key, _ in samples[0]})
    print(f"{len(samples)} samples of {sampling.size} sentences with all {types} fact types are in {arguments.out}.")
    print("Each judge fills in a copy of a CSV file, or opens the page and saves.")


def judge_by_model(arguments: argparse.Namespace) -> None:
    typed = sentences_of(open_benchmark(arguments.benchmark))
    with new_folder(arguments.out) as folder:
        content = report(typed, probing.Judge.load(arguments.model, arguments.commit))
        write_json(folder / REPORT, content)
        lines = judged_by_model(empty_lines("", typed), content["acceptability"]["sentences"])
        write_form(folder / MODEL_FORM, lines)
    print_table(_by_fact_type(content))
    refused = sum(line["grammatical"] == "no" for line in lines)
    print(f"\n{refused:,} of {len(lines):,} sentences are unacceptable to the model.")
    print(f"{REPORT} in {arguments.out} lists them; {MODEL_FORM} is a form that `judge read` reads.")


def _by_fact_type(content: Mapping[str, Any]) -> pd.DataFrame:
    shares = content["acceptability"]["acceptable"]
    rows = [(key, counts["sentences"], shares[key]["all"]) for key, counts in content["counts"].items()]
    return pd.DataFrame(rows, columns=["fact_type", "sentences", "acceptable"])


def read_forms(arguments: argparse.Namespace) -> None:
    benchmark = open_benchmark(arguments.benchmark)
    typed = sentences_of(benchmark)
    paths = list(dict.fromkeys(path.resolve() for path in arguments.forms))
    if len(paths) < len(arguments.forms):
        raise BadInput("A form is named twice.", "Name each judge's file once.")
    ids = frozenset(sentence.id for _, sentence in typed)
    forms = [read_form(path, ids) for path in paths]
    table = agreement(forms)
    print_table(table)
    print(
        "\nyes: share of all answers. kappa: Cohen's for two judges, Fleiss' for more; empty where all answer the same."
    )
    write_csv(table, arguments.csv)
    if arguments.out:
        refused = write_version(benchmark, typed, forms, arguments.out)
        templates = sum(map(len, refused.templates.values()))
        print(f"\n{arguments.out} leaves out {len(refused.sentences):,} refused sentences and {templates} templates.")
