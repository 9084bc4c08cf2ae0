"""Texts that models write in answer to questions: which names they contain, and by which they decline to answer.

Responses that decline, such as "I don't know", are recognised by their words, without a judge. These are words of the
languages in which models are given leave to decline. A response that names a right answer is right, whatever else it
says.
"""

import re
import unicodedata
from collections.abc import Iterable

import pandas as pd

# Instructions by language that stand behind a question where a model may decline.
LEAVE = {
    "en": "If you do not know the answer, say: I don't know.",
    "ar": "إذا كنت لا تعرف الإجابة، فقل: لا أعرف.",
    "ko": "답을 모르면 ‘모르겠습니다’라고 답하세요.",
    "es": "Si no sabes la respuesta, di: No lo sé.",
}
WORDS = (
    # English
    r"\bi (?:\w+ )?(?:do not|don't|dont) (?:\w+ )?(?:know|recall|remember)\b",
    r"\bi (?:\w+ )?(?:do not|don't|dont) have (?:any|enough|that|this|the|specific|sufficient|access)\b",
    r"\b(?:i am|i'm) (?:\w+ )?(?:not (?:\w+ )?(?:sure|certain|aware|familiar|able)|unsure|unable|unaware)\b",
    r"\bi (?:\w+ )?(?:cannot|can not|can't|could not|couldn't) (?:\w+ )?"
    r"(?:answer|provide|determine|find|say|tell|confirm|verify|recall|identify)\b",
    r"^(?:i have )?no idea\b",
    r"^(?:it is |it's |the answer is )?(?:unknown|not known|unclear|n/a|not sure)\W*$",
    # Spanish
    r"\bno (?:lo )?sé\b",
    r"\bno estoy segur[oa]\b",
    r"\bno (?:tengo|dispongo de) (?:\w+ )?(?:información|datos|idea)\b",
    r"\b(?:lo )?desconozco\b",
    # Arabic
    r"لا (?:أعرف|اعرف|أعلم|اعلم|أدري)",
    r"لست متأكد",
    # Korean
    r"모르겠|모릅니다|모른다|몰라요|알 수 없|알지 못",
)
REFUSAL = re.compile("|".join(WORDS))
APOSTROPHES = str.maketrans("’ʼ`", "'''")


def normalised_text(text: str) -> str:
    """Return the text case folded and in Unicode's compatibility composition (NFKC)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def contains(response: str, labels: Iterable[str]) -> bool:
    """Return whether one of the labels is a substring of the response."""
    return any(label in response for label in labels)


def names_word(response: str, names: Iterable[str]) -> bool:
    """Return whether one of the names stands in the response in whole words, once both are normalised.

    Names such as US would otherwise be found in many words.
    """
    text = normalised_text(response)
    return any(re.search(rf"(?<!\w){re.escape(normalised_text(name))}(?!\w)", text) for name in names if name.strip())


def declines(response: str) -> bool:
    """Tell whether a response says that the model does not know, or says nothing at all."""
    text = response.strip().translate(APOSTROPHES).casefold()
    return not text or bool(REFUSAL.search(text))


def declined(rows: pd.DataFrame, right: pd.Series) -> pd.Series:
    """Tell of each row of responses whether it declines, and names no right answer (`right`) all the same."""
    return rows["prediction_label"].map(declines).astype(bool) & ~right.astype(bool)
