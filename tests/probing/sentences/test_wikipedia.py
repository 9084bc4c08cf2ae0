"""Words are counted in the articles of a dump of Wikipedia."""

import bz2
from pathlib import Path

import pytest

from probing.errors import BadInput
from probing.sentences.sentence_files import corpus_counts, plain_text

DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">
<page><title>Lyon</title><ns>0</ns><revision><text>Lyon is in [[France|the land of France]].</text></revision></page>
<page><title>Talk:Lyon</title><ns>1</ns><revision><text>Lyon Lyon</text></revision></page>
<page><title>Lyons</title><ns>0</ns><redirect title="Lyon" /><revision><text>Lyon</text></revision></page>
<page><title>Europe</title><ns>0</ns><revision><text>{{Box|name=Europe}} France is in Europe.</text></revision></page>
</mediawiki>"""


def test_words_of_articles_count_and_those_of_redirects_and_talk_pages_do_not(tmp_path: Path) -> None:
    dump = tmp_path / "wiki-pages-articles.xml.bz2"
    dump.write_bytes(bz2.compress(DUMP.encode()))
    assert corpus_counts(str(dump), ["Lyon", "France", "Europe"]) == {"Lyon": 1, "France": 2, "Europe": 1}


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("'''Lyon''' lies in [[France]].", "Lyon lies in France."),
        ("[[Gaul|Old France]] and {{nowrap|{{lang|fr|Lyon}}}}Paris", "Old France and Paris"),
        ('Lyon<ref name="a">Paris, p. 3</ref> and <ref name="a" />Nice<!-- Rome -->', "Lyon and Nice"),
        ("[[File:Lyon.jpg|thumb|The [[Rhone]] at Lyon]]Text", "Text"),
        ("a {| class=x\n| {{y}} cell\n|} b", "a  b"),
        ("see [https://example.org/Paris the site]", "see  the site]"),
        ("''x'' <b>bold</b>", "x bold"),
    ],
)
def test_markup_is_taken_away(markup: str, text: str) -> None:
    assert plain_text(markup) == text


def test_a_broken_dump_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wiki.xml").write_text("<mediawiki><page>")
    with pytest.raises(BadInput, match="is no whole dump of Wikipedia"):
        corpus_counts(str(tmp_path / "wiki.xml"), ["Lyon"])
    with pytest.raises(BadInput, match="does not exist"):
        corpus_counts(str(tmp_path / "none.xml"), ["Lyon"])
