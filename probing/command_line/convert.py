"""The command `convert`, which writes a model's pickled weights as safetensors."""

import argparse
from pathlib import Path

from probing.command_line.exit_codes import program
from probing.files.pickled_weights import convert


def add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        type=Path,
        metavar="FOLDER",
        help="folder of a model whose weights are pytorch_model.bin, or its parts",
    )
    parser.set_defaults(command=convert_folder)


def convert_folder(arguments: argparse.Namespace) -> None:
    for path in convert(arguments.folder):
        print(f"{path.name} is in {path.parent}.")
    print(f"Probe the model: {program()} run {arguments.folder} --benchmark starter --out results")
