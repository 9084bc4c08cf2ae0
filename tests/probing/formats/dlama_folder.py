"""A DLAMA folder to spoil: change `facts` (path -> lines), `templates` or `questions`, then `write()`."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any


def fact(number: int, subject: str, objects: dict[str, str], region: str = "ARAB_REGION") -> dict[str, Any]:
    return {
        "sub_uri": f"Q{number}",
        "obj_uri": list(objects),
        "sub_label": subject,
        "obj_label": list(objects.values()),
        "uuid": f"P37_general_{region}_{number}",
    }


ENGLISH = {
    "ARAB_REGION": [
        fact(79, "Egypt", {"Q13955": "Arabic"}),
        fact(796, "Iraq", {"Q36368": "Kurdish", "Q13955": "Arabic"}),
    ],
    "WESTERN_COUNTRIES": [
        fact(142, "France", {"Q150": "French"}, "WESTERN_COUNTRIES"),
        fact(16, "Canada", {"Q1860": "English", "Q150": "French"}, "WESTERN_COUNTRIES"),
        fact(145, "Britain", {"Q1860": "English"}, "WESTERN_COUNTRIES"),
    ],
}


class DlamaFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts: dict[str, list[Any]] = {
            f"arab-west/dlama/en/P37_general_{region}.jsonl": [dict(line) for line in lines]
            for region, lines in ENGLISH.items()
        }
        self.templates = {"en": [{"relation": "P37", "template": "People of [X] speak [Y]."}]}
        self.questions: Any = {
            "system_message": {"en": "Be short."},
            "questions": {"P37": {"en": "What do people of {} speak?"}},
        }

    def add_arabic(self) -> None:
        labels = {"Arabic": "العربية", "Kurdish": "الكردية", "French": "الفرنسية", "English": "الإنجليزية"}
        for path, lines in list(self.facts.items()):
            translated = [line | {"obj_label": [labels[label] for label in line["obj_label"]]} for line in lines]
            self.facts[path.replace("/en/", "/ar/")] = translated
        self.templates["ar"] = [{"relation": "P37", "template": "لغة [X] هي [Y]."}]

    def write(self) -> Path:
        for name, content in self.contents().items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_bytes(content)
        return self.path

    def pack(self, *extra: tarfile.TarInfo) -> Path:
        """The facts as an archive, with the templates beside it."""
        contents = self.contents()
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for member in extra:
                archive.addfile(member, io.BytesIO(b"x" * member.size))
            for name, content in contents.items():
                if not name.startswith("templates/"):
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        self.facts = {}
        self.write()
        (self.path / "facts.tar.gz").write_bytes(buffer.getvalue())
        return self.path / "facts.tar.gz"

    def contents(self) -> dict[str, bytes]:
        files = {**self.facts, **{f"templates/{lang}/templates.jsonl": lines for lang, lines in self.templates.items()}}
        contents = {name: "".join(json.dumps(line) + "\n" for line in lines).encode() for name, lines in files.items()}
        if self.questions is not None:
            contents["templates/questions.json"] = json.dumps(self.questions).encode()
        return contents
