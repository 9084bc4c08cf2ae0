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
# # Quick start
#
# How much does GPT-2 know? We ask it five questions of each relation of the starter benchmark, which ships with the
# library. A question is a sentence with a blank, such as "The capital of Japan is ___." The model writes nothing:
# the sentence is scored with each option at the blank, and the most probable one counts as the model's answer.
# %%
import probing

result = probing.run("openai-community/gpt2", "starter", sample=5, progress=False)
result
# %% [markdown]
# `scores` has one row for each metric and group, with 95 % intervals. `chance` is the accuracy of guessing.

# %%
overall = result.scores[result.scores["dimension"] == "overall"]
overall[["metric", "value", "low", "high", "n"]].head(4)
# %% [markdown]
# The accuracy by domain. `result.plot("domain")` draws it, and `result.to_latex("domain")` writes it for a paper.

# %%
result.by("domain")
# %% [markdown]
# `items` has one row for each question. Here are some that the model answers wrongly.

# %%
wrong = result.items[~result.items["correct"]]
wrong[["relation", "subject", "answer_label", "prediction_label"]].head()
# %% [markdown]
# The column `scores` has the log-probability of every option, in the order of `option_labels`. The best three for the
# first question:

# %%
first = result.items.iloc[0]
options = result.option_labels(first["relation"], first["index"])
sorted(zip(first["scores"].round(2), options, strict=True), reverse=True)[:3]
# %% [markdown]
# A folder keeps all of it, and `clozeboard show first-result` prints its scores.

# %%
result.save("first-result")
probing.Result.load("first-result").record["model"]["id"]
