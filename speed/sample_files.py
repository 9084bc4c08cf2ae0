"""Measure how long `clozeboard compare` takes for samples of lm-evaluation-harness: `python -m speed.sample_files`.

The peer reads the same files line by line with Python's `json`, which is the least that a script of one's own does. The
exit code is 1 if a comparison takes longer than the limit, or longer than the peer.
"""

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

TASKS, QUESTIONS = 12, 10_000
LIMIT = 3.0  # seconds
ROUNDS = 3
PEER = "import json, sys; [json.loads(line) for name in sys.argv[1:] for line in open(name, 'rb')]"


def write_samples(folder: Path, seed: int, tasks: int = TASKS, questions: int = QUESTIONS) -> None:
    """Write the samples of a model that guesses among four options."""
    draw = random.Random(seed)
    folder.mkdir()
    for task in range(tasks):
        with (folder / f"samples_task{task}_2026-11-28T00-00-00.0.jsonl").open("w", encoding="utf-8") as file:
            for number in range(questions):
                file.write(json.dumps(_sample(draw, number)) + "\n")


def _sample(draw: random.Random, number: int) -> dict[str, object]:
    text, scores = f"Question {number}: which of these is right?\nAnswer:", [-20 * draw.random() for _ in range(4)]
    responses = [[str(score), "False"] for score in scores]
    return {
        "doc_id": number,
        "doc": {"question": text, "answer": 0},
        "target": "0",
        "arguments": {f"gen_args_{place}": {"arg_0": text, "arg_1": f" option {place}"} for place in range(4)},
        "resps": [[response] for response in responses],
        "filtered_resps": responses,
        "filter": "none",
        "metrics": ["acc"],
        **{f"{name}_hash": f"{number:064x}" for name in ("doc", "prompt", "target")},
        "acc": float(scores[0] == max(scores)),
    }


def seconds(*words: str) -> float:
    """Return how long Python takes with these words."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main(tasks: int = TASKS, questions: int = QUESTIONS) -> int:
    with TemporaryDirectory() as name:
        sides = [Path(name) / side for side in "ab"]
        for seed, folder in enumerate(sides):
            write_samples(folder, seed, tasks, questions)
        files = [str(file) for folder in sides for file in sorted(folder.iterdir())]
        compared = ("-m", "probing", "compare", *map(str, sides))
        # In turns, so that whatever else the machine does slows down both.
        turns = [(seconds(*compared), seconds("-c", PEER, *files)) for _ in range(ROUNDS)]
    own, peer = (min(times) for times in zip(*turns, strict=True))
    print(f"{2 * tasks * questions:,} samples: compared in {own:.1f} s (limit {LIMIT:.0f} s), read in {peer:.1f} s")
    return int(own > LIMIT or own > peer)


if __name__ == "__main__":
    sys.exit(main())
