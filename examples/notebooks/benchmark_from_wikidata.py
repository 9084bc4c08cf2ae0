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
# # A benchmark from Wikidata
#
# Which river flows on which continent? Wikidata knows, and the command `curate` asks it with SPARQL. It sends one
# request at a time with a second between two, and keeps every answer in a file, so that no query is sent twice.
# [Benchmarks from Wikidata](../curation.md) explains the kinds of benchmarks and all rules.
# %%
import json
from pathlib import Path

import probing
from probing.__main__ import main

ENDPOINT = "https://query.wikidata.org/sparql"
# %% [markdown]
# `P30` is the property "continent". A subject needs thirty articles or other pages at Wikimedia's sites to be taken.
# In a terminal, the same words follow `clozeboard`.

# %%
PLAN = f"""
kind: multiple-choice
properties: [P30]
per_answer: 2
templates: {{P30: "[X] is located in [Y]."}}
endpoint: {{url: {ENDPOINT}}}
"""
Path("continents.yaml").write_text(PLAN, encoding="utf-8")
main(["curate", "continents.yaml", "--cache", "answers.sqlite", "--out", "continents"])
# %% [markdown]
# The folder has the form of any other benchmark. Its manifest says what became of every fact that was found.

# %%
benchmark = probing.open_benchmark("continents")
relation = benchmark["P30"]
[(item.subject, relation.answer_space[item.answers[0]]) for item in relation.items][:4]
# %%
json.loads(Path("continents/manifest.json").read_text())["triples"]
# %%
result = probing.run("openai-community/gpt2", benchmark, progress=False)
result.by()
