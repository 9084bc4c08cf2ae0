"""Putting names into templates: without repeated words, with agreeing verbs, and with one word left blank."""

import re
from collections.abc import Mapping

# For each word of a template the endings of names behind which it is left out (methods 5.3; the paper's Table 5).
MUTED_WORDS = {
    "river": ("river",),
    "dam": ("dam", "station", "plant", "barrage", "reservoir"),
    "mountain range": ("mountains", "ghats", "range", "ranges", "highlands", "hills", "escarpment"),
    "forest": (
        *("forest", "forests", "park", "forest complex", "plateau", "woodlands", "woodland", "wilderness"),
        "recreation area",
    ),
    "desert": ("desert", "dunes", "sand sea", "scablands", "scabland"),
    "waterfall": ("falls", "fall", "waterfall", "waterfalls"),
    "canyon": ("valley", "canyon", "gorge", "valleys", "canyons", "gorges", "dells", "ravine", "ravines"),
    "amusement park": ("park", "resort", "resorts"),
    "stadium": ("stadium", "arena", "ground", "sports complex", "convention center"),
    "mine": ("mine", "mines", "quarry"),
}
# First words of names that say little: the word after them is masked (methods 5, "our choice").
GENERIC = {"mount", "mont", "monte", "lake", "gulf", "sea", "bay", "cape", "port", "saint", "san", "santa", "the"}
# Last words of names that need a plural verb; falls do not ("The Rhine Falls is located", the paper's Table 6).
PLURAL = {
    *("mountains", "ghats", "ranges", "highlands", "hills", "forests", "woodlands", "dunes", "scablands", "valleys"),
    *("canyons", "gorges", "dells", "ravines", "resorts", "mines", "sanctuaries", "reserves", "parks", "gardens"),
    *("islands", "wetlands", "plains", "caves", "waterfalls"),
}
VERBS = {
    "is": "are",
    "has": "have",
    "flows": "flow",
    "passes": "pass",
    "runs": "run",
    "serves": "serve",
    "operates": "operate",
    "supplies": "supply",
    "bounds": "bound",
}
SLOT = re.compile(r"\{(\w+)\}")


def words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation."""
    return re.findall(r"\w+", text.casefold())


def muted(template: str, names: Mapping[str, str]) -> str:
    """Return the template without the words that its names already end in (methods 5.3); `names` are by slot."""
    for slot, name in names.items():
        for word, suffixes in MUTED_WORDS.items():
            if _ends_in(name, suffixes):
                template = re.sub(rf"(\{{{slot}\}}) {word}s?\b", r"\1", template)
    return template


def _ends_in(name: str, suffixes: tuple[str, ...]) -> bool:
    return re.search(rf"\b(?:{'|'.join(suffixes)})$", name, re.IGNORECASE) is not None


def agreeing(template: str, subject: str) -> str:
    """Return the template with the verb after "The {S}" in the number of the subject (methods 5.4)."""
    one, many = "|".join(VERBS), "|".join(VERBS.values())
    if words(subject)[-1:] and words(subject)[-1] in PLURAL:
        return re.sub(rf"(?<=^The \{{S\}} )(?:{one})\b", lambda match: VERBS[match[0]], template)
    singular = {plural: verb for verb, plural in VERBS.items()}
    return re.sub(rf"(?<=^The \{{S\}} )(?:{many})\b", lambda match: singular[match[0]], template)


def split(name: str) -> tuple[str, str, str]:
    """Split a name into the text before its masked word, that word, and the text after it (methods 5.2).

    The masked word is the one after "of", else the first; if that is generic and another follows, it is the next one.
    """
    matches = list(re.finditer(r"[^\s,]+", name))
    inner = [number for number, word in enumerate(matches[1:-1], 1) if word[0] == "of"]
    place = inner[0] + 1 if inner else 0
    if matches[place][0].casefold() in GENERIC and place + 1 < len(matches):
        place += 1
    word = matches[place]
    return name[: word.start()], word[0], name[word.end() :]
