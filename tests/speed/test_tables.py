"""Tables that are written from results with made-up figures."""

from speed.tables import (
    commands_table,
    culture_table,
    early_decision_table,
    few_shot_table,
    gguf_table,
    masked_inputs_table,
    memory_table,
    percent,
)


def test_memory_is_given_for_each_size_with_what_further_items_take() -> None:
    small = {"items": 1000, "scores": 50_000, "bytes": 3 * 2**20}
    large = {"items": 2000, "scores": 100_000, "bytes": 3 * 2**20 + 2_000_000}
    lines = memory_table({"runs": {"ranking": [small, large]}}).splitlines()
    assert lines[2:] == ["| ranking | 1,000 | 50,000 | 3 |  |", "| ranking | 2,000 | 100,000 | 5 | 2.0 kB |"]


def test_commands_are_compared_with_a_python_that_does_nothing() -> None:
    commands = {"python -c pass": 0.02, "help": 0.05}
    assert commands_table({"commands": commands}).splitlines()[-1] == "| `help` | 0.050 s | 2.5 |"


def test_each_load_is_a_row_with_its_phases() -> None:
    loads = {"second": {"files": 0.1, "tokenizer": 0.2, "weights": 0.3, "together": 0.6}}
    assert gguf_table({"gguf": {"loads": loads}}).splitlines()[-1] == "| second | 0.10 s | 0.20 s | 0.30 s | 0.60 s |"


def test_counts_of_few_shot_prompting_have_a_row_for_each_prompting() -> None:
    counts = {"few-shot": {"in_prompts": 4000, "filling": 3000, "whole_answers": 20, "estimated_filling": 3100}}
    assert few_shot_table({"counts": counts}).splitlines()[-1] == "| `few-shot` | 4,000 | 3,000 | 20 | 3,100 |"


def test_the_lower_bound_of_ranking_stands_below_what_is_computed() -> None:
    names = ("in_rows", "distinct", "distinct_first_rule", "estimated_by_pieces", "estimated")
    lines = culture_table({name: number for number, name in enumerate(names, 1000)}).splitlines()
    assert [line.split("|")[2] for line in lines[2:4]] == [" 1,000 ", " 1,001 "]
    assert lines[3].endswith("| 100 % |")


def test_inputs_are_shares_of_all_positions() -> None:
    names = ("all", "of_items", "of_windows", "distinct", "first_tokens")
    counts = {name: {"inputs": 10, "positions": 2000 // (1 + place)} for place, name in enumerate(names)}
    assert (
        masked_inputs_table({"counts": counts}).splitlines()[3] == "| distinct within each item | 10 | 1,000 | 50.0 % |"
    )


def test_an_early_decision_is_compared_with_the_lower_bound() -> None:
    row = {"all": 1000, "computed": 300, "first_tokens": 100, "fewest": 210, "at_least": 200}
    table = early_decision_table({"early_decision": {"relations": {"P36": row}}})
    assert table.splitlines()[-1] == "| P36 | 1,000 | 300 | 100 | 210 | 200 | 1.50 |"


def test_a_percentage_has_a_space_before_its_sign() -> None:
    assert (percent(0.5), percent(0.123, ".1f")) == ("50 %", "12.3 %")
