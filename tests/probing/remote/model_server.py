"""A server of OpenAI's completions, computed by a local network, with the faults that real servers have had.

Its two styles are those of vLLM, which takes tokens, and of llama-cpp-python, which takes text and leaves out the
log-probabilities of the start token and of the token behind it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, Literal

import torch

from probing.scoring import reference
from probing.scoring.verbs import AnsweringModel

Style = Literal["vllm", "llama-cpp-python"]
Fault = Literal[
    "", "none", "zeros", "shifted", "order", "batch", "adds-start", "infinite", "other-form", "other-tokens",
    "more-tokens", "short", "chat-only", "strict",
]  # fmt: skip
KEY = "sk-very-secret-key"


class ModelServer(ThreadingHTTPServer):
    """`longest`: the tokens that fit. `busy`: how many requests are answered by "busy" first. `key`: what is asked for.

    `seen`: the content of each request, and at most how many were there at the same time.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, model: AnsweringModel, style: Style, fault: Fault) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.model, self.style, self.fault = model, style, fault
        self.longest, self.busy, self.key, self.fails_after = 128, 0, "", 10**9
        self.seen: list[Mapping[str, Any]] = []
        self.lock, self.present, self.most_present = Lock(), 0, 0
        self.previous: list[float] = []

    @property
    def address(self) -> str:
        return f"openai:http://127.0.0.1:{self.server_port}/v1#tiny"

    def answer(self, path: str, content: Mapping[str, Any]) -> tuple[int, Any]:
        """Return the status and the content of an answer."""
        if self.fault == "strict" and "repeat_penalty" in content:
            return 400, {"error": {"message": "Unrecognized request argument supplied: repeat_penalty"}}
        if path == "/v1/chat/completions":
            return 200, {"choices": [{"message": {"content": f"It is {content['messages'][-1]['content'][:4]}."}}]}
        if self.fault == "chat-only":
            return 404, {"detail": "Not Found"}
        prompt = content["prompt"]
        if not isinstance(prompt, str) and self.style == "llama-cpp-python":
            return 422, {"detail": [{"msg": "Input should be a valid string"}]}
        ids = self.ids(prompt) + [self.start] * (self.fault == "more-tokens")
        if len(ids) + content["max_tokens"] > self.longest:
            text = f"This model's maximum context length is {self.longest} tokens."
            return 400, {"error": {"message": text, "type": "invalid_request_error"}}
        return 200, self.completion(ids, content)

    def ids(self, prompt: str | Sequence[int]) -> list[int]:
        if not isinstance(prompt, str):
            return list(prompt)
        ids: list[int] = self.model.tokenizer(prompt, add_special_tokens=False).input_ids
        return [self.start, *ids] if self.fault == "adds-start" else ids

    @property
    def start(self) -> int:
        return int(self.model.tokenizer.bos_token_id)

    def completion(self, ids: list[int], content: Mapping[str, Any]) -> dict[str, Any]:
        with torch.inference_mode():
            logits = self.model.network(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(-1)
        new = int(logits[-1].argmax())
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1}
        choice: dict[str, Any] = {"text": self.model.tokenizer.decode([new]), "logprobs": None}
        if not content.get("echo"):
            token = self.model.tokenizer.decode([new]) if self.style == "llama-cpp-python" else f"token_id:{new}"
            value = 0.0 if self.fault == "zeros" else float(logits[-1, new])
            choice["logprobs"] = {"tokens": [token], "token_logprobs": [value]}
        elif self.fault != "none":
            own = reference.causal_log_probs(self.model.network, [ids])[0].tolist()
            choice["logprobs"] = self.logprobs(ids, new, own, logits)
        return {"choices": [choice], "usage": usage} if self.fault != "other-form" else {"result": "fine"}

    def logprobs(self, ids: list[int], new: int, own: list[float], logits: torch.Tensor) -> dict[str, Any]:
        values: list[float | None] = [None, *own[1:], float(logits[-1, new])]
        tokens = [*ids, new]
        if self.fault == "shifted":
            values = [None, *next_to(logits, ids), values[-1]]
        values = self.with_fault(values)
        if self.style == "llama-cpp-python":
            if ids[0] == self.start:
                tokens, values = tokens[1:], [None, *values[2:]]
            else:  # as in version 0.3.36: each token with the distribution behind it, and none for the new one
                tokens, values = ids, [None, *next_to(logits, ids)]
            return {"tokens": [self.model.tokenizer.decode([token]) for token in tokens], "token_logprobs": values}
        tokens = tokens[::-1] if self.fault == "other-tokens" else tokens
        return {"tokens": [f"token_id:{token}" for token in tokens], "token_logprobs": values}

    def with_fault(self, values: list[float | None]) -> list[float | None]:
        if self.fault == "zeros":
            return [None, *[0.0] * (len(values) - 1)]
        if self.fault == "short":
            return values[1:-1]
        if self.fault == "infinite":
            return [*values[:-2], float("-inf"), values[-1]]
        if self.fault == "batch" and self.most_present > 1:
            return [None, *(value * 1.5 for value in values[1:] if value is not None)]
        if self.fault == "order":
            with self.lock:
                earlier, self.previous = self.previous, [value for value in values if value is not None]
            return [None, *(earlier + self.previous)[: len(values) - 1]]
        return values


def next_to(logits: torch.Tensor, ids: list[int]) -> list[float]:
    """Return what the distribution behind each token says of that token, but for the first."""
    return [float(row[token]) for row, token in zip(logits[1:], ids[1:], strict=True)]


class Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = self.server
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.seen.append(content)
            server.present += 1
            server.most_present = max(server.most_present, server.present)
            is_busy, server.busy = server.busy > 0, server.busy - 1
        try:
            if server.key and self.headers["Authorization"] != f"Bearer {server.key}":
                self.send(401, {"error": {"message": f"Incorrect API key {self.headers['Authorization']}"}})
            elif len(server.seen) > server.fails_after:
                self.send(400, {"error": {"message": f"The model has gone. ({self.headers['Authorization']})"}})
            else:
                self.send(*((503, "busy") if is_busy else server.answer(self.path, content)))
        finally:
            with server.lock:
                server.present -= 1

    def send(self, status: int, content: Any) -> None:
        encoded = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def serving(model: AnsweringModel, style: Style = "vllm", fault: Fault = "") -> Iterator[ModelServer]:
    server = ModelServer(model, style, fault)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
