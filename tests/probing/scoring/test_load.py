"""Loading from the hub, a folder or a GGUF file, with a clear error for everything that can be wrong with the files."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import gguf
import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    BertForMaskedLM,
    BertLMHeadModel,
    GPTJConfig,
    GPTNeoConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.errors import (
    BadConfig,
    BadInput,
    BadWeights,
    BrokenTokenizer,
    Gated,
    ModelNotFound,
    NoFastTokenizer,
    NoHead,
    ProbingError,
    SourceUnavailable,
    TooLarge,
    UnknownArchitecture,
    UnsafeModel,
    UnsupportedModel,
)
from probing.files.description import describe
from probing.files.gguf_cache import GIGABYTES
from probing.files.listing import folder_listing
from probing.part_runner import peak_memory
from probing.runner import run
from probing.scoring import loading_options
from probing.scoring.causal import CausalModel
from probing.scoring.load import load
from probing.scoring.loading_options import DTYPES, LoadingOptions
from probing.scoring.masked import MaskedModel
from probing.settings import Settings
from probing.template import prompt
from tests.conftest import BearFolder
from tests.hub.local_hub import Hub, serve
from tests.probing.scoring.compare import answers
from tests.probing.scoring.networks import HEAD_APART, REFERENCE_CAUSAL, REFERENCE_MASKED, SHARING, SIZES
from tests.tiny_models import build_bert, build_gpt2, build_llama, byte_level_bpe, word_piece


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        name: build(folder / name)
        for name, build in (("gpt2", build_gpt2), ("llama", build_llama), ("bert", build_bert))
    }


@pytest.fixture
def gpt2(built: dict[str, Path], tmp_path: Path) -> Path:
    """A copy that tests may damage."""
    return copytree(built["gpt2"], tmp_path / "gpt2")


@pytest.fixture
def bert(built: dict[str, Path], tmp_path: Path) -> Path:
    return copytree(built["bert"], tmp_path / "bert")


@pytest.fixture
def hub(built: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub with `org/gpt2`, and an empty cache."""
    with serve() as server:
        server.add("org/gpt2", built["gpt2"])
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        yield server


def change(folder: Path, name: str, **values: Any) -> None:
    """Set keys of one of the model's JSON files."""
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(("name", "kind"), [("gpt2", CausalModel), ("llama", CausalModel), ("bert", MaskedModel)])
def test_a_folder_becomes_a_model_with_a_card(built: dict[str, Path], name: str, kind: type) -> None:
    model = load(str(built[name]), device="cpu")
    assert isinstance(model, kind)
    assert (model.card.kind, model.card.source) == ("masked" if name == "bert" else "causal", "folder")
    assert model.card.parameters == model.network.num_parameters()
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(model.card.files)
    (scores,) = answers(model, [(prompt("[X] is in [Y].", "Chad"), ["Africa", "Asia"])])
    assert (scores.reduce() < 0).all()


def test_a_hub_id_is_downloaded_at_its_newest_commit(hub: Hub, built: dict[str, Path]) -> None:
    model = load("org/gpt2", device="cpu")
    assert (model.card.source, model.card.commit) == ("hub", hub.repositories["org/gpt2"].commit)
    assert torch.equal(
        model.network.get_input_embeddings().weight,
        load(str(built["gpt2"]), device="cpu").network.get_input_embeddings().weight,
    )


def test_a_hub_id_is_downloaded_at_a_given_commit(hub: Hub) -> None:
    commit = hub.repositories["org/gpt2"].commit
    assert load("org/gpt2", commit=commit, device="cpu").card.commit == commit
    with pytest.raises(ModelNotFound):
        load("org/gpt2", commit="0" * 40, device="cpu")


def test_the_name_of_a_revision_is_kept_beside_its_commit(hub: Hub, built: dict[str, Path], tmp_path: Path) -> None:
    step = hub.repositories["org/gpt2"].add_revision(
        "step1000", Path(shutil.copytree(built["gpt2"], tmp_path / "gpt2"))
    )
    card = load("org/gpt2", commit="step1000", device="cpu").card
    assert (card.commit, card.revision) == (step.commit, "step1000")
    assert load("org/gpt2", commit=step.commit, device="cpu").card.revision == ""


def test_a_checkpoint_of_a_training_is_named_by_its_folder(built: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(built["gpt2"], tmp_path / "checkpoint-20")
    assert load(str(tmp_path / "checkpoint-20"), device="cpu").card.revision == "checkpoint-20"
    assert load(str(built["gpt2"]), device="cpu").card.revision == ""


def test_only_what_loading_needs_is_downloaded(hub: Hub, gpt2: Path) -> None:
    for name in ("pytorch_model.bin", "modeling_own.py", "README.md", "vocab.txt", "flax_model.msgpack"):
        (gpt2 / name).write_text("x")
    hub.add("org/more", gpt2)
    load("org/more", device="cpu")
    assert hub.downloaded("model.safetensors")
    assert not any(map(hub.downloaded, ["pytorch_model.bin", "modeling_own.py", "README.md", "flax_model.msgpack"]))


@pytest.mark.parametrize("name", ["org/none", "none", "not an id", "a/b/c", "../x", "org/"])
def test_a_name_without_a_model_is_not_found(hub: Hub, name: str) -> None:
    with pytest.raises(ModelNotFound) as caught:
        load(name, device="cpu")
    assert "spelling" in caught.value.next_step


def test_a_gated_model_is_unsupported(hub: Hub, built: dict[str, Path]) -> None:
    hub.add("org/gated", built["gpt2"], gated="manual")
    with pytest.raises(Gated, match="gated"):
        load("org/gated", device="cpu")


def test_a_failing_hub_is_not_a_permanent_error(hub: Hub) -> None:
    hub.broken = 500
    with pytest.raises(SourceUnavailable) as caught:
        load("org/gpt2", device="cpu")
    assert not caught.value.permanent


def test_a_missing_gguf_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"no file .*model\.gguf"):
        load(str(tmp_path / "model.gguf"))


def test_a_broken_gguf_file_is_unsupported(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF but not really")
    with pytest.raises(UnsupportedModel, match=r"model\.gguf cannot be loaded: .*\. Copy it again\.$"):
        load(str(tmp_path / "model.gguf"), device="cpu")


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def rewrite(name: str, **values: Any) -> Callable[[Path], None]:
    return lambda folder: change(folder, name, **values)


def overwrite(name: str, content: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / name).write_text(content)


def pickle_only(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])


def forget(folder: Path) -> None:
    """Remove a layer, which transformers would fill with random numbers."""
    path = folder / "model.safetensors"
    weights = {name: tensor for name, tensor in load_file(path).items() if ".h.1.mlp.c_fc" not in name}
    save_file(weights, path, metadata={"format": "pt"})


def indexed(shard: Any) -> Callable[[Path], None]:
    """Replace the weights by an index that names one file; pickled and outside copies of the weights lie about."""

    def damage(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        torch.save(weights, folder / "pytorch_model.bin")
        (folder.parent / "other").mkdir(exist_ok=True)
        (folder / "model.safetensors").rename(folder.parent / "other" / "model.safetensors")
        index = {"metadata": {}, "weight_map": dict.fromkeys(weights, shard)}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    return damage


def one_empty_index(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text("{}")


DAMAGED: dict[str, tuple[Callable[[Path], Any], type[ProbingError], str]] = {
    "no config": (remove("config.json"), BadConfig, "has no config.json"),
    "half a config": (overwrite("config.json", '{"model_type": "gp'), BadConfig, "not valid JSON"),
    "a list as config": (overwrite("config.json", "[]"), BadConfig, "not a JSON object"),
    "an unknown type": (rewrite("config.json", model_type="gpt99"), UnknownArchitecture, "'gpt99'"),
    "a type that is no text": (rewrite("config.json", model_type=["gpt2"]), UnknownArchitecture, "gpt2"),
    "no architecture": (rewrite("config.json", architectures=None), NoHead, "modelling head"),
    "an architecture that is no text": (
        rewrite("config.json", architectures=[[1]]),
        NoHead,
        "modelling head",
    ),
    "architectures that are a number": (rewrite("config.json", architectures=7), NoHead, "modelling head"),
    "a classifier": (rewrite("config.json", architectures=["GPT2ForSequenceClassification"]), NoHead, "head"),
    "a size that is no number": (rewrite("config.json", n_embd="big"), BadConfig, "cannot be read"),
    "no heads": (rewrite("config.json", n_head=0), BadConfig, "cannot be loaded"),
    "another size than the weights": (
        rewrite("config.json", n_embd=64),
        BadConfig,
        "by the config, but",
    ),
    "no weights": (remove("model.safetensors"), UnsafeModel, "no safetensors"),
    "pickled weights": (pickle_only, UnsafeModel, "no safetensors"),
    "cut weights": (cut, BadWeights, "model.safetensors is damaged"),
    "weights that lack a layer": (forget, BadWeights, "lacks transformer.h.1.mlp.c_fc"),
    "a missing shard": (indexed("model-00001-of-00002.safetensors"), BadWeights, "lacks model-00001"),
    "an index of pickled weights": (indexed("pytorch_model.bin"), UnsafeModel, "names 'pytorch_model.bin'"),
    "an index that leaves the folder": (indexed("../other/model.safetensors"), UnsafeModel, "names '../other"),
    "an index of numbers": (indexed(7), UnsafeModel, "names '7'"),
    "an index without shards": (one_empty_index, BadWeights, "names no files"),
    "own code": (
        rewrite("config.json", model_type="own", auto_map={"AutoConfig": "own.Config"}),
        UnsafeModel,
        "auto_map",
    ),
    "own nested code": (
        rewrite("config.json", text_config={"auto_map": {"AutoConfig": "own.Config"}}),
        UnsafeModel,
        "auto_map",
    ),
    "own nested tokenizer code": (
        rewrite("tokenizer_config.json", more={"auto_map": {"AutoTokenizer": ["x"]}}),
        UnsafeModel,
        "auto_map",
    ),
    "a tokenizer without a model": (overwrite("tokenizer.json", '{"version": "1.0"}'), BrokenTokenizer, "tokenizer"),
    "half a tokenizer": (overwrite("tokenizer.json", '{"version": "1.0", '), BrokenTokenizer, "tokenizer"),
    "no tokenizer": (remove("tokenizer.json"), NoFastTokenizer, "no fast tokenizer"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_folder_is_reported_as_such(name: str, gpt2: Path) -> None:
    damage, error, words = DAMAGED[name]
    damage(gpt2)
    with pytest.raises(error) as caught:
        load(str(gpt2), device="cpu")
    assert type(caught.value) is error
    assert words in caught.value.message
    assert caught.value.next_step


@pytest.mark.parametrize("name", DAMAGED)
def test_the_command_line_reports_a_damaged_folder_in_one_line(
    name: str, gpt2: Path, bear_folder: BearFolder, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    DAMAGED[name][0](gpt2)
    arguments = ["run", str(gpt2), "--benchmark", str(bear_folder.write()), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--device", "cpu"]) == 2
    errors = capfd.readouterr().err.strip().splitlines()
    assert errors[-1].startswith("error: ")
    assert not any("Traceback" in line for line in errors)


def test_a_masked_model_without_a_mask_token_is_unsupported(bert: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (bert / name).unlink()
    byte_level_bpe().save_pretrained(bert)
    with pytest.raises(UnsupportedModel, match="no mask token"):
        load(str(bert), device="cpu")


def test_a_causal_head_that_sees_later_tokens_is_unsupported(tmp_path: Path) -> None:
    """BERT with a causal head but without `is_decoder`: its log-probabilities would know the answer."""
    tokenizer = word_piece()
    tokenizer.save_pretrained(tmp_path)
    BertLMHeadModel(BertConfig(vocab_size=len(tokenizer), pad_token_id=0, **SIZES)).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedModel, match="sees the tokens"):
        load(str(tmp_path), device="cpu")


def test_a_failed_self_check_is_noted_when_the_model_is_loaded(tmp_path: Path) -> None:
    tokenizer = byte_level_bpe(vocabulary=400)
    REFERENCE_CAUSAL["bloom"](len(tokenizer)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (note,) = load(str(tmp_path), device="cpu").usage.notes
    assert note.startswith("scored with the reference implementation")


def test_a_base_model_saved_without_its_head_is_unsupported(tmp_path: Path) -> None:
    tokenizer = word_piece()
    tokenizer.save_pretrained(tmp_path)
    network = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), pad_token_id=0, **SIZES))
    network.bert.save_pretrained(tmp_path)
    change(tmp_path, "config.json", architectures=["BertForMaskedLM"])
    with pytest.raises(BadWeights, match="lacks cls"):
        load(str(tmp_path), device="cpu")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtype": "float8"}, "Unknown dtype 'float8'"),
        ({"device": "gpu"}, "Unknown device 'gpu'"),
        ({"device": "cuda:99"}, "no device cuda:99"),
        ({"device": "meta"}, "no device meta"),
        ({"device": "hpu"}, "no device hpu"),
        ({"commit": "0" * 40}, "has no commits"),
        ({"batch_tokens": 0}, "Batches cannot hold 0 tokens"),
        ({"quantization": "2bit"}, "Unknown quantization '2bit'"),
        ({"attn_implementation": "flash_attention_2"}, "needs a mask for each pair of tokens"),
        ({"device_map": "everywhere"}, "device_map cannot be 'everywhere'"),
        ({"device_map": 3}, "device_map cannot be 3"),
        ({"device_map": "auto", "device": "cpu"}, "both say where the model goes"),
    ],
)
def test_a_bad_option_is_bad_input(built: dict[str, Path], options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        load(str(built["gpt2"]), **options)
    assert caught.value.next_step


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_weights_are_loaded_in_the_requested_type(built: dict[str, Path], dtype: str) -> None:
    assert load(str(built["gpt2"]), dtype=dtype, device="cpu").dtype == dtype


@pytest.mark.parametrize("dtype", ["torch.bfloat16", torch.bfloat16])
def test_a_type_is_named_as_torch_names_it_too(built: dict[str, Path], dtype: Any) -> None:
    assert load(str(built["gpt2"]), dtype=dtype, device="cpu").dtype == "bfloat16"


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_the_attention_can_be_chosen(built: dict[str, Path], attention: str) -> None:
    model = load(str(built["gpt2"]), device="cpu", attn_implementation=attention)
    assert model.network.config._attn_implementation == attention  # type: ignore[attr-defined]


def test_a_map_of_devices_takes_the_place_of_the_device(built: dict[str, Path]) -> None:
    model = load(str(built["gpt2"]), device_map={"": "cpu"})
    assert model.device == "cpu"
    assert LoadingOptions.of("auto", "balanced", "float32", "none", "").placement(10**9) == "balanced"


@pytest.mark.parametrize(("dtype", "spread"), [("float32", True), ("bfloat16", False)])
def test_a_model_is_spread_if_one_gpu_cannot_hold_it_in_the_type_asked_for(
    gpt2: Path, dtype: str, spread: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The type in which the weights are stored (here half precision) does not matter."""
    weights = {name: tensor.bfloat16() for name, tensor in load_file(gpt2 / "model.safetensors").items()}
    save_file(weights, gpt2 / "model.safetensors", metadata={"format": "pt"})
    free = 3 * sum(tensor.numel() for tensor in weights.values())
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, free))
    one_gpu = torch.device("cuda")
    options = LoadingOptions(one_gpu, True, None, DTYPES[dtype], None, "")
    placed = options.placement(describe(folder_listing(gpt2)).weights.parameters)
    assert placed == ("auto" if spread else one_gpu)


@pytest.mark.slow
def test_a_gguf_file_becomes_a_causal_model_and_the_same_one_when_it_was_kept(
    smollm2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(GIGABYTES, "1")
    request = prompt("The capital of [X] is [Y].", "France"), ["Rome", "Paris", "Oslo"]
    first = load(str(smollm2), device="cpu", batch_tokens=512)
    (scores,) = answers(first, [request])
    assert (first.card.source, first.card.architecture) == ("gguf", "LlamaForCausalLM")
    assert list(first.card.files) == [smollm2.name]
    assert scores.reduce().argmax() == 1
    monkeypatch.setattr(gguf, "GGUFReader", None)  # nothing reads the file again
    second = load(str(smollm2), device="cpu", batch_tokens=512)
    assert second.card == first.card
    assert (answers(second, [request])[0].reduce() == scores.reduce()).all()


@pytest.mark.slow
def test_a_real_model_in_half_precision_is_scored_with_the_fast_implementation(smollm2: Path) -> None:
    assert load(str(smollm2), device="cpu", dtype="bfloat16").usage.notes == []


def test_a_tokenizer_that_is_not_fast_is_unsupported(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PreTrainedTokenizerFast, "is_fast", False)
    with pytest.raises(NoFastTokenizer, match="is not a fast one"):
        load(str(gpt2), device="cpu")


def test_a_network_that_does_not_fit_on_the_device_is_told_as_such(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", full)
    with pytest.raises(TooLarge, match=r"does not fit on the device\. Use a larger device or --dtype"):
        load(str(gpt2), device="cpu")


def test_each_phase_of_loading_is_announced(gpt2: Path) -> None:
    phases: list[str] = []
    load(str(gpt2), device="cpu", on_phase=phases.append)
    assert phases == ["tokenizer", "weights", "trial"]


def test_a_chat_model_of_the_hub_is_asked_through_its_template(hub: Hub, gpt2: Path) -> None:
    (gpt2 / "chat_template.jinja").write_text("{% for m in messages %}Q: {{ m.content }} A:{% endfor %}")
    hub.add("org/chat", gpt2)
    model = load("org/chat", device="cpu")
    assert model.tokenizer.chat_template.startswith("{% for m in messages %}Q:")
    assert len(list(model.generate(["Where is Chad?"], 1, chat=True))) == 1
    assert "chat_template.jinja" in model.card.files


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_of_a_known_type_is_neither_fetched_nor_run(hub: Hub, gpt2: Path, file: str) -> None:
    for name in ("modeling_own.py", "tokenization_own.py"):
        (gpt2 / name).write_text("raise SystemExit('it was run')")
    own = {"AutoModelForCausalLM": "modeling_own.M", "AutoTokenizer": ["tokenization_own.T", None]}
    change(gpt2, file, auto_map=own)
    hub.add("org/own", gpt2)
    (note,) = load("org/own", device="cpu").usage.notes
    assert note == f"{file} names code of its own (auto_map); it is ignored, as transformers knows gpt2."
    assert not any(".py" in request for request in hub.requests)


def test_unknown_keys_of_the_config_never_reach_transformers(gpt2: Path) -> None:
    change(gpt2, "config.json", surprise=1, num_labels=10**9, per_layer_config={"0": {"n_embd": 10**9}})
    model = load(str(gpt2), device="cpu")
    assert not hasattr(model.network.config, "surprise")
    assert model.usage.notes == ["Keys of config.json that transformers does not know are ignored: surprise."]


def test_positions_that_are_computed_and_not_stored_have_a_limit(built: dict[str, Path], tmp_path: Path) -> None:
    """GPT-NeoX-like buffers of masks grow with the square of a number that no weight has to match."""
    folder = copytree(built["gpt2"], tmp_path / "neo")
    tokenizer = byte_level_bpe()
    network = AutoModelForCausalLM.from_config(
        GPTNeoConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_layers=2, num_heads=2, attention_types=[[["global"], 2]]
        )
    )
    network.save_pretrained(folder)
    change(folder, "config.json", max_position_embeddings=100_000)
    with pytest.raises(BadConfig, match="describes another model than the weights"):
        load(str(folder), device="cpu")


def test_positions_that_no_weight_has_to_match_are_not_built(built: dict[str, Path], tmp_path: Path) -> None:
    """Those of GPT-J grow with a number of the config, here to more than a gigabyte."""
    folder = copytree(built["gpt2"], tmp_path / "j")
    config = GPTJConfig(vocab_size=len(byte_level_bpe()), n_embd=32, n_layer=2, n_head=2, rotary_dim=16)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    change(folder, "config.json", n_positions=10_000_000)
    before = peak_memory("cpu")["process"]
    with pytest.raises(BadConfig, match=r"asks for 1\.3 GB beside the weights, for positions and masks"):
        load(str(folder), device="cpu")
    assert peak_memory("cpu")["process"] - before < 10**9


@pytest.mark.parametrize("name", [*SHARING, *REFERENCE_CAUSAL])
def test_every_causal_architecture_is_loaded_with_its_config_unchanged(name: str, tmp_path: Path) -> None:
    tokenizer = byte_level_bpe()
    network = (SHARING | REFERENCE_CAUSAL)[name](len(tokenizer))
    assert_loaded_unchanged(network, tokenizer, tmp_path)


@pytest.mark.parametrize("name", [*HEAD_APART, *REFERENCE_MASKED])
def test_every_masked_architecture_is_loaded_with_its_config_unchanged(name: str, tmp_path: Path) -> None:
    tokenizer = word_piece()
    network = (HEAD_APART | REFERENCE_MASKED)[name](len(tokenizer))
    assert_loaded_unchanged(network, tokenizer, tmp_path)


def assert_loaded_unchanged(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """The network that `load` builds computes what the saved one computes."""
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    model = load(str(folder), device="cpu")
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.inference_mode():
        assert torch.allclose(model.network(input_ids=ids).logits, network(input_ids=ids).logits, atol=1e-5)
    assert not [note for note in model.usage.notes if "config.json" in note]


def stored_in(folder: Path, dtype: torch.dtype) -> Path:
    """Store the weights of the folder in this number format."""
    weights = {name: tensor.to(dtype) for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.mark.parametrize(
    ("stored", "is_faster", "computed"),
    [
        (torch.float32, True, "float32"),
        (torch.bfloat16, True, "bfloat16"),
        (torch.float16, True, "bfloat16"),
        (torch.bfloat16, False, "float32"),
    ],
    ids=str,
)
def test_auto_computes_in_bfloat16_what_is_stored_in_16_bits_where_the_cpu_is_faster_in_it(
    gpt2: Path, stored: torch.dtype, is_faster: bool, computed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading_options, "bfloat16_is_faster", lambda: is_faster)
    assert load(str(stored_in(gpt2, stored)), device="cpu", dtype="auto").dtype == computed
    assert load(str(gpt2), device="cpu").dtype == "float32"


@pytest.mark.parametrize("stored", DTYPES)
def test_auto_computes_on_a_gpu_as_the_weights_are_stored(stored: str) -> None:
    options = LoadingOptions(torch.device("cuda"), True, None, torch.float32, None, "", chooses_dtype=True)
    assert options.for_weights(stored).dtype == DTYPES[stored]


@pytest.mark.parametrize("stored", DTYPES)
def test_a_chosen_number_format_is_kept_whatever_is_stored(stored: str) -> None:
    assert LoadingOptions.of("cpu", None, "float16", "none", "").for_weights(stored).dtype == torch.float16


@pytest.mark.parametrize("is_faster", [True, False])
def test_the_record_and_the_digest_name_the_number_format_that_auto_stood_for(
    gpt2: Path, is_faster: bool, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading_options, "bfloat16_is_faster", lambda: is_faster)
    record = run(str(stored_in(gpt2, torch.bfloat16)), benchmark, device="cpu", dtype="auto", progress=False).record
    dtype = "bfloat16" if is_faster else "float32"
    assert (record["dtype"], record["settings"]["dtype"]) == (dtype, dtype)
    assert record["settings_digest"] == Settings.from_json(record["settings"] | {"dtype": dtype}).digest
    assert (record["settings_digest"] == Settings.from_json(record["settings"] | {"dtype": "float32"}).digest) == (
        not is_faster
    )
