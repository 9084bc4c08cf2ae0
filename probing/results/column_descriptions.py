"""What the columns of a result's files hold: written into items.parquet itself and into docs/result-files.md.

The keys of run.json are described in the document only.
"""

from collections.abc import Mapping

ITEM_COLUMNS: Mapping[str, str] = {
    "relation": "the relation's id; of relations in several versions, their common predicate",
    "template": "the number of the template, from 0",
    "index": "the item's line in its relation's file, from 0",
    "id": "a stable name of the item, where its benchmark has one",
    "subject": "the subject of the item",
    "subject_id": "the subject's id in the benchmark, for example at Wikidata",
    "answer": "the first right option, as an index into the options of the item",
    "answers": "all right options, as indices into the options of the item",
    "answer_label": "the label of `answer`",
    "prediction": "the option with the best score, as an index into the options of the item",
    "prediction_label": "what the model answers: the label of `prediction`, the best word at the blank, or a response",
    "correct": "whether the answer counts as right; empty where the item could not be put to the model",
    "correct_normalised": "the same if case and compatible forms of characters are ignored",
    "correct_exact": "whether the response is nothing but the label of a right answer",
    "rank": "the place of the best right answer, from 1; empty where it is not known",
    "margin": "the best score of a right option less that of a wrong one; empty where it is not known",
    "scores": "the score of each option, in the order of the options: a log-probability, or a cosine",
    "exact": "for each option, whether its score is exact; otherwise it is an upper bound",
    "tokens": "for each option, the number of tokens that are scored; of a sentence, the number of its tokens",
    "generic": "for each option, its share of probability with subjects that say nothing",
    "statement": (
        "the sentence with what the model answers (`prediction_label`) at the blank, not with the right answer; "
        "where there are no options, the sentence with its blank, or the question"
    ),
    "prediction_cultures": "the cultures in which the predicted option is a valid object",
    "prediction_statement": "as `prediction`, by the score of the whole statement",
    "rank_statement": "as `rank`, by the score of the whole statement",
    "correct_statement": "as `correct`, by the score of the whole statement",
    "predicate": "the predicate of the relation at Wikidata",
    "objects": "which objects are valid: `augmented` ones include those of superclasses, `raw` ones do not",
    "method": "how the answer was found: `top` among the best tokens, or `near` the beginning of a continuation",
    "one_token": "whether the answer is one token of the model's vocabulary; empty if no tokens were ranked",
    "predictions": "the most probable tokens at the blank, the best first",
    "log_probs": "the log-probabilities of `predictions`",
    "continuation": "how the model continues the sentence",
    "true": "whether the statement is true",
    "repetitions": "the repetitions that drew the statement, from 1",
    "log_prob": "the log-probability of the sentence",
    "words": "the number of words of the sentence",
    "perplexity": "the perplexity of the sentence",
    "prompting": "how the question is put: vanilla, few-shot, shared-few-shot or cascade",
    "specific": "whether the finer answer is more probable; empty if one of the two is not a single token",
    "best": "the most probable words at the blank",
    "demonstrations": "the indices of the items that stand before this one with their answers",
    "coarse_label": "the label of the coarser answer; `answer_label` is the finer one",
    "fine_log_prob": "the log-probability of the finer answer at the blank; empty if it is not a single token",
    "coarse_log_prob": "the same of the coarser answer",
    "fine_rank": "the rank of the finer answer among the whole vocabulary, from 1; 0 if it is not a single token",
    "coarse_rank": "the same of the coarser answer",
    "fine_natural_log_prob": "as `fine_log_prob`, with the subject hidden",
    "coarse_natural_log_prob": "the same of the coarser answer",
    "fine_cosine": "the cosine of the vectors of the subject and the finer answer",
    "coarse_cosine": "the same of the coarser answer",
    "fine_clause_score": "the score of the clause that follows the finer answer, in cascades with causal models",
    "coarse_clause_score": "the same of the coarser answer",
}
TAG = "a tag of the benchmark, by which scores are broken down; a list if the item has several values"
SCORE_COLUMNS: Mapping[str, str] = {
    "metric": "the name of the metric, such as `accuracy`",
    "dimension": "what the items are grouped by: `overall`, `template`, `relation` or a tag",
    "group": "the group within the dimension; `all` overall",
    "value": "the value of the metric for the group",
    "n": "the number of items; a fraction where an item belongs to several groups",
    "low": "the lower end of the 95 % interval for other items of the same relations; empty where there is none",
    "high": "its upper end",
    "cluster_low": "the lower end of the 95 % interval for other relations like these; empty where there is none",
    "cluster_high": "its upper end",
}

TOKEN_COLUMNS: Mapping[str, str] = {
    "relation": "as in items.parquet, with `template` and `index` the key of the row there",
    "template": "as in items.parquet",
    "index": "as in items.parquet",
    "option": "the place of the option among the options of the item, from 0",
    "position": "the place of the token among the scored tokens of the statement with this option, from 0",
    "token": "the text of the token",
    "role": "what the token belongs to: `subject`, `answer`, `template` or another `blank`",
    "log_prob": "the log-probability of the token",
}
RECORD_KEYS: Mapping[str, str] = {
    "model": (
        "the model: `id`, `kind`, `architecture`, `parameters`, `commit`, `revision` (the branch or step that was "
        "named), `source` (hub, folder, gguf or object), `files` (SHA-256 of weights and tokenizer), `tokenizer` "
        "(facts about it), `adapter`, `quantisation`, `option_only` (whether nothing but the option is scored)"
    ),
    "benchmark": "the benchmark: `slug`, `version`, `digest` of its files, and how prompts begin (`first_letters`)",
    "benchmark_notes": "remarks on which items were asked",
    "probe": "the name of the probe",
    "settings": "all settings of the run, and under `options` those of the probe that differ from the usual ones",
    "settings_digest": "the SHA-256 of the settings that differ from the usual ones; equal settings have equal digests",
    "seed": "the seed, as in `settings`",
    "language": "the language of the prompts, as in `settings`",
    "packages": "the versions of Python and of the packages that can change a number",
    "device": "the device: cpu, or the GPU; several that shared the work with commas between them",
    "dtype": "the number format of the weights",
    "batch": "`tokens`: the token positions of a batch; `notes`: remarks on what happened on the way",
    "items_skipped": "which items were left out, by relation, and why",
    "items_done": "the number of rows",
    "peak_memory": "the largest memory of the process and of the GPU (`device`) until the end of the run, in bytes",
    "start": "when the run began (UTC)",
    "end": "when it ended (UTC)",
    "timing": "`load_seconds` and `score_seconds`: for loading the model, and for everything else",
    "statements": "how many statements were scored",
    "positions": "how many token positions the network computed, padding included",
    "padding": "how many of them were padding",
    "questions": "the SHA-256 of what was asked: runs with equal ones have the same subjects, options and templates",
    "tags": "the SHA-256 of the tags by which scores are broken down",
}


def item_column(name: str) -> str:
    """Return what a column of items.parquet holds; a column that no probe writes is a tag."""
    return ITEM_COLUMNS.get(name, TAG)
