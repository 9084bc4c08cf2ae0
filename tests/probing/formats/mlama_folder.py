"""A folder of mLAMA to spoil: change `lists` (language/predicate -> triples) or `templates`, then `write()`."""

import json
from pathlib import Path
from typing import Any


def triple(number: int, subject: str, object_id: str, object_: str) -> dict[str, Any]:
    return {
        "uuid": f"u{number}",
        "lineid": number,
        "sub_uri": f"Q{number}",
        "sub_label": subject,
        "obj_uri": object_id,
        "obj_label": object_,
    }


ENGLISH = [triple(1, "Oslo", "Q20", "Norway"), triple(2, "Lima", "Q419", "Peru"), triple(3, "Cusco", "Q419", "Peru")]
SPANISH = [triple(1, "Oslo", "Q20", "Noruega"), triple(2, "Lima", "Q419", "Perú")]


class MlamaFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.lists: dict[str, list[Any]] = {
            name: [dict(line) for line in lines] for name, lines in (("en/P17", ENGLISH), ("es/P17", SPANISH))
        }
        self.templates: dict[str, list[Any]] = {
            "en": [{"relation": "P17", "template": "[X] lies in [Y]."}],
            "es": [{"relation": "P17", "template": "[X] queda en [Y]."}],
        }

    def write(self) -> Path:
        files = {**self.lists, **{f"{language}/templates": lines for language, lines in self.templates.items()}}
        for name, lines in files.items():
            path = self.path / f"{name}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return self.path
