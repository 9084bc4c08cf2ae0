"""Start tokens as settings, chat templates in which they mark roles, and facts in records."""

from dataclasses import asdict, replace

import pytest

from probing.errors import BadInput
from probing.start_token import StartToken, TokenizerFacts, marks_roles, normalised_start

FACTS = TokenizerFacts(
    "BPE", 49_152, lower_cases=False, adds_space=False, special_tokens={"bos": "<s>"}, start=StartToken("bos", 1, "<s>")
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("bos", "bos"), (" EOS ", "eos"), ("none", "none"), ("auto", "auto"), ("", "auto"), ("007", "7")],
)
def test_a_start_token_has_one_spelling(text: str, expected: str) -> None:
    assert normalised_start(text) == expected


@pytest.mark.parametrize("text", ["cls", "-1", "1.5", "<s>", "²"])
def test_what_names_no_start_token_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="start token cannot be") as error:
        normalised_start(text)
    assert "bos, eos, none, or the id" in error.value.next_step


def test_a_misspelt_start_token_gets_the_right_one() -> None:
    with pytest.raises(BadInput, match=r"start token cannot be 'boss'\. Did you mean 'bos'\?"):
        normalised_start("boss")


CHATML = "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>'}}{% endfor %}"
LLAMA = "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>{% endfor %}"


@pytest.mark.parametrize(
    ("token", "template", "expected"),
    [
        ("<|im_start|>", CHATML, True),
        ("<|im_end|>", CHATML, False),
        ("<|im_start|>", "<|im_start|>assistant\n", True),
        ("bos_token", "{{ bos_token + message.role }}", True),
        ("<|begin_of_text|>", LLAMA, False),
        ("bos_token", LLAMA, False),
        ("", CHATML, False),
        ("<s>", "", False),
        ("<s>", "<s>systematic", False),
    ],
)
def test_a_token_marks_roles_if_the_chat_template_puts_it_before(token: str, template: str, expected: bool) -> None:
    assert marks_roles(token, template) is expected


def test_facts_survive_json() -> None:
    for facts in (FACTS, replace(FACTS, start=None)):
        assert TokenizerFacts.from_json(asdict(facts)) == facts
    assert TokenizerFacts.from_json(None) is None


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {},
        {**asdict(FACTS), "colour": "red"},
        {**asdict(FACTS), "vocabulary": "many"},
        {**asdict(FACTS), "special_tokens": {"bos": 1}},
        {**asdict(FACTS), "start": {"id": "x"}},
        {**asdict(FACTS), "start": 1},
    ],
)
def test_facts_of_a_wrong_form_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="wrong form"):
        TokenizerFacts.from_json(wrong)
