"""Human checks of the geography paper: forms for judges, a model's verdicts, and what judges refuse."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import probing
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.command_line.printing import print_table
from probing.curation.facts import write_json
from probing.curation.geography_facts import REPORT, report
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.judging import (
    SIZE,
    agreement,
    draw,
    empty_lines,
    judged_by_model,
    read_form,
    sentences_of,
    write_form,
    write_version,
)

MODEL_FORM = "model.csv"


def judge(arguments: argparse.Namespace) -> None:
    """Read forms where some are given, have a model judge where one is named, and else draw samples for people."""
    if arguments.paper != "geography":
        raise BadInput("Only sentences of geography are judged.", "Write: paper geography --judge DIR.")
    benchmark = open_benchmark(arguments.judge)
    if arguments.forms:
        _read_forms(benchmark, arguments.forms, arguments.out)
    elif arguments.out is None:
        raise BadInput("There is no folder for the forms.", "Give --out DIR.")
    elif len(arguments.models) > 1:
        raise BadInput("One model judges at a time.", "Name one of them.")
    elif arguments.models:
        _judge_by_model(benchmark, arguments.models[0], arguments.out)
    else:
        _draw_samples(benchmark, SIZE if arguments.sample is None else arguments.sample, arguments.out)


def _draw_samples(benchmark: Benchmark, size: int, out: Path) -> None:
    samples = draw(sentences_of(benchmark), size)
    with new_folder(out) as folder:
        for number, sample in enumerate(samples, 1):
            write_form(folder / f"sample-{number}.csv", empty_lines(str(number), sample))
    types = len({key for key, _ in samples[0]})
    print(f"{len(samples)} samples of {size} sentences with all {types} fact types are in {out}.")
    print("Each judge fills in a copy of a file.")


def _judge_by_model(benchmark: Benchmark, model: str, out: Path) -> None:
    typed = sentences_of(benchmark)
    with new_folder(out) as folder:
        content = report(typed, probing.Judge.load(model))
        write_json(folder / REPORT, content)
        lines = judged_by_model(empty_lines("", typed), content["acceptability"]["sentences"])
        write_form(folder / MODEL_FORM, lines)
    print_table(_by_fact_type(content))
    refused = sum(line["grammatical"] == "no" for line in lines)
    print(f"\n{refused:,} of {len(lines):,} sentences are unacceptable to the model.")
    print(f"{REPORT} in {out} lists them; {MODEL_FORM} is a form that --forms reads.")


def _by_fact_type(content: Mapping[str, Any]) -> pd.DataFrame:
    shares = content["acceptability"]["acceptable"]
    rows = [(key, counts["sentences"], shares[key]["all"]) for key, counts in content["counts"].items()]
    return pd.DataFrame(rows, columns=["fact_type", "sentences", "acceptable"])


def _read_forms(benchmark: Benchmark, paths: list[Path], out: Path | None) -> None:
    typed = sentences_of(benchmark)
    if len({path.resolve() for path in paths}) < len(paths):
        raise BadInput("A form is named twice.", "Name each judge's file once.")
    ids = frozenset(sentence.id for _, sentence in typed)
    forms = [read_form(path, ids) for path in paths]
    print_table(agreement(forms))
    print(
        "\nyes: share of all answers. kappa: Cohen's for two judges, Fleiss' for more; empty where all answer the same."
    )
    if out:
        refused = write_version(benchmark, typed, forms, out)
        templates = sum(map(len, refused.templates.values()))
        print(f"\n{out} leaves out {len(refused.sentences):,} refused sentences and {templates} templates.")
