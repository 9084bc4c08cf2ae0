import pytest

from leaderboard.ui.visible import LINES, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Apache 2.0 – für alle, 中文, العربية", "Apache 2.0 – für alle, 中文, العربية"),
        ("org/\u202egnp.exe", r"org/\u202egnp.exe"),
        ("a\u200bb\u2066c\ufeff", r"a\u200bb\u2066c\ufeff"),
        ("bell\x07 null\x00 line\nend\u2028", r"bell\x07 null\x00 line\x0aend\u2028"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("half \ud800", r"half \ud800"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_log_keeps_its_lines() -> None:
    assert visible("first\n\tsecond\x1b[31m", LINES) == "first\n\tsecond\\x1b[31m"
