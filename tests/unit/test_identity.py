"""Who calls, by what agents put into the environment: plain values in, a session or an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether import errors, host, ids
from tether.agents import identity, model, registry
from tether.cli import context

CLAUDE_ID = "9e1f7a52-33c0-4b0d-9d4e-5a1c0f6b9f3c"
CODEX_ID = "01998b2e-7c41-7a2b-9f00-3a5d1e2f4b61"
CLAUDE = {"CLAUDE_CODE_SESSION_ID": CLAUDE_ID, "CLAUDE_PID": "4100"}
CODEX = {"CODEX_SESSION_ID": CODEX_ID}
GEMINI = {"GEMINI_SESSION_ID": "gemini-1"}


def process(pid: int) -> host.Process:
    return host.Process("host", "boot", "pid:[1]", pid, 7)


def agent_of(
    environ: dict[str, str],
    *,
    ancestors: tuple[int, ...] = (),
    had: dict[tuple[int, str], str] | None = None,
    identify: Callable[[int], host.Process | None] = process,
) -> registry.Session | None:
    """The session of an environment, on a machine that is made up."""
    known = had or {}
    return identity.agent_of(
        environ,
        ancestors=lambda: list(ancestors),
        identify=identify,
        inherited=lambda pid, name: known.get((pid, name), ""),
    )


def session_of(
    environ: dict[str, str],
    *,
    ancestors: tuple[int, ...] = (),
    had: dict[tuple[int, str], str] | None = None,
) -> registry.Session:
    found = agent_of(environ, ancestors=ancestors, had=had)
    assert found is not None
    return found


# One agent


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"TETHER_SESSION": ""},
        {"TETHER_AGENT": "ada"},
        {"CLAUDE_CODE_SESSION_ID": "", "CLAUDE_PID": "4100"},
        {"TETHER_PID": "1", "TETHER_KIND": "codex", "TETHER_PARENT": "s0"},
    ],
)
def test_without_a_session_no_agent_calls(environ: dict[str, str]) -> None:
    assert agent_of(environ) is None


@pytest.mark.parametrize(
    ("environ", "kind", "session_id", "name"),
    [
        (CLAUDE, "claude", CLAUDE_ID, "claude-9f3c"),
        (CODEX, "codex", CODEX_ID, "codex-4b61"),
        (GEMINI, "gemini", "gemini-1", "gemini-ini1"),
        ({"TETHER_SESSION": "s1"}, "other", "s1", "other-s1"),
        ({"TETHER_SESSION": "s1", "TETHER_KIND": "cursor"}, "cursor", "s1", "cursor-s1"),
        ({"TETHER_SESSION": "s1", "TETHER_AGENT": "builder"}, "other", "s1", "builder"),
        ({**CLAUDE, "TETHER_AGENT": "builder"}, "claude", CLAUDE_ID, "builder"),
    ],
)
def test_each_program_is_known_by_its_variables(
    environ: dict[str, str], kind: str, session_id: str, name: str
) -> None:
    found = session_of(environ)
    assert (found.kind, found.session_id, found.agent_name) == (kind, session_id, name)
    assert found.parent_id is None


def test_an_empty_variable_says_nothing() -> None:
    silent = dict.fromkeys(["TETHER_AGENT", "TETHER_KIND", "TETHER_PARENT", "TETHER_PID"], "")
    assert session_of({**CODEX, **silent}) == session_of(CODEX)


def test_a_session_of_our_own_naming_wins() -> None:
    found = session_of({**CLAUDE, "TETHER_SESSION": "s1"}, ancestors=(4100,))
    assert found.session_id == "s1"


def test_a_parent_is_named_by_hand() -> None:
    assert session_of({**CLAUDE, "TETHER_PARENT": "s0"}).parent_id == "s0"
    assert session_of({"TETHER_SESSION": "s1", "TETHER_PARENT": "s0"}).parent_id == "s0"


# Its process


def test_the_process_of_claude_is_the_one_that_it_names() -> None:
    assert session_of(CLAUDE, ancestors=(4200, 4100, 1)).process == process(4100)


def test_a_pid_that_is_no_ancestor_is_a_stranger() -> None:
    """In a pid namespace of its own the number means somebody else."""
    assert session_of(CLAUDE, ancestors=(2, 1)).process is None
    assert session_of(CLAUDE).process is None


@pytest.mark.parametrize("pid", ["", "x", "-4100", "4100.0", " 4100", "\u0664\u0661\u0660\u0660"])
def test_what_is_no_pid_of_claude_names_no_process(pid: str) -> None:
    environ = {**CLAUDE, "CLAUDE_PID": pid}
    assert session_of(environ, ancestors=(4100, 1)).process is None


@pytest.mark.parametrize("around", [{}, CODEX], ids=["alone", "nested"])
def test_a_number_without_end_is_no_pid(around: dict[str, str]) -> None:
    environ = {**around, **CLAUDE, "CLAUDE_PID": "9" * 5000}
    assert session_of(environ, ancestors=(4100, 1)).process is None


def test_programs_that_name_no_process_have_none() -> None:
    for environ in (CODEX, GEMINI, {"TETHER_SESSION": "s1"}):
        assert session_of(environ, ancestors=(4100, 1)).process is None


def test_a_pid_given_by_hand_needs_no_kinship() -> None:
    assert session_of({"TETHER_SESSION": "s1", "TETHER_PID": "77"}).process == process(77)
    assert session_of({**CODEX, "TETHER_PID": "77"}).process == process(77)


def test_a_program_that_names_its_process_knows_it_best() -> None:
    both = {**CLAUDE, "TETHER_PID": "77"}
    assert session_of(both, ancestors=(4100,)).process == process(4100)


def test_a_pid_that_nobody_has_is_no_process() -> None:
    found = agent_of({"TETHER_SESSION": "s1", "TETHER_PID": "77"}, identify=lambda _: None)
    assert found is not None
    assert found.process is None


# Agents that start agents


def test_claude_inside_codex_is_the_child() -> None:
    """Claude's process already had the variable of Codex when it started."""
    had = {(4100, "CODEX_SESSION_ID"): CODEX_ID}
    found = session_of({**CODEX, **CLAUDE}, ancestors=(4100, 1), had=had)
    assert (found.kind, found.session_id, found.parent_id) == ("claude", CLAUDE_ID, CODEX_ID)
    assert found.process == process(4100)


def test_codex_inside_claude_is_the_child() -> None:
    """Claude's process had not: the variable of Codex came later, from further inside."""
    found = session_of({**CLAUDE, **CODEX}, ancestors=(4100, 1))
    assert (found.kind, found.session_id, found.parent_id) == ("codex", CODEX_ID, CLAUDE_ID)
    assert found.process is None, "the process of the parent is not the child's"


def test_another_session_of_codex_further_out_does_not_count() -> None:
    had = {(4100, "CODEX_SESSION_ID"): "an-older-one"}
    found = session_of({**CLAUDE, **CODEX}, ancestors=(4100, 1), had=had)
    assert (found.session_id, found.parent_id) == (CODEX_ID, CLAUDE_ID)


def test_with_three_around_nobody_guesses_the_parent() -> None:
    had = {(4100, "CODEX_SESSION_ID"): CODEX_ID, (4100, "GEMINI_SESSION_ID"): "gemini-1"}
    found = session_of({**CODEX, **GEMINI, **CLAUDE}, ancestors=(4100,), had=had)
    assert (found.session_id, found.parent_id) == (CLAUDE_ID, None)


def test_a_parent_named_by_hand_wins_over_the_one_around() -> None:
    assert session_of({**CLAUDE, **CODEX, "TETHER_PARENT": "s0"}).parent_id == "s0"


def test_an_outer_session_with_an_impossible_name_is_no_parent() -> None:
    assert session_of({**CODEX, "CLAUDE_CODE_SESSION_ID": "../x"}).parent_id is None


def test_nobody_is_its_own_parent_because_two_programs_share_a_name() -> None:
    both = {"CODEX_SESSION_ID": "same", "CLAUDE_CODE_SESSION_ID": "same"}
    assert session_of(both).parent_id is None


# What cannot be used is said


@pytest.mark.parametrize(
    "value", ["-x", "a b", "../up", "a/b", "x" * 129, "caf\u00e9", "end.", "con"]
)
@pytest.mark.parametrize("variable", ["TETHER_SESSION", "CLAUDE_CODE_SESSION_ID", "TETHER_PARENT"])
def test_an_impossible_session_is_refused(variable: str, value: str) -> None:
    environ = {variable: value} if variable != "TETHER_PARENT" else {**CODEX, variable: value}
    with pytest.raises(errors.InvalidId, match="session id") as caught:
        agent_of(environ)
    assert caught.value.hint
    assert value not in caught.value.message


def test_an_impossible_name_is_refused() -> None:
    with pytest.raises(errors.InvalidId, match="agent name"):
        agent_of({**CODEX, "TETHER_AGENT": "a/b"})


@pytest.mark.parametrize("value", ["abc", "-1", "1.5", "\u0661", "123456789", " 1"])
def test_what_is_no_pid_is_refused(value: str) -> None:
    with pytest.raises(errors.UsageError, match="TETHER_PID"):
        agent_of({**CODEX, "TETHER_PID": value})


@pytest.mark.parametrize("value", ["human", "Claude", "robot"])
def test_what_is_no_kind_of_agent_is_refused(value: str) -> None:
    with pytest.raises(errors.UsageError, match="TETHER_KIND") as caught:
        agent_of({"TETHER_SESSION": "s1", "TETHER_KIND": value})
    assert "claude, codex, gemini, cursor, other" in caught.value.hint


@given(
    st.dictionaries(
        st.sampled_from(
            ["TETHER_SESSION", "TETHER_AGENT", "TETHER_KIND", "TETHER_PARENT", "TETHER_PID",
             "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CODEX_SESSION_ID", "GEMINI_SESSION_ID"]
        ),
        st.text(max_size=140) | st.from_regex(r"[a-z0-9-]{1,130}", fullmatch=True)
        | st.integers().map(str),
    ),
    st.booleans(),
)  # fmt: skip
def test_every_answer_is_a_valid_session_or_a_clear_error(
    environ: dict[str, str], inherits: bool
) -> None:
    try:
        found = identity.agent_of(
            environ,
            ancestors=lambda: [1],
            identify=process,
            inherited=lambda _, name: environ.get(name, "") if inherits else "",
        )
    except errors.UsageError:
        return
    if found is None:
        return
    assert ids.SessionId.is_valid(found.session_id)
    assert ids.AgentName.is_valid(found.agent_name)
    assert found.kind in model.KINDS
    assert found.kind != model.HUMAN
    assert found.parent_id is None or ids.SessionId.is_valid(found.parent_id)


# Names


def test_sessions_of_the_same_minute_have_different_names() -> None:
    """UUIDs of version 7 begin with the time, so they differ only at the end."""
    first = "01998b2e-7c41-7a2b-9f00-3a5d1e2f4b61"
    second = "01998b2e-7c4f-7c11-8e21-90b1d3c4e5f6"
    names = {identity.default_name("codex", each) for each in (first, second)}
    assert names == {"codex-4b61", "codex-e5f6"}


def test_a_name_skips_what_is_no_letter_or_digit() -> None:
    assert identity.default_name("other", "a-1.b_2") == "other-a1b2"
    assert identity.default_name("other", "a") == "other-a"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Ada Lovelace", "Ada-Lovelace"),
        ("  Ada  ", "Ada"),
        ("ada@example.com", "ada-example.com"),
        ("Dr. No.", "Dr.-No"),
        ("", "human"),
        ("x" * 80, "x" * 48),
    ],
)
def test_a_person_is_called_by_a_name_that_can_be_typed(name: str, slug: str) -> None:
    found = identity.person(name)
    assert (found.agent_name, found.kind) == (slug, "human")
    assert found.session_id == f"human-{slug}"
    assert (found.parent_id, found.process) == (None, None)


def test_people_whose_names_no_id_can_have_are_still_different_people() -> None:
    names = ["\u674e\u96f7", "\u97e9\u6885\u6885", "con", "-_.", "J\u00fcrgen", "J\u00f6rgen"]
    found = [str(identity.person(name).agent_name) for name in names]
    assert len(set(found)) == len(names)
    assert all(name.startswith("human-") for name in found[:4])
    assert all(name.startswith("J-rgen-") for name in found[4:])


@given(st.text(max_size=200))
def test_every_person_has_a_valid_session(name: str) -> None:
    found = identity.person(name)
    assert ids.SessionId.is_valid(found.session_id)
    assert ids.AgentName.is_valid(found.agent_name)


def test_the_command_line_knows_every_variable_by_which_an_agent_shows() -> None:
    """It looks without importing this room, so it has the list a second time."""
    known = {"TETHER_SESSION", *identity.MARKERS}
    known |= {program.session_variable for program in identity.PROGRAMS}
    assert set(context._AGENT_VARIABLES) == known


@pytest.mark.parametrize(
    ("environ", "session_id"),
    [
        ({"CODEX_THREAD_ID": "t1"}, "t1"),
        ({"CODEX_SESSION_ID": "s1", "CODEX_THREAD_ID": "t1"}, "s1"),
    ],
)
def test_codex_is_known_by_its_thread_too(environ: dict[str, str], session_id: str) -> None:
    found = session_of(environ)
    assert (found.kind, found.session_id, found.parent_id) == ("codex", session_id, None)
