"""Texts that models write in answer to questions: which names they contain, and by which they decline to answer.

Responses that decline, such as "I don't know", are recognised by their words, without a judge. These are words of the
languages in which models are given leave to decline. Words of doubt, such as "I'm not sure", decline where the response
has nothing but them: a guess beside them is an answer. A response that names a right answer is right, whatever else it
says.
"""

import re
import unicodedata
from collections.abc import Iterable

import pandas as pd

DECLINED = "declined"  # the share of responses that decline and name no right answer
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
    r"\bi (?:\w+ )?(?:do not|don't|dont) have (?:any|enough|that|this|the|specific|sufficient|access|information)\b",
    r"\bi (?:\w+ )?have no (?:\w+ )?(?:idea|information|knowledge|data)\b",
    r"\b(?:i am|i'm) (?:\w+ )?(?:not (?:\w+ )?(?:aware|familiar|able)|unable|unaware)\b",
    r"\bi (?:\w+ )?(?:cannot|can not|can't|could not|couldn't) (?:\w+ )?"
    r"(?:answer|provide|determine|find|say|tell|confirm|verify|recall|identify)\b",
    r"^(?:sorry\W+)?no idea\b",
    r"^(?:it is |it's |the answer is )?(?:unknown|not known|unclear|n/a|not sure)\W*$",
    # Spanish
    r"\bno (?:lo )?sé\b",
    r"\bno (?:tengo|dispongo de) (?:\w+ )?(?:información|datos|idea)\b",
    r"\b(?:lo )?desconozco\b",
    # Arabic
    r"لا (?:أعرف|اعرف|أعلم|اعلم|أدري)",
    # Korean
    r"모르겠|모릅니다|모른다|몰라요|알 수 없|알지 못",
)
DOUBTS = (
    r"\b(?:i am|i'm) (?:\w+ )?(?:not (?:\w+ )?(?:sure|certain)|unsure)(?: (?:about|of) (?:that|this|it|the answer))?",
    r"\bno estoy segur[oa](?: de (?:eso|ello|la respuesta))?",
    r"لست متأكد\S*",
)
# What may stand before words of doubt.
BEFORE = (
    r"(?:(?:i am |i'm )?(?:very |so )?sorry|but|well|honestly|actually|as an ai(?: \w+)*|lo siento|pero)\W+",
    r"(?:عذر|آسف)\S*\s+",
)
REFUSAL = re.compile("|".join([*WORDS, rf"^(?:{'|'.join(BEFORE)})*(?:{'|'.join(DOUBTS)})\W*$"]))
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
    """Tell whether a response says that the model does not know, or says nothing at all.

    The words of the instruction that gives leave to decline are no such answer where a response repeats them.
    """
    text = _plain(response)
    return not text or bool(REFUSAL.search(INSTRUCTIONS.sub("", text)))


def _plain(text: str) -> str:
    return text.strip().translate(APOSTROPHES).casefold()


INSTRUCTIONS = re.compile("|".join(re.escape(_plain(instruction).rstrip(".")) for instruction in LEAVE.values()))


def declined(rows: pd.DataFrame, right: pd.Series) -> pd.Series:
    """Tell of each row of responses whether it declines, and names no right answer (`right`) all the same."""
    return rows["prediction_label"].map(declines).astype(bool) & ~right.astype(bool)
