"""The real server of llama-cpp-python on the CPU, with SmolLM2-135M: equal to the local network, and its fault refused.

Installing it compiles llama.cpp for some six minutes, so that it is no requirement of the tests: the variable
CLOZEBOARD_LLAMA_PYTHON names an interpreter that has `llama-cpp-python[server]`.
"""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import numpy as np
import pytest

import probing
from probing.language_model import Scoring, fitting
from probing.remote.served import CompletionServer, ServedModel, UnfitServer, connect
from probing.scoring.verbs import AnsweringModel
from probing.template import Prompt
from speed.networks import smollm2_file, write_gguf

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
PYTHON = os.environ.get("CLOZEBOARD_LLAMA_PYTHON", "")
SECONDS = 120
# llama.cpp keeps keys and values in 16 bits.
PRECISION = 0.05
REQUESTS = [
    (Prompt((f"The capital of {country} is ", "."), 0), ["Oslo", "Paris", "Cairo", "Lima"])
    for country in ("France", "Norway", "Egypt", "Peru")
]


@pytest.fixture(scope="module")
def local() -> AnsweringModel:
    return probing.load(str(smollm2_file()), device="cpu")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not PYTHON:
        pytest.skip("CLOZEBOARD_LLAMA_PYTHON names no Python with llama-cpp-python[server]")
    file = tmp_path_factory.mktemp("served") / "smollm2.gguf"
    write_gguf(file)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--model", str(file), "--port", str(port), "--n_ctx", "256", "--verbose", "False"]
    log = file.with_suffix(".log")
    with log.open("w") as output:
        process = subprocess.Popen([PYTHON, "-m", "llama_cpp.server", *options], stdout=output, stderr=output)
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/models", process, log)
        yield f"openai:http://127.0.0.1:{port}/v1#smollm2"
    finally:
        process.kill()
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(SECONDS):
        try:
            httpx2.get(url).raise_for_status()
            return
        except httpx2.HTTPError:
            assert process.poll() is None, log.read_text()
            time.sleep(1)
    raise AssertionError(log.read_text())


def test_scores_equal_those_of_the_local_network(address: str, local: AnsweringModel) -> None:
    served = connect(address, tokenizer=str(smollm2_file()))
    for request, theirs in zip(REQUESTS, served.score(REQUESTS, Scoring()), strict=True):
        (ours,) = map(fitting, local.score([request], Scoring()))
        assert fitting(theirs).texts == ours.texts
        for one, other in zip(ours.log_probs, fitting(theirs).log_probs, strict=True):
            np.testing.assert_allclose(one[1:], other, atol=PRECISION)
    assert any("first token" in note for note in served.usage.notes)


def test_texts_equal_those_of_the_local_network(address: str, local: AnsweringModel) -> None:
    texts = ["The capital of France is", "One, two, three, four,"]
    served = connect(address, tokenizer=str(smollm2_file()))
    ours = local.starting("none").generate(texts, 4)  # the server puts no start token before a text of this model
    assert [str(text) for text in served.generate(texts, 4)] == [str(text) for text in ours]


@pytest.mark.parametrize(("start", "evidence"), [("none", "log-probabilities for the"), ("5", "stand at other tokens")])
def test_without_its_start_token_it_is_refused(address: str, local: AnsweringModel, start: str, evidence: str) -> None:
    location, _, name = address.removeprefix("openai:").partition("#")
    model = ServedModel(CompletionServer(location, name, None), local.tokenizer).starting(start)
    with pytest.raises(UnfitServer, match=evidence):
        next(iter(model.score(REQUESTS, Scoring())))
