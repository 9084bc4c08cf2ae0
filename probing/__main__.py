"""The command line: `python -m probing run | show | compare | perplexity | sample | download | curate`."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import NoReturn, get_args

import pandas as pd

import probing
from probing.analysis import unified
from probing.analysis.breakdown import OVERALL
from probing.analysis.comparison import SIDE_BOUNDS, compare
from probing.catalog import benchmarks_folder, download, open_benchmark
from probing.curation.command import add_options
from probing.errors import BadInput, ProbingError
from probing.files.folders import refuse_occupied
from probing.formats.files import text_lines
from probing.formats.graph_sample import SamplingPlan, read_sampling, store
from probing.formats.knowledge_graph import read_graph
from probing.language_model import PLL, Reduction
from probing.probes import PROBES, probe_named
from probing.probes.perplexity import By, Perplexity
from probing.probes.probe import parse, tag_columns
from probing.results.result import Result
from probing.statements.sampling import draw


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 for a complete result, 2 for bad input, 1 for failure, 130 when interrupted."""
    given = parser().parse_args(arguments)
    try:
        given.command(given)
    except BadInput as error:
        return _complain(str(error), 2)
    except (ProbingError, OSError) as error:
        return _complain(str(error), 1)
    except KeyboardInterrupt:
        return _complain("Interrupted. The same command goes on from what is finished.", 130)
    return 0


class Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message} (help: {self.prog} --help)\n")


def parser() -> Parser:
    whole = Parser(prog="python -m probing", description="Knowledge probing of language models.")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="probe a model on a benchmark"))
    showing = commands.add_parser("show", help="print a result's scores")
    showing.add_argument("folder", metavar="DIR")
    showing.set_defaults(command=_show)
    comparing = commands.add_parser("compare", help="paired differences between results")
    comparing.add_argument("folders", metavar="DIR", nargs="+", help="two, or with --unified any number")
    comparing.add_argument("--unified", action="store_true", help="specificity on the words that all models have")
    comparing.set_defaults(command=_compare)
    _add_perplexity(commands.add_parser("perplexity", help="how perplexing a model finds your own sentences"))
    _add_sample(commands.add_parser("sample", help="draw true and false statements from a knowledge graph"))
    fetching = commands.add_parser("download", help="fetch a benchmark from its official source")
    fetching.add_argument("slug", metavar="SLUG")
    fetching.set_defaults(command=_download)
    add_options(commands.add_parser("curate", help="make a benchmark from Wikidata"))
    return whole


def _add_run(running: argparse.ArgumentParser) -> None:
    add = running.add_argument
    add("model", metavar="MODEL", help="hub id, folder in Hugging Face format, or .gguf file")
    add("--benchmark", required=True, metavar="SLUG_OR_FOLDER")
    add("--probe", default="", choices=sorted(PROBES), help="default: the benchmark's usual one")
    add("--relation", action="extend", nargs="+", default=[], metavar="ID", help="default: all")
    add("--template", action="extend", nargs="+", type=int, metavar="N", help="default: 0")
    add("--language", default="", help="of the prompts, where a benchmark has several")
    add("--limit", type=int, metavar="N", help="the first N items of each relation")
    add("--decide", action="store_true", help="score no further than the best option needs (multiple choice, ranking)")
    add("--pll", default="within_word_l2r", choices=get_args(PLL), help="what a masked model hides together")
    add("--reduction", default="sum", choices=get_args(Reduction), help="of token log-probabilities")
    add("--commit", default="", help="of a hub model; default: the newest")
    add("--device", default="auto")
    add("--dtype", default="float32")
    add("--batch-tokens", type=int, metavar="N", help="token positions per batch; default: found by trying")
    add("--seed", type=int, default=0)
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the probe's own")
    add("--out", required=True, type=Path, metavar="DIR")
    running.set_defaults(command=_run)


def _add_perplexity(asking: argparse.ArgumentParser) -> None:
    add = asking.add_argument
    add("model", metavar="MODEL", help="hub id, folder in Hugging Face format, or .gguf file")
    add("--sentences", required=True, type=Path, metavar="FILE", help="one sentence a line")
    add("--by", default=Perplexity.by, choices=get_args(By), help="what the log-probability is divided by")
    add("--public-code", action="store_true", help="as the paper's public code computes it")
    add("--commit", default="", help="of a hub model; default: the newest")
    add("--device", default="auto")
    add("--dtype", default="float32")
    add("--batch-tokens", type=int, metavar="N", help="token positions per batch; default: found by trying")
    asking.set_defaults(command=_perplexity)


def _add_sample(drawing: argparse.ArgumentParser) -> None:
    add = drawing.add_argument
    add("graph", metavar="GRAPH", type=Path, help="the folder of a knowledge graph")
    add("--samples", type=int, metavar="N", help="true statements per repetition, and as many false ones")
    add("--repetitions", type=int, metavar="R")
    add("--resampled", type=int, choices=(1, 2, 3), help="parts of a triple drawn anew to make it false; 1 is hardest")
    add("--within-category", action="store_true", default=None, help="draw only what is of the same category")
    add("--seed", type=int)
    add("--correct", default="", metavar="MODEL", help="a text-to-text model that corrects the grammar")
    add("--out", required=True, type=Path, metavar="DIR")
    drawing.set_defaults(command=_sample)


def _run(given: argparse.Namespace) -> None:
    benchmark = open_benchmark(given.benchmark)
    probe = given.probe or benchmark.probe
    # By way of the package, so that the other commands do not wait for torch.
    result: Result = probing.run(
        given.model,
        benchmark,
        out=given.out,
        probe=probe,
        relations=given.relation,
        templates=given.template or (0,),
        limit=given.limit,
        language=given.language,
        decide=given.decide,
        pll=given.pll,
        reduction=given.reduction,
        commit=given.commit,
        device=given.device,
        dtype=given.dtype,
        batch_tokens=given.batch_tokens,
        seed=given.seed,
        **parse(probe_named(probe), given.set),
    )
    _print_by_dimension(result.scores[result.scores["dimension"] == OVERALL])
    print(f"\nAll scores: python -m probing show {given.out}")


def _show(given: argparse.Namespace) -> None:
    result = Result.load(given.folder)
    benchmark = result.record["benchmark"]
    print(f"{result.record['model']['id']} on {benchmark['slug']} {benchmark['version']}")
    _print_by_dimension(result.scores)


def _compare(given: argparse.Namespace) -> None:
    folders = dict.fromkeys(str(Path(folder)) for folder in given.folders)
    if len(folders) < 2 or (len(folders) > 2 and not given.unified):
        raise BadInput(f"{len(folders)} results cannot be compared.", "Give two different ones; more with --unified.")
    results = {folder: Result.load(folder) for folder in folders}
    first, second, *_ = results.values()
    if any(result.record["benchmark"] != first.record["benchmark"] for result in results.values()):
        raise BadInput("The results differ in their benchmark.", "Compare results on the same benchmark.")
    if given.unified:
        _compare_unified(results)
        return
    probe = probe_named(first.record["probe"])()
    dimensions = tag_columns(probe, first.items.columns)
    shared = [name for name in dimensions if name in second.items]
    table = compare({"first": first.items, "second": second.items}, shared, probe.correctness)
    print(f"first: {_asked(first)}   second: {_asked(second)}")
    _print_by_dimension(table.drop(columns=["result", *SIDE_BOUNDS]))


def _asked(result: Result) -> str:
    """The model, and how it was asked."""
    options = [f"{name}={value}" for name, value in result.record["settings"]["options"].items()]
    return f"{result.record['model']['id']} ({', '.join([result.record['probe'], *options])})"


def _compare_unified(results: dict[str, Result]) -> None:
    """Specificity of a fixed set of models: on the pairs and among the words that all of them have."""
    if any(result.record["probe"] != "specificity" for result in results.values()):
        raise BadInput("Only results of the probe specificity have a unified vocabulary.", "Leave --unified out.")
    models = {name: result.record["model"] for name, result in results.items()}
    items = {name: result.items for name, result in results.items()}
    answers = {answer for rows in items.values() for answer in chain(rows["answer_label"], rows["coarse_label"])}
    words = probing.unified({model["id"]: model["commit"] for model in models.values()}, answers)
    spelled = {name: words[model["id"]] for name, model in models.items()}
    rows = unified.common_pairs(items, next(iter(words.values())))
    table = unified.unified_scores(rows, spelled)
    for name, result in results.items():
        options = result.record["settings"]["options"]
        print(f"{name}: {result.record['model']['id']}, {options.get('prompting', 'vanilla')} prompting")
    alone = ", ".join(f"{result.items['specific'].notna().sum():,}" for result in results.values())
    # An uncased model does not tell all words apart.
    distinct = max(len(set(tokens.values())) for tokens in spelled.values())
    print(f"\n{distinct:,} words and {len(next(iter(rows.values()))):,} pairs in common (pairs of each: {alone})")
    for metric, part in table.groupby("metric", sort=False):
        print(f"\n{metric}")
        _print_table(part.drop(columns=["metric", "dimension"]))
    print("\ndifference to the first")
    _print_table(compare(rows, [], probe_named("specificity").correctness).drop(columns=SIDE_BOUNDS))
    matrix = unified.correlation(table)
    print(f"\ncorrelation over relations, on average {unified.mean_correlation(matrix):.3f}")
    print(matrix.to_string(float_format=lambda value: f"{value:.3f}"))


def _download(given: argparse.Namespace) -> None:
    target = benchmarks_folder() / given.slug
    benchmark = download(given.slug, target)
    print(f"{benchmark.title} {benchmark.version} ({benchmark.size} items) is in {target}.")


def _perplexity(given: argparse.Namespace) -> None:
    sentences = [line.strip() for line in text_lines(given.sentences) if line.strip()]
    if not sentences:
        raise BadInput(f"{given.sentences} has no sentences.", "Write one a line.")
    probe = Perplexity(by=given.by, public_code=given.public_code)
    model = probing.load(
        given.model,
        commit=given.commit,
        device=given.device,
        dtype=given.dtype,
        batch_tokens=given.batch_tokens,
    )
    for found in probe.measure(model, sentences):
        line = {"text": found.text, "tokens": found.tokens, "perplexity": found.perplexity}
        print(json.dumps(line, ensure_ascii=False), flush=True)


def _sample(given: argparse.Namespace) -> None:
    refuse_occupied(given.out)
    graph, plan = read_graph(given.graph), read_sampling(given.graph)
    asked = {option.name: getattr(given, option.name) for option in fields(plan.sampling)}
    sampling = replace(plan.sampling, **{name: value for name, value in asked.items() if value is not None})
    sentences, remarks = draw(graph, sampling), plan.remarks
    if given.correct:
        corrector = probing.Corrector.load(given.correct)
        texts = corrector.correct([sentence.text for sentence in sentences])
        sentences = tuple(replace(sentence, text=text) for sentence, text in zip(sentences, texts, strict=True))
        remarks = (*remarks, corrector.remark)
    store(given.out, graph, sentences, SamplingPlan(sampling, remarks))
    print(f"{len(sentences):,} sentences are in {given.out}.")


def _print_by_dimension(table: pd.DataFrame) -> None:
    for dimension, rows in table.groupby("dimension", sort=False):
        print(f"\n{dimension}")
        _print_table(rows.drop(columns="dimension"))


def _print_table(rows: pd.DataFrame) -> None:
    print(rows.to_string(index=False, na_rep="", float_format=lambda value: f"{value:.4g}"))


def _complain(message: str, code: int) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
