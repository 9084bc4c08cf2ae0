"""Responses: where a name stands in whole words."""

from probing.analysis.responses import names_word


def test_names_count_in_whole_words_whatever_their_case() -> None:
    assert names_word("In the us.", ["US"])
    assert names_word("It is U.S. soil", ["United States", "U.S."])
    assert not names_word("That is because of Rus", ["US", ""])
