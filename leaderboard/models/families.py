"""Families of models, such as GPT-2 or Pythia: models of several sizes that one project trained in the same way.

A family is read from a model's name alone. Each rule is a family with the pattern that its models' names match; the
first rule that matches decides. Generations are families of their own, as their training differs. A fine-tuned or
quantised model keeps its family only if its name begins with that of the family.
"""

import re

SIZE_OF_BERT = r"(tiny|mini|small|medium|base|large)"
FAMILY_RULES: tuple[tuple[str, str], ...] = (
    ("BERT", rf"bert-{SIZE_OF_BERT}((-un)?-?cased)?(-whole-word-masking)?$|bert_uncased_L-"),
    ("mBERT", r"bert-base-multilingual"),
    ("AraBERT", r"(bert-(base|large)-)?arabert"),
    ("CAMeLBERT", r"(bert-base-arabic-)?camel"),
    ("Arabic BERT", r"bert-\w+-arabic$|arabic-?bert"),
    ("MARBERT", r"marbert"),
    ("GigaBERT", r"gigabert"),
    ("Tohoku BERT", r"bert-(base|large)-japanese|tohokubert"),
    ("DistilBERT", r"distilbert"),
    ("ModernBERT", r"modernbert"),
    ("ALBERT", r"albert"),
    ("ELECTRA", r"electra"),
    ("DeBERTa", r"deberta"),
    ("RoBERTa", r"roberta-|distilroberta"),
    ("XLM-RoBERTa", r"xlm-r(oberta)?-"),
    ("DistilGPT-2", r"distilgpt-?2"),
    ("GPT-2", r"gpt-?2(-|$)"),
    ("GPT-Neo", r"gpt-neo-"),
    ("GPT-J", r"gpt-j-"),
    ("GPT-NeoX", r"gpt-neox"),
    ("Pythia", r"pythia-"),
    ("Cerebras-GPT", r"cerebras-gpt"),
    ("OPT", r"opt-\d"),
    ("BLOOM", r"bloom"),
    ("Mamba", r"mamba-"),
    ("Mamba 2", r"mamba2-"),
    ("RWKV", r"rwkv"),
    ("LLaMA", r"llama-?(7|13|30|33|65)b"),
    ("Llama 2", r"(meta-)?llama-?2"),
    ("Llama 3", r"(meta-)?llama-?3"),
    ("TinyLlama", r"tinyllama"),
    ("OpenLLaMA", r"open_?llama"),
    ("Mixtral", r"mixtral"),
    ("Mistral", r"mistral"),
    ("Gemma", r"gemma-\d+b"),
    ("Gemma 2", r"gemma-2-"),
    ("Gemma 3", r"gemma-3"),
    ("Falcon 3", r"falcon-?3"),
    ("Falcon", r"falcon-"),
    ("Phi", r"phi-"),
    ("Qwen", r"qwen-"),
    ("Qwen 1.5", r"qwen1\.5"),
    ("Qwen 2.5", r"qwen2\.5"),
    ("Qwen 2", r"qwen2-"),
    ("Qwen 3", r"qwen3"),
    ("OLMo 2", r"olmo-?2"),
    ("OLMo", r"olmo"),
    ("SmolLM3", r"smollm3"),
    ("SmolLM2", r"smollm2"),
    ("SmolLM", r"smollm-"),
    ("StableLM", r"stablelm"),
    ("MPT", r"mpt-"),
    ("T5", r"t5-"),
    ("Flan-T5", r"flan-t5-"),
    ("mT5", r"mt5-"),
    ("BART", r"bart-"),
    ("mBART", r"mbart-"),
)
FAMILY_PATTERNS = tuple((family, re.compile(pattern, re.IGNORECASE)) for family, pattern in FAMILY_RULES)


def family_of(hub_id: str) -> str:
    """Return the family of the model with this id of the form org/name; empty if no rule names one."""
    name = hub_id.rpartition("/")[2]
    return next((family for family, pattern in FAMILY_PATTERNS if pattern.match(name)), "")
