"""Served models: equal to the local network, and refused with the evidence for each fault that servers have had."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pandas as pd
import pytest

import probing
from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.errors import BadInput, ProbingError, TooLong, UnsupportedModel
from probing.formats import dlama
from probing.language_model import OptionScores, Scoring, fitting
from probing.remote.connection import NotWelcome, SiteRefused, SiteUnavailable
from probing.remote.served import KEY as KEY_VARIABLE
from probing.remote.served import PARALLEL, CompletionServer, ServedModel, UnfitServer, connect
from probing.results.result import Result
from probing.results.run_json import refuse_served
from probing.scoring.verbs import AnsweringModel
from probing.template import Prompt
from tests.conftest import BearFolder
from tests.probing.command_line.helpers import printed_by
from tests.probing.formats.dlama_folder import DlamaFolder
from tests.probing.remote.model_server import KEY, Fault, ModelServer, Style, serving
from tests.tiny_models import build_llama

STYLES: tuple[Style, ...] = ("vllm", "llama-cpp-python")
REQUESTS = [
    (Prompt(("Chad is located in ", " today."), 0), ["Africa", "Asia", "South America"]),
    (Prompt(("", " is the capital of Norway."), 0), ["Oslo", "Nairobi"]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_llama(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def local(folder: Path) -> AnsweringModel:
    return probing.load(str(folder), device="cpu")


@pytest.fixture
def server(local: AnsweringModel) -> Iterator[ModelServer]:
    with serving(local) as server:
        yield server


def served(server: ModelServer) -> ServedModel:
    """The model as `connect` returns it; its tokenizer is not read again, which takes seconds."""
    address, _, name = server.address.removeprefix("openai:").partition("#")
    return ServedModel(CompletionServer(address, name, None), server.model.tokenizer)


def token_scores(model: probing.language_model.LanguageModel, scoring: Scoring) -> list[OptionScores]:
    return [fitting(scores) for scores in model.score(REQUESTS, scoring)]


def test_a_run_equals_that_of_the_local_network(
    server: ModelServer, folder: Path, benchmark: Benchmark, tmp_path: Path
) -> None:
    ours = probing.run(str(folder), benchmark, device="cpu", templates=(), progress=False)
    theirs = probing.run(
        server.address, benchmark, tokenizer=folder, out=tmp_path / "out", templates=(), progress=False
    )
    columns = ours.items.columns.drop("scores")
    pd.testing.assert_frame_equal(ours.items[columns], theirs.items[columns])
    np.testing.assert_allclose(np.concatenate(ours.items["scores"]), np.concatenate(theirs.items["scores"]), atol=1e-3)
    assert 1 < server.most_present <= PARALLEL
    texts = [str(content["prompt"]) for content in server.seen]
    assert len(texts) - len(set(texts)) <= 16  # all are sent once, but for those of the handshake


@pytest.mark.parametrize("scoring", [Scoring(), Scoring(span="answer"), Scoring(decide=1)])
def test_log_probabilities_equal_those_of_the_local_network(
    server: ModelServer, local: AnsweringModel, scoring: Scoring
) -> None:
    theirs = token_scores(served(server), scoring)
    for one, other in zip(token_scores(local, Scoring(span=scoring.span)), theirs, strict=True):
        assert (one.answers, one.texts, one.spans) == (other.answers, other.texts, other.spans)
        np.testing.assert_allclose(np.concatenate(one.log_probs), np.concatenate(other.log_probs), atol=1e-3)


def test_the_first_token_is_left_out_where_a_server_does_not_score_it(local: AnsweringModel) -> None:
    with serving(local, "llama-cpp-python") as server:
        model = served(server)
        for one, other in zip(token_scores(local, Scoring()), token_scores(model, Scoring()), strict=True):
            for ours, theirs, answer in zip(one.log_probs, other.log_probs, one.answers, strict=True):
                np.testing.assert_allclose(ours[1:], theirs, atol=1e-3)
                assert answer.stop - 1 in [found.stop for found in other.answers]
            assert [spans[1:] for spans in one.spans] == list(other.spans)
        assert any("first token" in note for note in model.usage.notes)


FAULTS: list[tuple[Fault, str]] = [
    ("none", "returns no log-probabilities of a prompt"),
    ("zeros", r"gives '<s>The capital of France is' these log-probabilities: none, .*0\.00, 0\.00"),
    ("shifted", r"the log-probability -\d\.\d\d where it writes it, and -\d+\.\d\d where it reads it"),
    ("order", "they stand at other tokens"),
    ("batch", r"log-probabilities that add up to -\d+\.\d\d alone, and to -\d+\.\d\d among others"),
    ("infinite", "returns -inf as a log-probability"),
    ("other-form", r"answers in an unknown form: \{'result': 'fine'\}"),
    ("more-tokens", r"reads \d+ tokens where the tokenizer has \d+|stand at other tokens"),
    ("short", r"returns \d+ log-probabilities for the \d+ tokens of a prompt"),
]


FAULTS_OF_STYLES = [*product(STYLES, FAULTS), ("vllm", ("other-tokens", "reads other tokens"))]


@pytest.mark.parametrize(("style", "fault"), FAULTS_OF_STYLES)
def test_a_faulty_server_is_refused_with_the_evidence(
    local: AnsweringModel, style: Style, fault: tuple[Fault, str]
) -> None:
    kind, evidence = fault
    with serving(local, style, kind) as server, pytest.raises(UnfitServer, match=evidence):
        token_scores(served(server), Scoring())


@pytest.mark.parametrize(
    ("start", "evidence"), [("none", "returns 9 log-probabilities for the 10 tokens"), ("5", "stand at other tokens")]
)
def test_llama_cpp_without_its_start_token_is_refused(local: AnsweringModel, start: str, evidence: str) -> None:
    with serving(local, "llama-cpp-python") as server, pytest.raises(UnfitServer, match=evidence):
        token_scores(served(server).starting(start), Scoring())


def test_a_server_that_adds_the_start_token_itself_gets_texts_without_it(local: AnsweringModel) -> None:
    with serving(local, "llama-cpp-python", "adds-start") as server:
        token_scores(served(server), Scoring())
        assert server.seen[-1]["prompt"].startswith(("Chad", "Oslo", "Nairobi"))


def test_a_busy_server_is_asked_again(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    server.busy = 3
    assert token_scores(served(server), Scoring())


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1:9", "no-such-host.invalid:8000"])
def test_an_address_without_a_server_is_told_within_seconds(host: str, local: AnsweringModel) -> None:
    model = ServedModel(CompletionServer(f"http://{host}/v1", "tiny", None), local.tokenizer)
    began = time.monotonic()
    with pytest.raises(SiteUnavailable, match=f"http://{host}/v1 does not answer. Check the address"):
        token_scores(model, Scoring())
    assert time.monotonic() - began < 15  # the pauses of all attempts are two minutes


def test_a_server_that_is_still_starting_is_asked_again(
    server: ModelServer, local: AnsweringModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = served(server)
    client = model.server._client
    failures = [httpx2.ConnectError("no answer")] * 3
    send = client.send

    def late(*arguments: Any, **options: Any) -> httpx2.Response:
        if failures:
            raise failures.pop()
        return send(*arguments, **options)

    monkeypatch.setattr(client, "send", late)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    assert token_scores(model, Scoring())
    assert not failures


def test_a_server_that_is_gone_during_a_run_is_waited_for(
    local: AnsweringModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    with serving(local) as server:
        model = served(server)
        token_scores(model, Scoring())
    model.server._client = model.server._open()  # open connections of a closed server of this test are still answered
    monkeypatch.setattr(time, "sleep", pauses.append)
    with pytest.raises(SiteUnavailable, match="does not answer"):
        model.server.next("The capital of Norway is")
    assert 100 < sum(pauses) < 200


def test_a_run_goes_on_where_it_was_interrupted(
    server: ModelServer, folder: Path, benchmark: Benchmark, tmp_path: Path
) -> None:
    def go_on(address: str) -> Result:
        return probing.run(address, benchmark, tokenizer=folder, out=tmp_path / "out", progress=False)

    token_scores(served(server), Scoring())
    handshake = len(server.seen) - 5
    server.fails_after = len(server.seen) + handshake + 14  # in the second part
    with pytest.raises(SiteRefused, match="The model has gone"):
        go_on(server.address)
    assert list((tmp_path / "out.partial").glob("*.parquet"))
    server.fails_after = 10**9
    with pytest.raises(BadInput, match="parts of a different run"):
        go_on(server.address.replace("#tiny", "#other"))
    server.seen.clear()
    assert len(go_on(server.address).items) == 6
    assert handshake < len(server.seen) <= handshake + 4  # the first part was not asked again
    with pytest.raises(BadInput, match="does not say whether its weights are still the same"):
        go_on(server.address)


def test_the_record_says_that_the_weights_are_not_pinned(
    server: ModelServer, folder: Path, bear_folder: BearFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", server.address, "--tokenizer", str(folder), "--benchmark", str(bear_folder.write())]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    assert "the weights are not pinned" in printed_by(capsys, "show", str(tmp_path / "out"))
    record = Result.load(tmp_path / "out").record
    assert record["model"] | {"id": server.address, "source": "served", "commit": "", "files": {}} == record["model"]
    assert (record["device"], record["dtype"], record["settings"]["dtype"]) == ("server", "unknown", "unknown")
    with pytest.raises(BadInput, match=r"was served.*a site ranks no such results"):
        refuse_served(record["model"])


def test_the_key_comes_from_the_environment_and_stays_there(
    server: ModelServer,
    folder: Path,
    benchmark: Benchmark,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    server.key = KEY
    run: dict[str, Any] = {"benchmark": benchmark, "tokenizer": folder, "out": tmp_path / "out", "keep_tokens": True}
    with pytest.raises(NotWelcome, match=f"does not accept the key. Set {KEY_VARIABLE}"):
        probing.run(server.address, progress=False, **run)
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    server.fails_after = len(server.seen) + 30
    with pytest.raises(SiteRefused, match=r"Bearer \*\*\*"):
        probing.run(server.address, progress=False, **run)
    server.fails_after = 10**9
    probing.run(server.address, progress=False, **run)
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert not any(KEY.encode() in content for content in files)
    assert KEY not in caplog.text


def test_a_server_of_chats_alone_is_asked_for_answers(local: AnsweringModel, tmp_path: Path) -> None:
    pairs = dlama.read(DlamaFolder(tmp_path / "pairs").write())
    with serving(local, fault="chat-only") as server:
        items = probing.run(server.address, pairs, probe="answering", progress=False).items
        assert items["prediction_label"].str.startswith("It is ").all()
        assert server.seen[0]["messages"][-1]["role"] == "user"
        with pytest.raises(UnsupportedModel, match="there is no tokenizer for them"):
            token_scores(connect(server.address), Scoring())
        with pytest.raises(UnsupportedModel, match="Name its --tokenizer"):
            probing.run(server.address, pairs, probe="cloze", chat=True, progress=False)


def test_continuations_are_counted_by_the_tokenizer(server: ModelServer, local: AnsweringModel) -> None:
    (written,) = served(server).generate(["The capital of Norway is"], 1)
    (ours,) = local.generate(["The capital of Norway is"], 1)
    assert (str(written), fitting(written).ends) == (str(ours), (len(str(ours)),))


@pytest.mark.parametrize("fault", ["", "strict"])
def test_servers_are_asked_for_no_penalty_unless_they_refuse_the_name(local: AnsweringModel, fault: Fault) -> None:
    with serving(local, fault=fault) as server:
        assert list(served(server).generate(["Chad", "Peru"], 3, chat=True)) == ["It is Chad.", "It is Peru."]
        assert server.seen[-1].get("repeat_penalty") == (None if fault else 1.0)


def test_a_text_that_is_too_long_is_left_out(server: ModelServer) -> None:
    server.longest = 60
    long = (Prompt(("Chad is located in " * 20, "."), 0), ["Africa", "Asia"])
    answers = list(served(server).score([*REQUESTS, long], Scoring()))
    assert [isinstance(answer, TooLong) for answer in answers] == [False, False, True]


REFUSED: list[tuple[str, type[ProbingError], str]] = [
    ("openai:http://127.0.0.1:9/v1", BadInput, "does not say which model is asked"),
    ("openai:http://user:secret@host/v1#m", BadInput, "'host/v1' does not say"),
    ("openai:host/v1 x#m", NotWelcome, "is not an address of a server"),
]


@pytest.mark.parametrize(("address", "error", "message"), REFUSED)
def test_bad_addresses_are_refused(address: str, error: type[ProbingError], message: str) -> None:
    with pytest.raises(error, match=message):
        connect(address)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"device": "cpu"}, "has loaded this one"),
        ({"batch_tokens": 64}, "has loaded this one"),
        ({"tokenizer": 3}, "takes no tokenizer in memory"),
        ({"dtype": "bfloat16"}, "is served with weights of type unknown, not bfloat16"),
        ({"quantization": "4bit"}, "is served, and this run does not quantise"),
        ({"start": "eos"}, "has no tokens to choose from"),
    ],
)
def test_what_the_server_decides_cannot_be_chosen(
    server: ModelServer, benchmark: Benchmark, chosen: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        probing.run(server.address, benchmark, progress=False, **chosen)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: model.fill(REQUESTS, 5), "ranks its whole vocabulary"),
        (lambda model: model.embed(["Oslo"]), "no vectors of texts"),
    ],
)
def test_verbs_of_no_server_are_refused(server: ModelServer, ask: Callable[[object], object], message: str) -> None:
    with pytest.raises(UnsupportedModel, match=message):
        ask(connect(server.address))


def test_studies_take_served_models(server: ModelServer, folder: Path, bear_folder: BearFolder, tmp_path: Path) -> None:
    study = probing.study(
        [{"model": server.address, "tokenizer": str(folder), "name": "mine"}],
        [bear_folder.write()],
        out=tmp_path / "study",
        progress=False,
    )
    assert study.table["model"].tolist() == ["mine"]
    assert json.loads((tmp_path / "study/mine/small/run.json").read_text())["model"]["source"] == "served"
