"""How names go into templates without repeating a word, in the right number, and with one word left out."""

import re
from collections.abc import Mapping

# Words of a template that are left out behind a name that ends in one of these (methods 5.3; the paper's Table 5).
MUTED = {
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
# First words that say little; the word behind them is asked for (methods 5, "our choice").
GENERIC = {"mount", "mont", "monte", "lake", "gulf", "sea", "bay", "cape", "port", "saint", "san", "santa", "the"}
# Last words of names that take a verb in the plural; falls do not ("The Rhine Falls is located", the paper's Table 6).
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
    """The words in lower case, without punctuation."""
    return re.findall(r"\w+", text.casefold())


def muted(template: str, names: Mapping[str, str]) -> str:
    """The template without the words that its names already end in; `names` maps slots to names (methods 5.3)."""
    for slot, name in names.items():
        for word, suffixes in MUTED.items():
            if _ends_in(name, suffixes):
                template = re.sub(rf"(\{{{slot}\}}) {word}s?\b", r"\1", template)
    return template


def _ends_in(name: str, suffixes: tuple[str, ...]) -> bool:
    return re.search(rf"\b(?:{'|'.join(suffixes)})$", name, re.IGNORECASE) is not None


def agreeing(template: str, subject: str) -> str:
    """The verb behind "The {S}" in the number of the subject's name (methods 5.4); states take the singular."""
    one, many = "|".join(VERBS), "|".join(VERBS.values())
    if words(subject)[-1:] and words(subject)[-1] in PLURAL:
        return re.sub(rf"(?<=^The \{{S\}} )(?:{one})\b", lambda found: VERBS[found[0]], template)
    singular = {plural: verb for verb, plural in VERBS.items()}
    return re.sub(rf"(?<=^The \{{S\}} )(?:{many})\b", lambda found: singular[found[0]], template)


def split(name: str) -> tuple[str, str, str]:
    """A name as the text before its asked word, that word, and the text after it (methods 5.2).

    The word is the one after "of", else the first; where that is generic and another follows, the next one.
    """
    found = list(re.finditer(r"[^\s,]+", name))
    inner = [number for number, word in enumerate(found[1:-1], 1) if word[0] == "of"]
    place = inner[0] + 1 if inner else 0
    if found[place][0].casefold() in GENERIC and place + 1 < len(found):
        place += 1
    return name[: found[place].start()], found[place][0], name[found[place].end() :]
