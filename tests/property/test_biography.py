"""What holds for the biography of every story, however odd what it is told from."""

from __future__ import annotations

import re
import unicodedata

import hypothesis
from hypothesis import strategies as st

from tests import scale
from tether import text
from tether.lineage.biography import picking
from tether.lineage.biography.model import Biography, Commit, Mention, Record, Relation, Step, Story
from tether.lineage.biography.telling import tell
from tether.lineage.edges import model as edges

many = hypothesis.settings(max_examples=scale.count(2_000, 60))

# What a title, a path or an author may be: words of the biography's own among them.
SLY = st.sampled_from(
    [
        "Ring the bell", "", " ", "x”. It was removed by T2 “y", "a\nb", "\x1b[31m", "\u2028", "“",
        "Note: ", "\ud83d", "\u202e", "\x00", "a" * 400, "ring " * 90, "src/a.py:3", "in_progress",
    ]
)  # fmt: skip
words = SLY | st.text(max_size=12)
days = st.integers(1, 28).map(lambda day: f"2026-03-{day:02d}T10:00:00Z") | words
# Few names, so that much is about the same.
oids = st.sampled_from([sign * 40 for sign in "0123456789ab"]) | words
task_keys = st.sampled_from([f"task:work:T{n}" for n in range(5)] + ["task:beads:T1"])
decision_keys = st.sampled_from(["decision:0020", "decision:0021", "decision:ADR-7"])
keys = st.one_of(task_keys, task_keys, decision_keys, st.just("node:x"), words)
sure = st.sampled_from([0.0, 0.4, 0.5, 0.69, 0.7, 0.95, 1.0])
KINDS = (
    "introduced", "body", "signature", "rename", "move", "container", "documentation", "comment",
    "formatting", "annotation", "deleted",
)  # fmt: skip
places = st.sampled_from(["", "a.py#run", "b.py#run", "b.py#go", "a.py"]) | words
commits = st.builds(Commit, oids, days, words, words, st.sampled_from([1, 2, 99, 100, 1333]))
steps = st.builds(
    Step,
    commits,
    st.lists(st.sampled_from(KINDS), max_size=3).map(tuple),
    st.lists(st.tuples(task_keys | words, sure), max_size=3).map(tuple),
    places,
    places,
    st.integers(0, 2000),
    st.integers(0, 2000),
    st.lists(oids, max_size=2).map(tuple),
    st.sampled_from(["", "split from a.py#run", "took in b.py#go; split from c.py#x"]) | words,
    st.booleans(),
)
records = st.builds(
    Record,
    *(task_keys | decision_keys, st.sampled_from(["T1", "T2", "0021"]) | words, words),
    *(words, words, days, days, words, words),
    st.lists(words, max_size=2).map(tuple),
    words,
)
relations = st.builds(
    Relation,
    keys,
    st.sampled_from([*edges.TYPES, "envies"]),
    keys,
    sure,
    *(days, words, words),
    st.integers(0, 3),
)
stories = st.builds(
    Story,
    *(words, words | st.just("function run"), words | st.just("a.py:3-9"), words),
    st.lists(steps, max_size=12).map(tuple),
    st.lists(records, max_size=5, unique_by=lambda each: each.key).map(tuple),
    st.lists(relations, max_size=8).map(tuple),
    st.lists(relations, max_size=2).map(tuple),
    st.lists(st.builds(Mention, words, st.integers(-1, 99), words), max_size=7).map(tuple),
    st.lists(words, max_size=2).map(tuple),
    *(words, words),
)
budgets = st.integers(-5, 1500)
ENOUGH = re.compile(r"--budget ([0-9]+) shows all\.$")


def body(told: Biography) -> list[str]:
    """Its lines without the one about those that had no room."""
    return [each.text for each in (told.lines[:-1] if told.is_truncated else told.lines)]


def is_shortened(line: str, whole: str) -> bool:
    """Whether a line is another one without some of its words."""
    rest = iter(whole.split())
    return all(word in rest for word in line.split())


@many
@hypothesis.given(stories, budgets)
def test_one_story_has_one_text(story: Story, budget: int) -> None:
    assert tell(story, budget=budget) == tell(story, budget=budget)


@many
@hypothesis.given(stories, budgets, sure)
def test_every_line_is_one_clean_line_with_sources(story: Story, budget: int, least: float) -> None:
    told = tell(story, budget=budget, min_confidence=least)
    for each in told.lines[: len(body(told))]:
        assert each.sources
        assert len(set(each.sources)) == len(each.sources)
    for each in told.lines:
        assert each.text == text.one_line(each.text)
        assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in each.text)
        assert len(each.text.splitlines()) == 1


@many
@hypothesis.given(stories, budgets)
def test_quotations_end_only_where_the_biography_ends_them(story: Story, budget: int) -> None:
    for each in tell(story, budget=budget).lines:
        marks = "".join(char for char in each.text if char in "“”")
        assert marks == "“”" * (len(marks) // 2)


@many
@hypothesis.given(stories, budgets)
def test_a_budget_is_kept_unless_only_what_must_stay_is_left(story: Story, budget: int) -> None:
    told, least = tell(story, budget=budget), tell(story, budget=-1)
    is_kept = len(told.prose) <= budget * text.CHARS_PER_TOKEN
    assert is_kept or told.lines == least.lines


@many
@hypothesis.given(stories, budgets, budgets)
def test_a_smaller_budget_never_shows_more(story: Story, one: int, other: int) -> None:
    small, large = (tell(story, budget=each) for each in sorted((one, other)))
    assert small.dropped_count >= large.dropped_count
    assert small.is_truncated or not large.is_truncated
    lines = iter(body(large))
    for line in body(small):
        assert any(is_shortened(line, each) for each in lines)


@many
@hypothesis.given(stories, budgets)
def test_the_budget_that_is_named_has_room_for_everything(story: Story, budget: int) -> None:
    told = tell(story, budget=budget)
    if told.is_truncated:
        enough = ENOUGH.search(told.lines[-1].text)
        assert enough
        assert not tell(story, budget=int(enough[1])).is_truncated
        assert tell(story, budget=int(enough[1]) - 1).is_truncated


@many
@hypothesis.given(stories)
def test_with_room_for_everything_nothing_is_dropped(story: Story) -> None:
    told = tell(story, budget=10**6)
    assert (told.is_truncated, told.dropped_count) == (False, 0)
    assert len(tell(story, budget=-1).lines) + tell(story, budget=-1).dropped_count >= len(
        told.lines
    )


@many
@hypothesis.given(stories)
def test_the_creation_the_last_change_and_reversals_are_always_there(story: Story) -> None:
    told = tell(story, budget=-1)
    lines = [each for each in told.lines[1:] if not each.text.startswith("No task explains it")]
    shown = {each.pointer for line in lines for each in line.sources}
    happened = [each for each in story.steps if each.kinds]
    own = [each for each in happened if not each.is_ancestor]
    kept = [each for each in happened if each.undoes]
    kept += [each for each in own if "introduced" in each.kinds] + own[-1:]
    assert {f"commit:{each.commit.oid}" for each in kept} <= shown


@many
@hypothesis.given(stories)
def test_what_is_missing_is_always_said(story: Story) -> None:
    told = tell(story, budget=-1)
    gaps = [each for each in story.gaps if text.one_line(each)]
    assert sum(each.text.startswith("May be incomplete: ") for each in told.lines) == len(gaps)


@many
@hypothesis.given(stories)
def test_a_title_is_told_only_if_a_source_is_named(story: Story) -> None:
    """No task is named by a line whose sources do not show why."""
    told = tell(story, budget=10**6)
    explained = {
        key for each in story.steps if each.kinds for key, how in each.tasks if how >= edges.SURE
    }
    is_explained = any(each.text.startswith("No task explains it") for each in told.lines)
    assert is_explained == (not explained and any(each.kinds for each in story.steps))


PIECES = st.sampled_from(
    [
        "Hi all,", "# Plan", "Done.", "- [x] a", "- [ ] TODO: b", "- c", "```", "~~~", "| a |", ">",
        "Ring it, because it freezes.", "Known issues:", "Known issue: ice.", "Not yet heard.", "",
        "    code()", "e.g. this", "<!--", "-->", "---", "===", "x" * 300, "ring " * 80, "1. d",
        "。", "...", "TODO", "\x1b[0m", "\u2028", "**Risk**", "Risk: none",
    ]
)  # fmt: skip
texts = st.lists(PIECES | st.text(max_size=20), max_size=15).map("\n".join)
values = st.one_of(texts, st.none(), st.integers(), st.lists(texts, max_size=3))
fields = st.fixed_dictionaries(
    {},
    optional={
        "title": values,
        "result": values | st.fixed_dictionaries({}, optional={"summary": values}),
        "plan": values,
        "description": values,
    },
)


def squeezed(value: object) -> str:
    return "".join(text.clean(str(value)).split())


@many
@hypothesis.given(fields)
def test_a_sentence_is_word_for_word_of_its_field(task: dict[str, object]) -> None:
    said, field = picking.sentence(task)
    assert bool(said) == bool(field)
    assert said == text.one_line(said)
    assert len(said) <= picking.MAX_CHARS
    value = task.get(field.partition(".")[0])
    value = value.get("summary") if isinstance(value, dict) else value
    whole = "\n".join(map(str, value)) if isinstance(value, list) else value
    if said and isinstance(whole, str):
        cut = said.removesuffix("…") if squeezed(said) not in squeezed(whole) else said
        assert squeezed(cut) in squeezed(whole)


@many
@hypothesis.given(texts)
def test_notes_are_few_and_word_for_word(value: str) -> None:
    found = picking.notes(value)
    assert len(found) <= picking.MAX_NOTES
    assert len(set(found)) == len(found)
    for each in found:
        assert each == text.one_line(each)
        assert squeezed(each.removesuffix("…")) in squeezed(value)
