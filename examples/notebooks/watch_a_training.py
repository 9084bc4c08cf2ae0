# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---
# %% [markdown]
# # Watch a training
#
# A model learns the capitals of four countries, and we ask for them every ten steps. The loop is an ordinary one of
# PyTorch; [Training](../training.md) shows the same with the Trainer of transformers.
# %%
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import probing
from probing.monitor import Monitor

torch.manual_seed(0)
MODEL = "openai-community/gpt2"
network = AutoModelForCausalLM.from_pretrained(MODEL)
tokenizer = AutoTokenizer.from_pretrained(MODEL)
# %% [markdown]
# The sentences to learn are the first template of the relation `country_capital` with the right answers of four items.

# %%
benchmark = probing.open_benchmark("starter").select(relations=["country_capital"], sample=4)
capitals = benchmark["country_capital"]
facts = [
    capitals.templates[0].replace("[X]", item.subject).replace("[Y]", capitals.answer_space[item.answers[0]])
    for item in capitals.items
]
facts
# %% [markdown]
# A `Monitor` reads the benchmark once. `measure` leaves the network as it is: its weights, mode and gradients, and all
# random states. Each sentence begins with the start token, as it does when it is scored: without it, every word would
# be learned one place too early.

# %%
STEPS, EVERY = 40, 10
monitor = Monitor(benchmark)
optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4)
accuracy = {0: monitor.measure(network, tokenizer, step=0).figures["starter_multiple_choice_accuracy"]}
for step in range(1, STEPS + 1):
    network.train()
    for fact in facts:
        encoded = tokenizer(tokenizer.bos_token + fact, return_tensors="pt")
        network(**encoded, labels=encoded.input_ids).loss.div(len(facts)).backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % EVERY == 0:
        accuracy[step] = monitor.measure(network, tokenizer, step=step).figures["starter_multiple_choice_accuracy"]
accuracy
