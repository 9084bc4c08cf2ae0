import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from probing import wrap
from probing.errors import BrokenTokenizer
from probing.scoring import tokenizer_files
from probing.scoring.auxiliary_models import load_auxiliary
from probing.scoring.load import load
from probing.scoring.tokenizer_files import WRONG_REGEX, read_tokenizer
from tests.tiny_models import (
    SENTENCES,
    build_gpt2,
    byte_level_bpe,
    metaspace_unigram,
    set_keys,
    text_to_text,
    word_piece,
)
from tests.tiny_models import save as save_model

TEXTS = ["Zürich  IS old; in 2024 Čapek", " Oslo", "The CAPITAL of Norway is Oslo.", "ＡＢ ﬁ 中国"]
NAMES = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}
ALPHABET = pre_tokenizers.ByteLevel.alphabet()


def trained_bpe(
    pre_tokenizer: Any, normalizer: Any = None, sentences: Sequence[str] = SENTENCES, **settings: Any
) -> Tokenizer:
    """Return a tokenizer of byte pairs with these parts."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", **settings))
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    special = ["<s>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(vocab_size=450, special_tokens=special, initial_alphabet=ALPHABET)
    tokenizer.train_from_iterator(sentences, trainer)
    return tokenizer


def bytes_in_lower_case() -> Tokenizer:
    parts = [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
    return trained_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False), normalizers.Sequence(parts))


def bytes_by_threes() -> Tokenizer:
    split = pre_tokenizers.Split(Regex(r"\p{N}{1,3}|[^\r\n\p{L}\p{N}]?\p{L}+|\s+"), "isolated")
    return trained_bpe(
        pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    )


def metaspace_without_prefix() -> Tokenizer:
    return trained_bpe(pre_tokenizers.Metaspace(prepend_scheme="never"))


def spaces_by_a_normalizer() -> Tokenizer:
    return trained_bpe(None, normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]))


def unigram() -> Tokenizer:
    return metaspace_unigram().backend_tokenizer


def cased_pieces() -> Tokenizer:
    return word_piece().backend_tokenizer


FAMILIES = [
    bytes_in_lower_case,
    bytes_by_threes,
    metaspace_without_prefix,
    spaces_by_a_normalizer,
    unigram,
    cased_pieces,
]
CLASSES = [
    ("GPT2TokenizerFast", "llama"),
    ("LlamaTokenizer", "gpt2"),
    ("LlamaTokenizerFast", "mistral"),
    ("Qwen2Tokenizer", "llama"),
    ("BertTokenizer", "gpt2"),
    ("RobertaTokenizer", "roberta"),
    ("GemmaTokenizer", "gemma"),
    ("XLMRobertaTokenizer", "xlm-roberta"),
    ("PreTrainedTokenizerFast", "gpt2"),
    (None, "gpt2"),
    (None, "t5"),
    (None, "bert"),
    (None, "modernbert"),
]


def saved(folder: Path, tokenizer: Tokenizer, model_type: str = "llama", **config: Any) -> Path:
    """Save a tokenizer alone, as the tokenizers library does, with a config beside it."""
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def read(folder: Path) -> tuple[Any, list[str]]:
    files = {"pretrained_model_name_or_path": folder, "local_files_only": True, "trust_remote_code": False}
    return read_tokenizer("here", files, "Save it again.")


def tokens(tokenizer: Any) -> list[list[int]]:
    return [tokenizer(text, verbose=False).input_ids for text in TEXTS]


def tokens_of_file(folder: Path) -> list[list[int]]:
    alone = Tokenizer.from_file(str(folder / "tokenizer.json"))
    alone.no_truncation()
    alone.no_padding()
    return [alone.encode(text).ids for text in TEXTS]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model_type"), CLASSES, ids=map(str, CLASSES))
@pytest.mark.parametrize("make", FAMILIES)
def test_the_tokens_are_those_of_the_file_by_whichever_class_it_is_read(
    tmp_path: Path, make: Callable[[], Tokenizer], name: str | None, model_type: str
) -> None:
    """Or the file is refused, where the class cannot read its algorithm at all."""
    named = {"tokenizer_class": name} if name else {}
    known = {role: token for role, token in NAMES.items() if make().token_to_id(token) is not None}
    folder = saved(tmp_path / "model", make(), model_type, **named, **known)
    try:
        tokenizer, notes = read(folder)
    except BrokenTokenizer as refusal:
        assert "cannot be loaded" in str(refusal)
        return
    assert tokens(tokenizer) == tokens_of_file(folder)
    assert [note for note in notes if not note.startswith("The tokens are those of tokenizer.json; ")] == []


def test_the_file_is_used_and_noted_where_its_class_has_another_normalizer(tmp_path: Path) -> None:
    folder = saved(tmp_path / "model", bytes_in_lower_case(), "gpt2", tokenizer_class="GPT2Tokenizer", **NAMES)
    tokenizer, notes = read(folder)
    assert tokens(tokenizer) == tokens_of_file(folder)
    (note,) = notes
    assert note.startswith("The tokens are those of tokenizer.json; the class GPT2Tokenizer of transformers makes oth")
    assert (tokenizer.bos_token, tokenizer.bos_token_id, tokenizer.mask_token_id) == ("<s>", 0, 3)


def test_a_file_that_its_class_follows_is_read_once_and_without_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer_files, "_as_asked", lambda *_: pytest.fail("the file was read again"))
    folder = saved(tmp_path / "model", byte_level_bpe().backend_tokenizer, "gpt2", tokenizer_class="GPT2Tokenizer")
    tokenizer, notes = read(folder)
    assert (tokens(tokenizer), notes) == (tokens_of_file(folder), [])


def test_truncation_and_padding_in_the_file_are_no_difference(tmp_path: Path) -> None:
    backend = bytes_in_lower_case()
    right = [backend.encode(text).ids for text in TEXTS]
    backend.enable_truncation(3)
    backend.enable_padding(length=50)
    tokenizer, _ = read(saved(tmp_path / "model", backend, "gpt2", tokenizer_class="GPT2Tokenizer", **NAMES))
    assert tokens(tokenizer) == right
    assert [tokenizer.backend_tokenizer.encode(text).ids for text in TEXTS] == right


@pytest.mark.parametrize("tokenizer_class", ["GPT2Tokenizer", "PreTrainedTokenizerFast"])
def test_merges_that_the_file_skips_at_random_are_all_made(tmp_path: Path, tokenizer_class: str) -> None:
    backend = bytes_in_lower_case()
    right = [backend.encode(text).ids for text in TEXTS]
    backend.model.dropout = 0.9
    tokenizer, _ = read(saved(tmp_path / "model", backend, "gpt2", tokenizer_class=tokenizer_class, **NAMES))
    assert tokens(tokenizer) == right


ASKED = {
    "add_prefix_space": (
        lambda: trained_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False)),
        {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True},
        ("Oslo", " Oslo"),
    ),
    "do_lower_case": (cased_pieces, {"tokenizer_class": "BertTokenizer", "do_lower_case": True}, ("OSLO", "oslo")),
}


@pytest.mark.parametrize("setting", ASKED)
def test_what_the_config_of_the_tokenizer_asks_for_is_no_difference(tmp_path: Path, setting: str) -> None:
    make, config, (text, same) = ASKED[setting]
    tokenizer, notes = read(saved(tmp_path / "model", make(), "gpt2", **config))
    assert notes == []
    assert tokenizer(text).input_ids == tokenizer(same).input_ids
    assert make().encode(text).ids != make().encode(same).ids


def test_what_the_config_asks_for_is_kept_where_the_file_is_used_for_another_reason(tmp_path: Path) -> None:
    folder = saved(
        tmp_path / "model", bytes_in_lower_case(), "gpt2", tokenizer_class="GPT2Tokenizer", **NAMES,
        add_prefix_space=True, extra_special_tokens=["<new>"],
    )  # fmt: skip
    tokenizer, notes = read(folder)
    assert tokenizer("OSLO").input_ids == bytes_in_lower_case().encode(" oslo").ids
    assert tokenizer("<new>", add_special_tokens=False).input_ids == [len(tokenizer) - 1]
    assert len(notes) == 1


def test_the_tokens_around_a_text_are_those_of_the_file(tmp_path: Path) -> None:
    backend = cased_pieces()
    backend.post_processor = processors.TemplateProcessing(single="[CLS] [CLS] $A", special_tokens=[("[CLS]", 2)])
    folder = saved(tmp_path / "model", backend, "bert", tokenizer_class="BertTokenizer", do_lower_case=False)
    tokenizer, notes = read(folder)
    assert tokens(tokenizer) == tokens_of_file(folder)
    assert len(notes) == 1


def test_a_mask_takes_the_space_before_it_only_if_a_file_says_so(tmp_path: Path) -> None:
    backend = trained_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False))
    config: dict[str, Any] = {"tokenizer_class": "RobertaTokenizer", "mask_token": "<mask>", "pad_token": "<mask>"}
    folder = saved(tmp_path / "plain", backend, "roberta", **config)
    assert read(folder)[0]("a <mask>", add_special_tokens=False).input_ids == backend.encode("a <mask>").ids
    strips = {"content": "<mask>", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}
    folder = saved(tmp_path / "strips", backend, "roberta", **config, added_tokens_decoder={3: strips})
    tokenizer, _ = read(folder)
    assert tokenizer("a <mask>", add_special_tokens=False).input_ids == [*backend.encode("a").ids, 3]


def test_a_loaded_model_a_network_in_memory_and_an_auxiliary_one_all_have_the_tokens_of_the_file(
    tmp_path: Path,
) -> None:
    backend = bytes_in_lower_case()
    folder = build_gpt2(tmp_path / "model", tokenizer=PreTrainedTokenizerFast(tokenizer_object=backend, **NAMES))
    set_keys(folder, "tokenizer_config.json", tokenizer_class="GPT2TokenizerFast")
    model, wrapped = load(str(folder), device="cpu"), wrap(AutoModelForCausalLM.from_pretrained(folder))
    assert tokens(model.tokenizer) == tokens(wrapped.tokenizer) == tokens_of_file(folder)
    assert model.usage.notes == wrapped.usage.notes
    assert [note.partition(";")[0] for note in model.usage.notes] == ["The tokens are those of tokenizer.json"]
    names = NAMES | {"pad_token": "<mask>"}
    helper = PreTrainedTokenizerFast(tokenizer_object=backend, **names)
    folder = save_model(tmp_path / "helper", lambda: text_to_text(len(helper)), helper, 0)
    set_keys(folder, "tokenizer_config.json", tokenizer_class="GPT2TokenizerFast")
    _, tokenizer, _ = load_auxiliary(str(folder), "a helper", lambda _: type(text_to_text(8)))
    assert tokens(tokenizer) == tokens_of_file(folder)


def test_a_network_in_memory_is_scored_with_the_tokenizer_that_the_user_gives(tmp_path: Path) -> None:
    network = AutoModelForCausalLM.from_pretrained(build_gpt2(tmp_path))
    given = byte_level_bpe()
    given.backend_tokenizer.normalizer = normalizers.Lowercase()
    assert wrap(network, given).tokenizer is given


def without_file(folder: Path, name: str, content: str | bytes, model_type: str, **config: Any) -> Path:
    """Save a vocabulary without a tokenizer.json."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("name", ["LlamaTokenizer", "BertTokenizer", "GemmaTokenizer"])
def test_a_class_that_does_not_read_the_vocabulary_is_refused(tmp_path: Path, name: str) -> None:
    model = json.loads(byte_level_bpe().backend_tokenizer.to_str())["model"]
    folder = without_file(tmp_path, "vocab.json", json.dumps(model["vocab"]), "llama", tokenizer_class=name)
    (folder / "merges.txt").write_text("\n".join(" ".join(pair) for pair in model["merges"]))
    with pytest.raises(BrokenTokenizer, match=r"lacks [0-9]+ of the 400 tokens in vocab\.json, in here\. Name the cl"):
        read(folder)


def pieces(folder: Path, **settings: Any) -> bytes:
    """Train a model of sentencepiece; return its content."""
    (folder / "text.txt").write_text("\n".join(SENTENCES))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"), model_prefix=str(folder / "trained"), vocab_size=400, minloglevel=2,
        hard_vocab_limit=False, **settings,
    )  # fmt: skip
    return (folder / "trained.model").read_bytes()


LLAMA = {"model_type": "bpe", "normalization_rule_name": "identity", "byte_fallback": True}
OTHERWISE = {
    "no space before": LLAMA | {"remove_extra_whitespaces": False, "add_dummy_prefix": False},
    "no double spaces": LLAMA,
    "another algorithm and normal forms": {"model_type": "unigram"},
}


def test_a_model_of_sentencepiece_is_read_by_the_class_that_cuts_as_it_does(tmp_path: Path) -> None:
    content = pieces(tmp_path, **LLAMA, remove_extra_whitespaces=False)
    folder = without_file(tmp_path / "m", "tokenizer.model", content, "llama", tokenizer_class="LlamaTokenizer")
    tokenizer, notes = read(folder)
    own = sentencepiece.SentencePieceProcessor(model_proto=content)
    text = "The capital of Norway  is Oslo, 中."
    assert tokenizer(text, add_special_tokens=False).input_ids == own.encode(text)
    assert notes == []


@pytest.mark.parametrize("way", OTHERWISE)
def test_a_model_of_sentencepiece_that_its_class_cuts_otherwise_is_refused(tmp_path: Path, way: str) -> None:
    content = pieces(tmp_path, **OTHERWISE[way])
    folder = without_file(tmp_path / "m", "tokenizer.model", content, "llama", tokenizer_class="LlamaTokenizer")
    with pytest.raises(BrokenTokenizer, match=r"The class LlamaTokenizer .* does not cut '.*' as tokenizer\.model say"):
        read(folder)


@pytest.mark.parametrize(("config", "notes"), [({}, 1), ({"do_lower_case": False}, 0), ({"do_lower_case": True}, 0)])
def test_a_cased_vocabulary_that_becomes_lower_case_by_default_is_noted(
    tmp_path: Path, config: dict[str, Any], notes: int
) -> None:
    vocabulary = word_piece().get_vocab()
    content = "\n".join(sorted(vocabulary, key=vocabulary.__getitem__))
    folder = without_file(tmp_path, "vocab.txt", content, "bert", tokenizer_class="BertTokenizer", **config)
    found = read(folder)[1]
    assert len(found) == notes
    assert all("do_lower_case: false in tokenizer_config.json keeps them" in note for note in found)


def many_tokens() -> Tokenizer:
    """Return a tokenizer with as many tokens as those of Mistral's that transformers looks at."""
    backend = byte_level_bpe().backend_tokenizer
    backend.add_tokens([AddedToken(f"<{number}>", normalized=False) for number in range(100_001)])
    return backend


def test_a_wrong_expression_of_mistrals_files_is_noted_with_the_setting_that_mends_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = saved(tmp_path / "model", many_tokens(), "mistral", tokenizer_class="PreTrainedTokenizerFast")
    assert read(folder)[1] == [WRONG_REGEX]
    assert "incorrect regex" not in capfd.readouterr().err
    set_keys(folder, "tokenizer_config.json", fix_mistral_regex=True)
    mended, notes = read(folder)
    assert notes == []
    assert mended.tokenize("HelloWorld 12", add_special_tokens=False)[-3:] == ["Ġ", "1", "2"]
