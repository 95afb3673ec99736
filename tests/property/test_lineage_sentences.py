"""What holds for every text that tasks say of one another."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tether.lineage.derive import sentences
from tether.lineage.derive.grammar import blanking, units
from tether.lineage.edges import model
from tether.tasks.sources import patterns

FINDER = patterns.Finder(
    patterns.Kinds(("work", "track"), ("PROJ-#",), (("beads", "bd"), ("backlog", "task")))
)
OWN = "task:work:PROJ-1"
FIELDS = st.sampled_from(["description", "plan", "result", "review", "merge", "commit"])
IDS = st.sampled_from(["PROJ-1", "PROJ-2", "PROJ-3", "task-7", "TASK-7", "bd-a3f8", "H.3.2"])
WORDS = st.sampled_from(
    [
        "supersedes", "superseded by", "replaced", "with", "reverts", "reverted in", "undo",
        "roll", "back", "rolled back", "extends", "builds on", "follow-up to", "Follow-up:",
        "motivated by", "found while working on", "came out of", "led to", "contradicts",
        "conflicts with", "is wrong about", "this", "it", "we", "which", "the", "work", "and",
        "or", "not", "if", "would", "In", "While working on", "found", "makes", "obsolete", "'s",
        "approach", "added", "from", "here", "as a follow-up", "was filed as", "Supersedes:", ":",
        "not yet", "almost", "until",
    ]
)  # fmt: skip
MARKS = st.sampled_from(
    [
        " ", "\n", "\n\n", ". ", ", ", "; ", "? ", "! ", "`", "``", "```", "\n```\n", "~~~\n", "~~",
        '"', "'", "“", "”", "(", ")", "[", "](", "- ", "\n- ", "\n1. ", "# ", "\n## ", "> ", "|",
        "<!--", "-->", "https://", "/", ".md", "\t", "    ", "—", "-", "\r\n", "\0", "\1", "*", "_",
        "\nOut of scope:\n", "\n  - ", "\nNon-goals: ",
        "\n## Alternatives\n", "\n## Supersedes\n", "\nSupersedes:\n", 'Revert "',
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(IDS, WORDS, MARKS, st.just(" "), st.text(max_size=4)), max_size=60).map(
    "".join
)
SPACED = st.lists(st.one_of(IDS, WORDS, MARKS), max_size=40).map(" ".join)
ANY = st.one_of(TEXTS, SPACED)
# One sentence each, with nothing that reaches into the next.
STATEMENTS = st.lists(st.one_of(IDS, WORDS), min_size=1, max_size=12).map(
    lambda parts: " ".join(parts).replace(":", "") + "."
)
ORDERS = st.lists(STATEMENTS, min_size=1, max_size=5).flatmap(
    lambda each: st.tuples(st.just(each), st.permutations(each))
)


def read(text: str, field: str = "plan") -> list[sentences.Said]:
    return sentences.read(text, FINDER.find, OWN, field)


@given(ANY, FIELDS)
def test_every_edge_opens_to_the_place_of_an_id(text: str, field: str) -> None:
    for said in read(text, field):
        ends = {model.label(said.subject), model.label(said.object)}
        at = {text[said.start : said.start + len(end)].upper() for end in ends}
        assert at & {end.upper() for end in ends}
        assert said.line == text.count("\n", 0, said.start) + 1
        assert len(said.text) <= sentences.MAX_TEXT


@given(ANY, FIELDS)
def test_no_edge_leads_to_itself_and_none_is_told_twice(text: str, field: str) -> None:
    found = read(text, field)
    assert all(said.subject != said.object for said in found)
    assert len({said[:3] for said in found}) == len(found)
    assert {said.type for said in found} <= set(model.TYPES)
    assert all(said.confidence == sentences.RULES[said.rule] for said in found)


@given(ANY, FIELDS)
def test_two_tasks_with_an_edge_of_a_type_are_not_mentioned_beside_it(
    text: str, field: str
) -> None:
    found = read(text, field)
    typed = {frozenset(said[:3:2]) for said in found if said.verb}
    assert not typed & {frozenset(said[:3:2]) for said in found if not said.verb}


@given(ANY)
def test_a_blanked_text_keeps_its_length_and_its_lines(text: str) -> None:
    ids = [(each.start, each.start + len(each.id)) for each in FINDER.find(text)]
    shown = blanking.blank(text, ids)
    assert len(shown) == len(text)
    assert [n for n, c in enumerate(shown) if c == "\n"] == [
        n for n, c in enumerate(text) if c == "\n"
    ]
    assert all(new in (old, " ", blanking.FILL) for old, new in zip(text, shown, strict=True))


@given(ANY)
def test_statements_stand_in_order_and_do_not_meet(text: str) -> None:
    found = list(units.units(text))
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


@given(ANY)
def test_every_id_that_is_not_blanked_stands_in_a_statement(text: str) -> None:
    ids = [(each.start, each.start + len(each.id)) for each in FINDER.find(text)]
    shown = blanking.blank(text, ids)
    found = list(units.units(shown))
    for start, end in ids:
        if shown[start:end] == text[start:end]:
            assert any(each.start <= start and end <= each.end for each in found)


@given(ORDERS, FIELDS)
def test_the_order_of_statements_does_not_matter(
    orders: tuple[list[str], list[str]], field: str
) -> None:
    for joint in ("\n\n", "\n- "):
        known, other = (
            {said[:4] for said in read(joint.join(["", *order]), field)} for order in orders
        )
        assert known == other


@given(ANY)
def test_a_text_in_a_block_of_code_says_nothing(text: str) -> None:
    assert read("~~~~~~\n" + text.replace("~", "") + "\n~~~~~~\n") == []


@given(STATEMENTS)
def test_a_question_is_never_an_edge_of_a_type(text: str) -> None:
    assert not [said for said in read(text.removesuffix(".") + "?") if said.verb]
