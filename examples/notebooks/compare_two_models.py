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
# # Compare two models
#
# Does one model know more than another, or is the difference chance? Both answer the same questions, so the difference
# is computed question by question. That finds smaller differences than a look at two separate intervals.
# %%
import probing

small = probing.run("distilbert/distilgpt2", "starter", sample=5, progress=False)
large = probing.run("openai-community/gpt2", "starter", sample=5, progress=False)
# %% [markdown]
# `difference` is the accuracy of the second result less that of the first, with its 95 % interval. `gained` and `lost`
# count the questions that only the second or only the first answers rightly, and `p_holm` is the p-value, corrected for
# the number of groups. [Methods](../methods/comparing.md#comparing-runs) defines every column.

# %%
differences = small.compare(large)
columns = ["group", "n", "first", "second", "difference", "low", "high", "gained", "lost", "p_holm"]
differences.loc[differences["dimension"] == "overall", columns]
# %%
differences.loc[differences["dimension"] == "domain", columns]
# %% [markdown]
# Which questions are they? Rows of two results belong together by relation, template and index.

# %%
both = small.items.merge(large.items, on=["relation", "template", "index"], suffixes=("_small", "_large"))
gained = both[both["correct_large"] & ~both["correct_small"]]
lost = both[both["correct_small"] & ~both["correct_large"]]
len(gained), len(lost)
# %%
gained[["subject_large", "answer_label_large", "prediction_label_small"]].head()
