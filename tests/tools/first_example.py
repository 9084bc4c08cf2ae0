"""Run the first example of the README, and the same as a command: `python -m tests.tools.first_example`.

A small model with random weights is served under the id of the example by a local hub.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hub.local_hub import serve
from tests.tiny_models import build_gpt2

README = Path(__file__).parents[2] / "README.md"


def main() -> None:
    text = README.read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (model,) = re.findall(r'probing\.run\("(.*?)"', example)
    command = [*f"-m probing run {model} --benchmark starter --sample 5 --out results".split()]
    with tempfile.TemporaryDirectory() as folder, serve() as hub:
        hub.add(model, build_gpt2(Path(folder) / "network"))
        environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HOME": str(Path(folder) / "cache")}
        for words in (["-c", example], command):
            subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    main()
