"""The order in which runs are worked on."""

import random

from leaderboard.turns import OpenTurn, in_turn


def waiting(run: int, submitter: str, submitted: float) -> OpenTurn:
    return OpenTurn(run, submitter, submitted)


def order(runs: list[OpenTurn], served: dict[str, float] | None = None) -> list[int]:
    return [turn.run for turn in in_turn(runs, served or {})]


def test_runs_of_one_submitter_come_in_the_order_of_their_submission() -> None:
    assert order([waiting(2, "a", 20), waiting(1, "a", 10), waiting(3, "a", 20)]) == [1, 2, 3]


def test_the_first_run_of_each_submitter_comes_before_the_second_of_anybody() -> None:
    flood = [waiting(number, "flood", number) for number in range(1, 6)]
    late = [waiting(10, "late", 100), waiting(11, "late", 101), waiting(20, "later", 200)]
    assert order(flood + late) == [1, 10, 20, 2, 11, 3, 4, 5]


def test_a_run_that_has_a_worker_counts_as_the_first_of_its_submitter() -> None:
    runs = [OpenTurn(1, "a", 1, True, 1), waiting(2, "a", 2), waiting(3, "b", 3)]
    assert order(runs) == [3, 2, 1]


def test_a_submitter_who_was_served_goes_to_the_end_of_the_line() -> None:
    runs = [waiting(2, "a", 1), waiting(3, "b", 2), waiting(4, "c", 30)]
    assert order(runs, {"a": 10, "b": 20}) == [2, 3, 4]
    assert order(runs, {"a": 25, "b": 20}) == [3, 2, 4]
    assert order(runs, {"a": 40, "b": 20}) == [3, 4, 2]


def test_a_turn_that_ended_before_the_submission_does_not_count() -> None:
    assert order([waiting(1, "a", 10), waiting(2, "b", 9)], {"a": 5}) == [2, 1]


def test_runs_that_have_workers_come_last_those_with_the_fewest_first() -> None:
    runs = [OpenTurn(1, "a", 1, True, 2), OpenTurn(2, "b", 2, True, 1), waiting(3, "a", 3)]
    assert order(runs) == [3, 2, 1]


def test_nobody_waits_for_ever_beside_two_who_always_have_a_run() -> None:
    served: dict[str, float] = {}
    runs = [waiting(1, "a", 0), waiting(2, "b", 1), waiting(3, "c", 2)]
    taken = []
    for time in range(3, 12):
        turn = in_turn(runs, served)[0]
        taken.append(turn.submitter)
        served[turn.submitter] = time
        runs = [waiting(10 * time, turn.submitter, turn.submitted) if run == turn else run for run in runs]
    assert "".join(taken) == "abcabcabc"


def test_the_next_run_is_the_same_if_only_the_first_of_each_submitter_is_compared() -> None:
    chance = random.Random(1)
    for _ in range(200):
        runs = [
            OpenTurn(number, chance.choice("abcd"), chance.randrange(9), workers=chance.choice([0, 0, 0, 1]))
            for number in range(12)
        ]
        served = {name: chance.randrange(9) for name in "abc"}
        free = [turn for turn in runs if not turn.workers]
        heads = [
            min((turn for turn in free if turn.submitter == name), key=lambda t: (t.submitted, t.run), default=None)
            for name in "abcd"
        ]
        few = [turn for turn in runs if turn.workers] + [turn for turn in heads if turn]
        assert order(few, served)[0] == order(runs, served)[0]
