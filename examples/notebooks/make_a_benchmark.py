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
# # Make your own benchmark
#
# A benchmark is a folder of JSON files: the templates of each relation, its options, and one line for each question.
# [Adding a benchmark](../adding-a-benchmark.md) explains every key. We make one about the Solar System.
# %%
import json
from pathlib import Path

import probing

MOONS = {"Europa": "Jupiter", "Ganymede": "Jupiter", "Titan": "Saturn", "Rhea": "Saturn", "Triton": "Neptune"}
MOONS |= {"Proteus": "Neptune"}
planets = sorted(set(MOONS.values()))
relations = {
    "moon": {"templates": ["[X] is a moon of [Y].", "[Y] has a moon called [X]."], "answer_space_labels": planets}
}
questions = [{"sub_label": moon, "answer_idx": planets.index(planet)} for moon, planet in MOONS.items()]
# %%
folder = Path("solar-system")
folder.mkdir(exist_ok=True)
(folder / "metadata_relations.json").write_text(json.dumps(relations))
(folder / "relation_info.json").write_text(json.dumps({"moon": {"domains": ["Astronomy"]}}))
(folder / "moon.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
benchmark = probing.open_benchmark(folder)
benchmark.size, benchmark["moon"].answer_space
# %% [markdown]
# In a good benchmark each answer is right equally often, so that a model which always gives the same answer scores no
# better than chance. A line that cannot be read is refused with its file and number.

# %%
result = probing.run("openai-community/gpt2", benchmark, template=(0, 1), progress=False)
result.items[["template", "statement", "answer_label", "correct"]]
# %%
result.by("template")


# %% [markdown]
# From the command line: `clozeboard run openai-community/gpt2 --benchmark solar-system --out results`.
