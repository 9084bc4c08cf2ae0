"""The command list: everything that a run can name is printed with its default."""

import pytest

from probing.__main__ import main
from probing.catalog import CATALOG, open_benchmark
from probing.probes import PROBES
from probing.probes.probe import declared_options
from tests.conftest import BearFolder
from tests.probing.command_line.helpers import printed_by, refusal


def test_all_benchmarks_and_all_options_of_all_probes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    printed = printed_by(capsys, "list")
    for slug, benchmark in CATALOG.items():
        assert f"\n{slug}: {benchmark.title}, probe {benchmark.probe}" in printed
    for name, probe in PROBES.items():
        _, _, section = printed.partition(f"\nProbe {name} (--probe {name})\n")
        lines = section.split("\n\n")[0].splitlines()
        assert [line.split("=")[0].strip() for line in lines if "=" in line.split("  ")[1]] == [
            *declared_options(probe)
        ]
    assert "  few_shot=0  show so many other items with their answers before each [whole number]" in printed


def test_the_relations_of_a_benchmark_are_listed_with_their_templates(capsys: pytest.CaptureFixture[str]) -> None:
    printed = printed_by(capsys, "list", "starter")
    for relation in open_benchmark("starter").relations:
        assert f"\n{relation.id}" in printed
        assert all(f"  {number}  {template}" in printed for number, template in enumerate(relation.templates))


def test_the_notes_of_a_benchmark_are_listed(bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]) -> None:
    bear_folder.lines["P30"].append(bear_folder.lines["P30"][0])
    assert main(["list", str(bear_folder.write())]) == 0
    assert capsys.readouterr().out.endswith("\nNotes\nRelations in which a subject occurs more than once: P30.\n")


def test_an_unknown_benchmark_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert "neither a folder nor a known benchmark" in refusal(capsys, "list", "no-such")
