"""Tables that are written from results with made-up figures."""

from speed.tables import (
    commands_table,
    culture_table,
    early_decision_table,
    few_shot_runs_table,
    few_shot_table,
    generation_table,
    gguf_table,
    in_bold,
    masked_inputs_table,
    memory_table,
    pages_table,
    percent,
    products_table,
    progress_table,
    site_memory_table,
    sweep_table,
    web_memory_table,
)


def test_memory_is_given_for_each_size_with_what_further_items_take() -> None:
    small = {"items": 1000, "scores": 50_000, "bytes": 3 * 2**20}
    large = {"items": 2000, "scores": 100_000, "bytes": 3 * 2**20 + 2_000_000}
    lines = memory_table({"runs": {"ranking": [small, large]}}).splitlines()
    assert lines[2:] == ["| ranking | 1,000 | 50,000 | 3 |  |", "| ranking | 2,000 | 100,000 | 5 | 2.0 kB |"]


def test_a_site_s_memory_is_given_for_each_size() -> None:
    run = {"items": 1000, "statements": 50_000, "finish": 3 * 2**20, "import": 2**21}
    assert site_memory_table({"runs": [run]}).splitlines()[-1] == "| 1,000 | 50,000 | 3 | 2 |"


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


def test_values_are_in_order_with_their_median_in_bold() -> None:
    assert in_bold([1.71, 1.62, 1.68], ".1f") == "1.6, **1.7**, 1.7"


def test_ways_to_compute_products_are_compared_in_speed_and_in_scores() -> None:
    ratios = {"full": {"rounds": [1.5, 1.4, 1.6]}, "decide": {"rounds": [1.3, 1.2, 1.1]}}
    compared = {"ratios": ratios, "largest_difference": 0.00015, "margin": 1.4, "undecided": 0.5}
    line = "| a against b | 1.40, **1.50**, 1.60 | 1.10, **1.20**, 1.30 | 0.00015 | 1.4 | 50 % |"
    assert products_table({"compared": {"a against b": compared}}).splitlines()[-1] == line


def test_runs_of_few_shot_prompting_end_with_the_ratio() -> None:
    run = {"pairs": 200, "positions": 26481, "cpu_seconds": 134.0}
    lines = few_shot_runs_table({"runs": {"few-shot": run}, "ratios": {"positions": 6.05, "cpu_seconds": 5.47}})
    assert lines.splitlines()[2:] == ["| `few-shot` | 200 | 26,481 | 134.0 |", "| times less |  | 6.05 | 5.47 |"]


def test_the_ratio_of_continuations_stands_beside_the_batches_that_are_faster() -> None:
    batches = {"one length": {"positions": 1931, "padding": 0}, "similar lengths": {"positions": 2042, "padding": 91}}
    lines = generation_table({"rounds": [batches], "ratios": [1.7, 1.6, 1.8]}).splitlines()
    assert lines[2:] == ["| one length | 1,931 | 0 |  |", "| similar lengths | 2,042 | 91 | 1.60, **1.70**, 1.80 |"]


def test_sweeps_are_compared_with_single_runs_in_each_round() -> None:
    rounds = [{"single": [10.0, 20.0], "sweep": [sweep, 2 * sweep]} for sweep in (9.0, 11.0, 10.0)]
    lines = sweep_table({"checkpoints": 20, "rounds": rounds}).splitlines()
    assert lines[2:] == [f"| {kind} | 0.90, **1.00**, 1.10 |" for kind in ("time by the clock", "processor time")]


def test_pages_are_compared_with_the_bare_view() -> None:
    times = {"bare": 2.0, "anew": 20.0, "first": 22.0, "at_once": 60.0, "unchanged": 3.0}
    page = {"page": "/", **times, "queries": 10, "raw": 198_264, "zipped": 24_823}
    assert pages_table({"pages": [page]}).splitlines()[-1] == "| `/` | 10.0 | 11.0 | 30.0 | 1.5 | 10 | 198 | 25 |"


def test_the_memory_of_the_web_process_includes_a_download() -> None:
    results = {"memory": {"before": 206e6, "peak": 351e6}, "download": {"rows": 199_980, "memory": 12e6}}
    lines = web_memory_table(results).splitlines()[2:]
    assert lines == [
        "| before the first page | 206 |",
        "| at most | 351 |",
        "| added by the CSV of 199,980 items | 12 |",
    ]


def test_each_run_has_a_line_with_its_first_progress() -> None:
    assert progress_table({"first_progress": {"every option": 2.73}}).splitlines()[-1] == "| every option | 2.7 s |"
