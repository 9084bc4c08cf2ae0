"""Families of models, read from their names."""

import re

from leaderboard.models.families import FAMILY_RULES, family_of


def test_a_family_is_read_from_the_name() -> None:
    families = {
        "google-bert/bert-base-cased": "BERT",
        "google-bert/bert-large-uncased": "BERT",
        "google/bert_uncased_L-2_H-128_A-2": "BERT",
        "google-bert/bert-base-multilingual-cased": "mBERT",
        "aubmindlab/bert-base-arabertv02": "AraBERT",
        "published/arabert-large-v0.2": "AraBERT",
        "published/tohokubert-base-char": "Tohoku BERT",
        "FacebookAI/roberta-large": "RoBERTa",
        "FacebookAI/xlm-roberta-base": "XLM-RoBERTa",
        "openai-community/gpt2": "GPT-2",
        "openai-community/gpt2-xl": "GPT-2",
        "EleutherAI/gpt-neo-2.7B": "GPT-Neo",
        "facebook/opt-6.7b": "OPT",
        "EleutherAI/pythia-1.4b-deduped": "Pythia",
        "state-spaces/mamba-790m-hf": "Mamba",
        "meta-llama/Llama-2-7b-hf": "Llama 2",
        "meta-llama/Meta-Llama-3-8B-Instruct": "Llama 3",
        "meta-llama/Llama-3.2-1B": "Llama 3",
        "mistralai/Mistral-7B-v0.1": "Mistral",
        "google/gemma-2b": "Gemma",
        "google/gemma-2-2b": "Gemma 2",
        "tiiuae/falcon-7b-instruct": "Falcon",
        "microsoft/phi-4": "Phi",
        "Qwen/Qwen2.5-0.5B": "Qwen 2.5",
        "Qwen/Qwen2-0.5B": "Qwen 2",
        "HuggingFaceTB/SmolLM-135M": "SmolLM",
        "HuggingFaceTB/SmolLM2-135M-Instruct": "SmolLM2",
    }
    assert {hub_id: family_of(hub_id) for hub_id in families} == families


def test_a_name_that_no_rule_knows_has_no_family() -> None:
    unknown = ("org/my-fine-model", "dccuchile/bert-base-spanish-wwm-cased", "llama-farm/adopted-model")
    for hub_id in (*unknown, "published/human", "nothing", ""):
        assert family_of(hub_id) == "", hub_id


def test_upper_and_lower_case_do_not_matter() -> None:
    assert family_of("someone/GPT2-Medium") == family_of("someone/gpt2-medium") == "GPT-2"


def test_each_family_has_one_rule_that_can_be_read_as_a_pattern() -> None:
    families = [family for family, _ in FAMILY_RULES]
    assert len(families) == len(set(families))
    assert all(re.compile(pattern) for _, pattern in FAMILY_RULES)
