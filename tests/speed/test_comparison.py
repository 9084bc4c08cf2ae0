"""The comparison of systems: their agreement, the ratios, the bars, real processes, environments, fewest positions."""

import sys
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from probing.benchmark import Benchmark, Item, Relation
from probing.language_model import Scoring
from probing.scoring.causal import CausalModel
from probing.scoring.encoded import Encoded
from probing.scoring.masked import MaskedModel
from speed import comparison
from speed.comparison import (
    NotMeasured,
    SystemProcess,
    agreement,
    compare,
    fewest_causal,
    fewest_masked,
    fewest_positions,
    missed,
    python_for,
    ratios,
    systems_of,
)
from speed.networks import LoadedNetwork, NetworkKind
from speed.peers.protocol import Item as PeerItem
from speed.peers.protocol import Job, System
from speed.work import requests
from tests.tiny_models import build_bert, build_gpt2

ITEMS = [
    PeerItem("[X] is in [Y].", country, ["Africa", "Asia"], "", [f"{country} is in Africa.", f"{country} is in Asia."])
    for country in ("Chad", "Japan")
]


def costing(processor: float, clock: float) -> dict[str, float]:
    return {"clock": clock, "processor": processor}


def test_only_scores_that_both_know_exactly_are_compared() -> None:
    agreed = agreement([-1.0, None, -3.0, -2.0], [-1.5, -9.0, -3.0, -2.0], ITEMS)
    assert agreed == {"compared": 3, "largest_difference": 0.5, "same_predictions": 1.0}


def test_predictions_are_compared_item_by_item() -> None:
    assert agreement([-1.0, -2.0, -3.0, -2.0], [-1.0, -2.0, -2.0, -3.0], ITEMS)["same_predictions"] == 0.5


def test_a_ratio_is_the_median_over_rounds_and_not_of_medians() -> None:
    peer = System("peer", "p", ("causal",), lambda job: None, required={("causal", "full"): 4.5})
    own = System("full", "p", ("causal",), lambda job: None, own=True)
    measured = {
        "peer": [costing(8.0, 1.0), costing(10.0, 1.0), costing(90.0, 1.0)],
        "full": [costing(2.0, 2.0), costing(1.0, 0.5), costing(30.0, 1.0)],
    }
    (row,) = ratios("causal", [own, peer], measured)
    assert (row["own"], row["peer"], row["required"]) == ("full", "peer", 4.5)
    assert row["times"] == {"processor": [4.0, 10.0, 3.0], "clock": [0.5, 2.0, 1.0]}
    assert row["median"] == {"processor": 4.0, "clock": 1.0}


def test_a_small_ratio_and_other_scores_are_missed() -> None:
    row = {"own": "full", "peer": "peer", "required": 4.5, "median": {"processor": 4.4, "clock": 9.0}}
    system = {"system": "peer", "largest_difference": 0.01, "tolerance": 1e-3}
    assert missed({"decisive": "processor", "ratios": [row], "systems": [system]}) == [
        "full is 4.40 times as fast as peer, must be 4.5.",
        "peer has scores that differ by 1.0e-02, may by 0.001.",
    ]
    fast = {**row, "median": {"processor": 4.5, "clock": 1.0}}
    assert missed({"decisive": "processor", "ratios": [fast, {**row, "required": None}], "systems": []}) == []


def test_the_clock_decides_where_a_gpu_does_the_work() -> None:
    row = {"own": "full", "peer": "peer", "required": 5.0, "median": {"processor": 9.0, "clock": 4.9}}
    assert missed({"decisive": "clock", "ratios": [row], "systems": []}) == [
        "full is 4.90 times as fast as peer, must be 5."
    ]


@pytest.mark.parametrize(
    ("name", "systems"),
    [
        (
            "causal",
            ["decide", "full", "harness model", "llama.cpp", "lm-evaluation-harness", "lm-pub-quiz", "minicons"],
        ),
        ("completions", ["harness model", "lm-evaluation-harness"]),
        ("masked", ["decide", "full", "lm-pub-quiz"]),
        ("gpu", ["decide", "full", "lm-evaluation-harness"]),
    ],
)
def test_systems_are_found_by_their_declarations(name: str, systems: list[str]) -> None:
    assert sorted(system.name for _, system in systems_of(name)) == systems


def test_the_bars_are_those_that_are_promised() -> None:
    bars = {(system.name, *key): bar for name in ("causal", "masked", "gpu") for _, system in systems_of(name)
            for key, bar in system.required.items()}  # fmt: skip
    assert bars["lm-evaluation-harness", "causal", "full"] == 4.5
    assert bars["lm-evaluation-harness", "causal", "decide"] == 14
    assert bars["lm-evaluation-harness", "gpu", "full"] == 5
    assert (bars["llama.cpp", "causal", "full"], bars["llama.cpp", "causal", "decide"]) == (1.2, 3)
    assert (bars["lm-pub-quiz", "causal", "full"], bars["lm-pub-quiz", "causal", "decide"]) == (6, 20)
    assert (bars["lm-pub-quiz", "masked", "full"], bars["lm-pub-quiz", "masked", "decide"]) == (1.8, 5.5)


@pytest.mark.slow
def test_processes_on_a_tiny_masked_model_agree_and_an_absent_peer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = ("lm_pub_quiz", System("absent", "p", ("masked",), lambda job: None))
    declared = [*systems_of("masked"), absent]
    monkeypatch.setattr(comparison, "systems_of", lambda name: declared)
    job = Job("masked", str(build_bert(tmp_path / "model")), "", 1, ITEMS)
    compared = compare("masked", job, tmp_path, rounds=2)
    assert [row["system"] for row in compared["systems"]] == ["full", "decide", "lm-pub-quiz"]
    assert missed(compared | {"ratios": []}) == []
    assert all(row["same_predictions"] == 1 and row["positions"] > 0 for row in compared["systems"])
    assert [len(row["times"]["clock"]) for row in compared["ratios"]] == [2, 2]
    assert compared["systems"][2]["batch_size"] in (8, 16, 32, 64)
    assert "StopIteration" in compared["not_measured"]["absent"]


def test_the_reason_why_a_process_ended_is_its_last_message(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{}")
    with pytest.raises(NotMeasured, match="KeyError: 'items'"):
        SystemProcess(*systems_of("masked")[0], tmp_path / "job.json", threads=1)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The commands that would make environments; they only make the folder."""
    made: list[tuple[str, ...]] = []

    def run(*command: str) -> None:
        made.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True, exist_ok=True)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(comparison, "PEERS", tmp_path)
    monkeypatch.setattr(comparison, "_run", run)
    return made


def test_a_module_without_requirements_is_run_by_this_interpreter(commands: list[tuple[str, ...]]) -> None:
    assert python_for("own") == sys.executable
    assert commands == []


def test_an_environment_is_made_once_for_each_requirements(commands: list[tuple[str, ...]], tmp_path: Path) -> None:
    (tmp_path / "peer.txt").write_text("peer==1.0\n")
    first = python_for("peer")
    assert python_for("peer") == first and len(commands) == 2
    assert Path(first).is_relative_to(tmp_path / "cache" / "clozeboard" / "peers")
    (tmp_path / "peer.txt").write_text("peer==1.1\n")
    assert python_for("peer") != first and len(commands) == 4


def test_an_environment_that_was_not_completed_is_made_again(
    commands: list[tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "peer.txt").write_text("peer==1.0\n")
    run = comparison._run

    def fail(*command: str) -> None:
        raise NotMeasured("No such release.")

    monkeypatch.setattr(comparison, "_run", fail)
    with pytest.raises(NotMeasured):
        python_for("peer")
    monkeypatch.setattr(comparison, "_run", run)
    python_for("peer")
    assert len(commands) == 2


def test_the_reason_is_what_the_command_wrote_last() -> None:
    with pytest.raises(NotMeasured, match=r"^b c d$"):
        comparison._run(sys.executable, "-c", "raise SystemExit('a\\nb\\nc\\nd')")


@pytest.mark.parametrize("module", ["llama_cpp", "minicons"])
def test_every_requirement_is_pinned(module: str) -> None:
    lines = Path(comparison.__file__).with_name("peers").joinpath(f"{module}.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith(("#", "--"))]
    assert pins and all("==" in pin for pin in pins)
    assert module != "minicons" or "torch==2.13.0" in pins


COUNTRIES = (Item(0, "Chad", (0,)), Item(1, "Norway", (2,)))
CONTINENTS = Relation("P30", ("[X] is located in [Y].",), ("Africa", "Asia", "Europe"), COUNTRIES)
WORK = Benchmark("small", "1", "", (CONTINENTS,))


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_full_scoring_computes_no_fewer_positions_than_there_must_be(kind: NetworkKind, tmp_path: Path) -> None:
    folder = build_gpt2(tmp_path / "model") if kind == "causal" else build_bert(tmp_path / "model")
    loader = AutoModelForCausalLM if kind == "causal" else AutoModelForMaskedLM
    network = loader.from_pretrained(folder).eval()
    loaded = LoadedNetwork("tiny", kind, network, AutoTokenizer.from_pretrained(folder), {})
    model = (CausalModel if kind == "causal" else MaskedModel)(network, loaded.tokenizer)
    real, distinct = fewest_positions(loaded, WORK)
    before, padding = model.usage.positions, model.usage.padding
    list(model.score(requests(WORK), Scoring()))
    computed = model.usage.positions - before - (model.usage.padding - padding)
    assert distinct <= real
    assert computed >= distinct


def encoded(*ids: int, words: tuple[int | None, ...] = ()) -> Encoded:
    places = tuple(range(1, len(ids)))
    return Encoded(ids, places, slice(0, 1), words or (None, *range(len(places))))


def test_a_prefix_counts_once_and_only_if_something_follows() -> None:
    assert fewest_causal([encoded(0, 1, 2), encoded(0, 1, 3), encoded(0, 4)]) == (8, 2)


def test_a_masked_input_that_two_statements_share_counts_once() -> None:
    assert fewest_masked([encoded(0, 1, 2), encoded(0, 1, 3)], mask=9) == (12, 9)
