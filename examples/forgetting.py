"""How much a masked model seems to forget depends on how it is asked: an experiment in minutes, without a GPU.

A small BERT learns the facts of the starter benchmark until it answers nearly all of them. Then it goes on with
sentences about something else, in five stages. After each stage the same facts are asked in two ways: by choosing from
the answers of the relation (`multiple_choice`), and by filling the blank with any word of the vocabulary (`cloze`, k =
1). The second way loses far more, because any new word that fits the new text counts as a wrong answer, as LM-PUB-QUIZ
reports for BERT and scientific abstracts (section 3.3, Figure 5 and Table 2).

`python -m examples.forgetting FOLDER` writes the figures as `forgetting.csv` and the picture as `forgetting.html`.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.express as px
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from probing.benchmark import Benchmark, Relation
from probing.catalog import open_benchmark
from probing.monitor import Monitor
from probing.template import prompt
from speed.networks import SPECIAL

CHOICE, FILLING = "closed answer space", "mask filling"
# What the later sentences are about: things, and what is said of them. One pair for each stage.
TOPICS = (
    ("galaxies quasars supernovae halos pulsars nebulae", "redshift luminosity spectra dust accretion jets"),
    ("quarks gluons mesons baryons neutrinos bosons", "decays scattering masses couplings mixing parity"),
    ("qubits photons cavities ions traps detectors", "entanglement coherence noise fidelity squeezing tunnelling"),
    ("superconductors magnets alloys films crystals defects", "phonons gaps domains vortices strain conductivity"),
    ("horizons geodesics metrics strings branes wormholes", "curvature entropy inflation torsion singularities waves"),
)
PATTERNS = (
    "We {verb} the {adjective} {quality} of {other} {thing}.",
    "The {quality} of {thing} is {adjective} and {other} in our model.",
    "In this paper we {verb} {thing} with {adjective} {quality}.",
    "Most {quality} in {thing} is a sign of {adjective} interaction.",
    "Our results show that {adjective} {thing} have {other} {quality}.",
)
VERBS = ("study", "measure", "derive", "compute", "estimate", "observe", "simulate", "compare")
ADJECTIVES = ("weak", "strong", "thermal", "quantum", "classical", "stable", "random", "chiral", "dense")
SENTENCES = 1500  # of each stage
BATCH = 64
IGNORED = -100  # the target that the loss leaves out


@dataclass(frozen=True)
class Lesson:
    """Sentences to learn, for how many steps, at which rate, and which shares of words and of answers are hidden."""

    texts: Sequence[str]
    steps: int
    rate: float
    hidden_words: float
    hidden_answers: float = 0.0


def forgetting(fact_steps: int = 1500, stage_steps: int = 150, relations: Sequence[str] = ()) -> pd.DataFrame:
    """Run the experiment; return a row per stage and way to ask: its accuracy, and the share that is kept of stage 0.

    `fact_steps`, `stage_steps`: batches of 64 sentences that the model learns first, and in each later stage.
    `relations`: the facts to learn, by default all relations of which every answer is a single word.
    """
    benchmark = open_benchmark("starter")
    relations = tuple(relations) or tuple(r.id for r in benchmark.relations if has_single_words(r))
    monitors = {
        CHOICE: Monitor(benchmark, relation=relations),
        FILLING: Monitor(benchmark, relation=relations, probe="cloze", k=1),
    }
    facts, stages = list(statements(benchmark, relations)), [list(later_sentences(topic)) for topic in range(5)]
    tokenizer = word_tokenizer([*facts, *(text for texts in stages for text in texts)])
    answers = {answer for r in benchmark.relations if r.id in relations for answer in r.answer_space}
    torch.manual_seed(0)
    network = BertForMaskedLM(small_config(len(tokenizer)))
    lessons = [Lesson(facts, fact_steps, 2e-3, hidden_words=0.05, hidden_answers=0.8)]
    lessons += [Lesson(texts, stage_steps, 6e-4, hidden_words=0.15) for texts in stages]
    rows = []
    for stage, lesson in enumerate(lessons):
        learn(network, tokenizer, lesson, answers)
        for way, monitor in monitors.items():
            accuracy = monitor.measure(network, tokenizer).figures[f"{monitor.name}_accuracy"]
            rows.append({"stage": stage, "asked by": way, "accuracy": accuracy})
            print(f"Stage {stage}, {way}: {accuracy:.3f}", flush=True)
    table = pd.DataFrame(rows)
    return table.assign(kept=table["accuracy"] / table.groupby("asked by")["accuracy"].transform("first"))


def has_single_words(relation: Relation) -> bool:
    """Tell whether every answer is one word, which a model can fill in at one blank."""
    return all(re.fullmatch(r"\w+", answer) for answer in relation.answer_space)


def statements(benchmark: Benchmark, relations: Sequence[str]) -> Iterator[str]:
    """Yield the true statement of every item in every wording."""
    for relation in benchmark.relations:
        if relation.id in relations:
            for item in relation.items:
                for template in relation.templates:
                    yield prompt(template, item.subject).fill(relation.answer_space[item.answers[0]]).text


def later_sentences(topic: int) -> Iterator[str]:
    """Yield sentences on a topic that have nothing to do with the facts; the same ones every time."""
    choose = random.Random(topic).choice
    things, qualities = (words.split() for words in TOPICS[topic])
    for _ in range(SENTENCES):
        yield choose(PATTERNS).format(
            verb=choose(VERBS),
            adjective=choose(ADJECTIVES),
            other=choose(ADJECTIVES),
            thing=choose(things),
            quality=choose(qualities),
        )


def word_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of which every word of the texts is one token, so that every answer fits one blank."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=list(SPECIAL.values())))
    ids = tokenizer.get_vocab()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **SPECIAL)


def small_config(vocabulary: int) -> BertConfig:
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=256,
        max_position_embeddings=64,
    )


def learn(network: BertForMaskedLM, tokenizer: PreTrainedTokenizerFast, lesson: Lesson, answers: set[str]) -> None:
    """Train the network to restore hidden words, as BERT is trained, here without replacing words by random ones."""
    encoded = [tokenizer(text)["input_ids"] for text in lesson.texts]
    hidden_share = np.full(len(tokenizer), lesson.hidden_words)
    hidden_share[[tokenizer.get_vocab()[answer] for answer in answers]] += lesson.hidden_answers
    hidden_share[tokenizer.all_special_ids] = 0
    generator = np.random.default_rng(0)
    optimizer = torch.optim.AdamW(network.parameters(), lr=lesson.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, lesson.rate, total_steps=lesson.steps, pct_start=0.1)
    network.train()
    for _ in range(lesson.steps):
        batch = [encoded[index] for index in generator.integers(len(encoded), size=BATCH)]
        ids = tokenizer.pad({"input_ids": batch}, return_tensors="np")["input_ids"]
        hidden = generator.random(ids.shape) < hidden_share[ids]
        loss = network(
            input_ids=torch.from_numpy(np.where(hidden, tokenizer.mask_token_id, ids)),
            attention_mask=torch.from_numpy((ids != tokenizer.pad_token_id).astype(np.int64)),
            labels=torch.from_numpy(np.where(hidden, ids, IGNORED)),
        ).loss
        torch.autograd.backward(loss)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()


def save(table: pd.DataFrame, folder: Path) -> None:
    """Write the figures and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "forgetting.csv", index=False)
    figure = px.line(table, x="stage", y="kept", color="asked by", markers=True, range_y=(0, 1.05))
    figure.update_yaxes(tickformat=".0%", title="accuracy kept")
    figure.update_xaxes(dtick=1, title="stage of the later training")
    figure.write_html(folder / "forgetting.html", include_plotlyjs=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.forgetting", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write forgetting.csv and forgetting.html")
    folder = parser.parse_args().folder
    save(forgetting(), folder)
    print(f"Wrote {folder / 'forgetting.csv'} and {folder / 'forgetting.html'}.")


if __name__ == "__main__":
    main()
