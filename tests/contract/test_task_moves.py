"""What every verb does to a task's file and claim, and refuses to do, on SQLite and PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import agency
from tether import clock, errors, ids, workspace
from tether.agents import claims, messages, sweep
from tether.agents import model as agents
from tether.store import events, port
from tether.tasks import (
    claiming,
    dependencies,
    desk,
    document,
    editing,
    model,
    moves,
    states,
    views,
    workdir,
)

TASK = "T-1"
PERSON = "ada"
HOLDER = "s1"
STRANGER = "s2"
ABSENT = "nobody-here"
TWO_HOURS_MS = 7_200_000
LATER = "2099-01-01T00:00:00.000Z"


class Office:
    """A checkout with tasks, a store, and three who act: two agents and a person."""

    def __init__(self, repo: Path, store: port.Store) -> None:
        self.top = repo
        self.store = store
        self.place = workspace.find(str(repo))
        self.work = workdir.Workdir(str(repo))
        for session in (HOLDER, STRANGER, PERSON):
            agency.begin(store, session)

    def at(self, session: str) -> desk.Desk:
        """The desk of a session; only the session `ada` is a person."""
        head = workspace.head(self.place)
        place = agents.Place(self.place.root, head.branch, head.commit)
        caller = desk.Caller(agency.agent(self.store, session), session == PERSON, place)
        now = clock.now_text(clock.SystemClock())
        return desk.Desk(self.place, self.work, self.store, agency.spot(), caller, now)

    def new(self, task_id: str = TASK, **edit: Any) -> desk.Moved:
        at = self.at(PERSON)
        return editing.new(at, title="A task", task_id=task_id, edit=editing.Edit(**edit))

    def claim(
        self, session: str = HOLDER, task_id: str = TASK, **how: Any
    ) -> claiming.Taken | claims.Refused:
        return claiming.claim(self.at(session), task_id, **how)

    def found(self, task_id: str = TASK) -> workdir.Loaded:
        """The one file that a task has."""
        [found] = self.work.find(task_id)
        return self.work.load(found)

    def fields(self, task_id: str = TASK) -> dict[str, Any]:
        return self.found(task_id).document.fields

    def tree(self) -> dict[str, bytes]:
        """Every file of the checkout that is not Git's."""
        return {
            str(path.relative_to(self.top)): path.read_bytes()
            for path in sorted(self.top.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.top).parts
        }

    def open_claim(self, task_id: str = TASK) -> agents.Claim | None:
        return claims.open_of(self.store.rows, agency.key(task_id))

    def last_claim(self, task_id: str = TASK) -> agents.Claim | None:
        return claims.last_of(self.store.rows, agency.key(task_id))

    def said(self, kind: events.EventType | None = None) -> list[events.Event]:
        """What the log tells of tasks and claims."""
        found = events.after(self.store, 0, 10_000)
        return [each for each in found if each.task and (kind is None or each.type == kind.name)]

    def inbox(self, session: str) -> list[messages.Message]:
        return messages.unread(self.store, agency.agent(self.store, session), 100)

    def view(self, session: str, task_id: str = TASK) -> views.View:
        name = agency.agent(self.store, session).agent_name
        viewer = views.Viewer(
            self.place, self.work, self.store, agency.spot(), lambda: (session, name)
        )
        return viewer.view(self.found(task_id).task)

    def fall_silent(self, session: str) -> None:
        """Let a session be taken for dead; its claims stay open until somebody takes them over."""
        agency.silence(self.store, session, 400)


@pytest.fixture(params=["sqlite", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(request.param, tmp_path, request))


@pytest.fixture
def office(repo: Path, opener: agency.OpenStore) -> Office:
    return Office(repo, opener())


def moved(answer: desk.Moved | claiming.Taken | claims.Refused) -> desk.Moved:
    """What a verb did, which it did."""
    if isinstance(answer, claiming.Taken):
        assert answer.moved is not None
        return answer.moved
    assert isinstance(answer, desk.Moved)
    return answer


def refused(answer: object) -> claims.Refused:
    assert isinstance(answer, claims.Refused)
    return answer


# The verbs, each as somebody would use it

Act = Callable[[desk.Desk], "desk.Moved | claiming.Taken | claims.Refused"]
ACTS: dict[str, Act] = {
    "new": lambda at: editing.new(at, title="A task", task_id=TASK),
    "assign": lambda at: claiming.assign(at, TASK, "agent-s2", "it fits"),
    "claim": lambda at: claiming.claim(at, TASK),
    "start": lambda at: claiming.claim(at, TASK, verb="start"),
    "finish": lambda at: moves.finish(at, TASK, summary="It works."),
    "fail": lambda at: moves.fail(at, TASK, message="It does not work."),
    "complete": lambda at: moves.complete(at, TASK, summary="It was there."),
    "retry": lambda at: moves.retry(at, TASK, why="once more", stalled_ms=TWO_HOURS_MS),
    "extend": lambda at: moves.extend(at, TASK, until=LATER),
    "return": lambda at: moves.give_back(at, TASK, why="no time"),
    # To adopt is to claim what another one has; a person may do so while that one is alive.
    "adopt": lambda at: claiming.claim(
        at, TASK, takes_over=at.caller.is_human, starts=not is_only_assigned(at)
    ),
    "cancel": lambda at: moves.cancel(at, TASK, why="not wanted"),
    "archive": lambda at: moves.archive(at, TASK),
    "reopen": lambda at: moves.reopen(at, TASK, why="it was not"),
}


def is_only_assigned(at: desk.Desk) -> bool:
    return any(at.work.read(each).state == states.ASSIGNED for each in at.work.find(TASK))


def bring_to(office: Office, state: str) -> None:
    """A task in this state; who held it is `s1`."""
    if state == states.NONE:
        return
    office.new()
    if state in (states.ASSIGNED, states.IN_PROGRESS, states.ERROR, states.DONE, states.ARCHIVED):
        moved(office.claim(starts=state != states.ASSIGNED))
    if state in (states.DONE, states.ARCHIVED):
        moved(ACTS["finish"](office.at(HOLDER)))
    if state == states.ERROR:
        moved(ACTS["fail"](office.at(HOLDER)))
    if state == states.ARCHIVED:
        moved(ACTS["archive"](office.at(PERSON)))


# Every legal move

LEGAL = [
    (move.verb, source, role)
    for move in states.TABLE
    for source in move.sources
    for role in move.who
    # Nobody is the coordinator of a run yet, and nobody can adopt what failed.
    if role != states.COORDINATOR
    and (move.verb, source, role) != ("complete", states.ERROR, states.ADOPTER)
]
WHO = {
    states.ANYONE: STRANGER,
    states.AGENT: STRANGER,
    states.ASSIGNEE: HOLDER,
    states.HOLDER: HOLDER,
    states.ADOPTER: STRANGER,
    states.HUMAN: PERSON,
    states.CLEANUP: STRANGER,
}
OUTCOMES = {
    "finish": claims.DONE,
    "complete": claims.DONE,
    "fail": claims.FAILED,
    "retry": claims.RELEASED,
    "return": claims.RELEASED,
    "cancel": states.CANCELLED,
}
NO_CLAIM = {("complete", states.NEW), ("cancel", states.NEW)} | {
    (verb, states.ERROR) for verb in ("complete", "cancel", "retry")
}


def prepare(office: Office, verb: str, source: str, role: str) -> None:
    """A task that this somebody may use this verb on."""
    if (verb, source) == ("claim", states.ASSIGNED) and role == states.HUMAN:
        # Given to somebody who is not here, so nobody alive stands in the person's way.
        office.new()
        claiming.assign(office.at(PERSON), TASK, ABSENT)
        return
    bring_to(office, source)
    if source == states.NEW and (verb == "adopt" or role == states.ADOPTER):
        # The claim of somebody whose own checkout has the file; here it is still in the inbox.
        claims.take(office.store, agency.spot(), HOLDER, agency.key(TASK))
    if verb == "adopt" and role == states.AGENT:
        office.fall_silent(HOLDER)
    if verb == "retry" and source == states.IN_PROGRESS:
        path = office.top / office.found().task.path
        began = office.found().task.started_at
        path.write_text(path.read_text().replace(began, "2020-01-01T00:00:00.000Z"))
    if role == states.ADOPTER:
        office.fall_silent(HOLDER)
        if source == states.NEW:
            claims.take(office.store, agency.spot(), STRANGER, agency.key(TASK))
        else:
            moved(ACTS["adopt"](office.at(STRANGER)))


def act(office: Office, verb: str, role: str) -> desk.Moved:
    at = office.at(WHO[role])
    if role == states.ADOPTER:
        return moved(moves.complete(at, TASK, summary="It was there.", evidence=["abc123"]))
    return moved(ACTS[verb](at))


def target_of(verb: str, source: str) -> str:
    """The state that a verb leads to."""
    [target] = {m.target for m in states.TABLE if m.verb == verb and source in m.sources}
    if target:
        return target
    # To adopt what is still new in this checkout is to claim it.
    return states.IN_PROGRESS if (verb, source) == ("adopt", states.NEW) else source


def folder_of(verb: str, role: str, state: str, before: model.Task | None, now: str) -> str:
    name = f"agent-{WHO[role]}"
    if state == states.NEW:
        return "inbox"
    if state == states.DONE:
        return "done"
    if state == states.ARCHIVED:
        return f"archive/{now[:7]}"
    if verb == "assign":
        return "assigned/agent-s2"
    if verb in ("claim", "start", "adopt"):
        return f"assigned/{name}"
    assert before is not None
    return f"assigned/{before.folder}"


@pytest.mark.parametrize(("verb", "source", "role"), LEGAL)
def test_a_legal_move_works(office: Office, verb: str, source: str, role: str) -> None:
    prepare(office, verb, source, role)
    before = office.found() if source != states.NONE else None
    held = office.open_claim()
    events_before = office.said()
    done = act(office, verb, role)
    now = clock.now_text(clock.SystemClock())
    state = target_of(verb, source)
    loaded = office.found()
    assert not done.is_repeat
    assert (done.verb, done.task) == (verb if verb != "adopt" else "claim", loaded.task)
    assert loaded.task.state == state
    folder = folder_of(verb, role, state, before.task if before else None, now)
    assert loaded.task.path == f"work/{folder}/{TASK}.yaml"
    assert (office.top / "work" / folder / ".gitkeep").exists()
    assert_fields(verb, loaded.document.fields, before.document.fields if before else {})
    assert_claim(office, verb, source, role, held)
    new_events = office.said()[len(events_before) :]
    assert_told(verb, source, state, WHO[role], new_events)


def assert_fields(verb: str, fields: dict[str, Any], before: dict[str, Any]) -> None:
    """What the file says after a verb, beyond its state."""
    assert fields["id"] == TASK
    if verb == "cancel":
        assert fields["status"] == before["status"]
        assert set(fields["cancelled"]) == {"at", "by", "why"}
        assert fields["cancelled"]["why"] == "not wanted"
    elif verb == "archive":
        assert fields == before
    elif verb in ("finish", "complete"):
        assert fields["completed_at"] == fields["result"]["completed_at"]
        assert fields["result"]["summary"] in ("It works.", "It was there.")
        assert "error" not in fields
        if verb == "finish":
            assert fields["started_at"]
            assert fields["assigned_at"]
    elif verb == "fail":
        assert set(fields["error"]) == {"message", "timestamp", "agent", "retry_count"}
        assert (fields["error"]["agent"], fields["error"]["retry_count"]) == ("agent-s1", 0)
        assert fields["started_at"]
    elif verb == "retry":
        assert "error" not in fields
        assert "started_at" not in fields
        assert fields["history"][-1]["what"] == "retried"
        assert fields["history"][-1].get("error") == before.get("error")
    elif verb == "extend":
        assert fields == {**before, "timeout_at": LATER}
    elif verb in ("return", "reopen"):
        assert fields["agent"] == ""
        assert {"assigned_at", "started_at", "completed_at", "result"}.isdisjoint(fields)
        entry = fields["history"][-1]
        assert entry["what"] == {"return": "returned", "reopen": "reopened"}[verb]
        assert entry.get("result") == before.get("result")
    elif verb == "assign":
        assert fields["agent"] == "agent-s2"
        assert fields["assigned_at"]
        assert "started_at" not in fields
    elif verb in ("claim", "start"):
        assert fields["assigned_at"]
        assert fields["started_at"]


def assert_claim(
    office: Office, verb: str, source: str, role: str, held: agents.Claim | None
) -> None:
    """Who has the task after a verb, and what became of the claim before."""
    open_now = office.open_claim()
    if verb in ("claim", "start", "adopt"):
        assert open_now is not None
        assert open_now.session_id == WHO[role]
        if verb == "adopt" and held is not None:
            [_, closed] = claims.history(office.store.rows, agency.key(TASK))
            assert (closed.outcome, closed.closed_by) == (claims.ADOPTED, WHO[role])
    elif verb == "assign":
        assert open_now is not None
        assert open_now.session_id == STRANGER
    elif verb == "retry":
        # Its agent is here, so it has the task again, under a new epoch.
        assert open_now is not None
        assert open_now.session_id == HOLDER
        if held is not None:
            assert open_now.epoch == held.epoch + 1
    elif verb == "extend":
        assert open_now == held
    else:
        assert open_now is None
    if verb in OUTCOMES and (verb, source) not in NO_CLAIM:
        closed = claims.history(office.store.rows, agency.key(TASK))[1 if verb == "retry" else 0]
        assert (closed.outcome, closed.closed_by) == (OUTCOMES[verb], WHO[role])


def assert_told(
    verb: str, source: str, state: str, session: str, new_events: list[events.Event]
) -> None:
    """The log knows of every move: which verb, from where to where, and by whom."""
    kinds = [event.type for event in new_events]
    if verb in ("claim", "adopt"):
        # To take a task is told as a claim.
        assert {events.CLAIM_TAKEN.name, events.CLAIM_ADOPTED.name, events.TASK_MOVED.name} & set(
            kinds
        )
        return
    told = [event for event in new_events if event.type == events.TASK_MOVED.name]
    assert [event.data["verb"] for event in told] == [verb]
    assert (told[0].data["from"], told[0].data["to"]) == (source, state)
    assert (told[0].session, told[0].source, told[0].task) == (session, ids.OWN_SOURCE, TASK)


# Every illegal one

ALL_STATES = (states.NONE, *states.STATES, states.ARCHIVED)
# Somebody who says again what they have said already is not refused.
REPEATS = {
    ("claim", states.ASSIGNED, HOLDER), ("claim", states.IN_PROGRESS, HOLDER),
    ("start", states.IN_PROGRESS, HOLDER),
    ("adopt", states.ASSIGNED, HOLDER), ("adopt", states.IN_PROGRESS, HOLDER),
    ("finish", states.DONE, HOLDER), ("fail", states.ERROR, HOLDER),
    *(("archive", states.ARCHIVED, session) for session in (HOLDER, STRANGER, PERSON)),
}  # fmt: skip


def roles_of(session: str, state: str) -> set[str]:
    """What somebody is to the task that `bring_to` makes."""
    roles = {states.CLEANUP, states.HUMAN if session == PERSON else states.AGENT}
    if session == HOLDER and state in (states.ASSIGNED, states.IN_PROGRESS):
        roles |= {states.HOLDER, states.ASSIGNEE}
    return roles


def is_legal(verb: str, state: str, session: str) -> bool:
    return isinstance(states.check(verb, state, roles_of(session, state)), states.Move)


def expected_refusal(verb: str, state: str) -> tuple[int, ...]:
    if state == states.NONE:
        return (errors.NotFound.exit_code,)
    if verb == "new":
        return (errors.AlreadyThere.exit_code,)
    return (errors.NotAllowed.exit_code, errors.Taken.exit_code)


def how_it_ends(do: Act, at: desk.Desk) -> int:
    """The exit code that a program would end with."""
    try:
        answer = do(at)
    except errors.TetherError as error:
        return error.exit_code
    return errors.Taken.exit_code if isinstance(answer, claims.Refused) else 0


@pytest.mark.parametrize("session", [HOLDER, STRANGER, PERSON])
@pytest.mark.parametrize("state", ALL_STATES)
def test_every_illegal_move_is_refused_and_changes_nothing(
    office: Office, state: str, session: str
) -> None:
    # Where there are no task files at all, a task without one is claimed.
    office.work.prepare()
    bring_to(office, state)
    tree, held = office.tree(), office.open_claim()
    tried = 0
    for verb, do in ACTS.items():
        if is_legal(verb, state, session) or (verb, state, session) in REPEATS:
            continue
        code = how_it_ends(do, office.at(session))
        assert code in expected_refusal(verb, state), (verb, code)
        assert office.tree() == tree, verb
        assert office.open_claim() == held, verb
        tried += 1
    assert tried >= 3


def test_an_illegal_move_names_the_rule_that_it_breaks(office: Office) -> None:
    bring_to(office, states.NEW)
    for verb, state in (("retry", states.NEW), ("reopen", states.NEW), ("extend", states.NEW)):
        with pytest.raises(errors.NotAllowed) as caught:
            ACTS[verb](office.at(PERSON))
        breach = states.check(verb, state, [states.HUMAN])
        assert isinstance(breach, states.Breach)
        assert caught.value.details == {"rule": breach.rule, "verb": verb, "state": state}
        assert breach.rule in caught.value.message


def test_control_a_legal_move_is_noticed_by_the_comparison(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    tree, held = office.tree(), office.open_claim()
    assert how_it_ends(ACTS["finish"], office.at(HOLDER)) == 0
    assert office.tree() != tree
    assert office.open_claim() != held


@pytest.mark.parametrize(("verb", "state", "session"), sorted(REPEATS))
def test_saying_it_again_moves_no_file(office: Office, verb: str, state: str, session: str) -> None:
    bring_to(office, state)
    before = office.found()
    done = moved(ACTS[verb](office.at(session)))
    assert done.task.id == TASK
    assert office.found().task.place == before.task.place
    if verb in ("finish", "fail", "archive"):
        assert done.is_repeat
        assert office.found() == before


# Fencing


@pytest.fixture
def adopted(office: Office) -> Office:
    """A task that `s1` had, and that `s2` has taken over."""
    office.new()
    moved(office.claim(HOLDER))
    office.fall_silent(HOLDER)
    taken = office.claim(STRANGER)
    assert isinstance(taken, claiming.Taken)
    assert taken.answer.is_adopted
    return office


@pytest.mark.parametrize("verb", ["finish", "fail", "return"])
def test_a_paused_owner_cannot_let_go_of_an_adopted_task(adopted: Office, verb: str) -> None:
    tree, held = adopted.tree(), adopted.open_claim()
    told = refused(ACTS[verb](adopted.at(HOLDER)))
    assert told.holder is not None
    assert (told.holder.session_id, told.last) == (STRANGER, held)
    assert adopted.tree() == tree
    assert adopted.open_claim() == held


def test_an_adopter_may_finish(adopted: Office) -> None:
    assert moved(ACTS["finish"](adopted.at(STRANGER))).task.state == states.DONE
    last = adopted.last_claim()
    assert last is not None
    assert (last.session_id, last.outcome) == (STRANGER, claims.DONE)


def test_a_paused_owner_learns_of_an_adopted_and_finished_task(adopted: Office) -> None:
    moved(ACTS["finish"](adopted.at(STRANGER)))
    tree = adopted.tree()
    told = refused(ACTS["finish"](adopted.at(HOLDER)))
    assert told.last is not None
    assert (told.last.session_id, told.last.outcome) == (STRANGER, claims.DONE)
    assert adopted.tree() == tree


EPOCH_GUARDED: dict[str, Callable[[desk.Desk, int], desk.Moved | claims.Refused]] = {
    "finish": lambda at, epoch: moves.finish(at, TASK, summary="Done.", epoch=epoch),
    "fail": lambda at, epoch: moves.fail(at, TASK, message="No.", epoch=epoch),
    "return": lambda at, epoch: moves.give_back(at, TASK, epoch=epoch),
}


@pytest.mark.parametrize("verb", EPOCH_GUARDED)
def test_another_epoch_than_the_open_one_is_refused(office: Office, verb: str) -> None:
    bring_to(office, states.IN_PROGRESS)
    held, tree = office.open_claim(), office.tree()
    assert held is not None
    for epoch in (held.epoch - 1, held.epoch + 1, 0):
        assert refused(EPOCH_GUARDED[verb](office.at(HOLDER), epoch)).last == held
        assert (office.tree(), office.open_claim()) == (tree, held)
    moved(EPOCH_GUARDED[verb](office.at(HOLDER), held.epoch))
    assert office.open_claim() is None


# Twice


@pytest.mark.parametrize(
    ("verb", "session"),
    [("finish", HOLDER), ("fail", HOLDER), ("return", HOLDER), ("return", PERSON),
     ("cancel", PERSON)],
)  # fmt: skip
def test_letting_go_twice_is_answered_with_already(office: Office, verb: str, session: str) -> None:
    bring_to(office, states.IN_PROGRESS)
    first = moved(ACTS[verb](office.at(session)))
    tree, told = office.tree(), office.said()
    again = moved(ACTS[verb](office.at(session)))
    assert (first.is_repeat, again.is_repeat) == (False, True)
    assert again.task == first.task
    assert (office.tree(), office.said()) == (tree, told)


def test_somebody_else_who_finishes_what_is_done_is_refused(office: Office) -> None:
    bring_to(office, states.DONE)
    tree = office.tree()
    told = refused(ACTS["finish"](office.at(STRANGER)))
    assert told.last is not None
    assert told.last.agent_name == "agent-s1"
    assert office.tree() == tree


# Parts of a result

PARTIAL = moves.Partial(("docs/b.md", "docs/c.md"), "no time")


def finish_partly(office: Office) -> desk.Moved:
    at = office.at(HOLDER)
    return moved(moves.finish(at, TASK, summary="Half.", artefacts=["a.py"], partial=PARTIAL))


def follow_ups(office: Office) -> list[str]:
    return sorted(each.task_id for each in office.work.scan() if each.task_id != TASK)


def test_a_partial_result_makes_one_follow_up(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    done = finish_partly(office)
    assert done.follow_up is not None
    assert done.follow_up.id == f"{TASK}-1"
    assert follow_ups(office) == [f"{TASK}-1"]
    child = office.fields(f"{TASK}-1")
    assert (child["parent"], child["status"], child["agent"]) == (TASK, states.NEW, "")
    assert child["artefacts"] == list(PARTIAL.missing)
    result = office.fields()["result"]
    assert result["partial"] is True
    assert result["follow_up"] == f"{TASK}-1"
    assert result["artefacts"] == ["a.py"]
    assert result["artefacts_not_created"] == [
        {"name": name, "rationale": "no time"} for name in PARTIAL.missing
    ]


def test_repeating_a_partial_result_makes_no_second_follow_up(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    finish_partly(office)
    for _ in range(3):
        assert finish_partly(office).is_repeat
    assert follow_ups(office) == [f"{TASK}-1"]


def test_a_follow_up_that_was_written_before_a_crash_is_used(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    parent = office.found()
    raw = (office.top / parent.task.path).read_bytes()
    finish_partly(office)
    # As if the first call had died after the follow-up: the parent and its claim are as before.
    (office.top / f"work/done/{TASK}.yaml").unlink()
    (office.top / parent.task.path).write_bytes(raw)
    moved(office.claim())
    done = finish_partly(office)
    assert not done.is_repeat
    assert done.follow_up is not None
    assert done.follow_up.id == f"{TASK}-1"
    assert follow_ups(office) == [f"{TASK}-1"]


def test_a_follow_up_that_was_already_taken_up_is_still_the_one(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    raw = (office.top / office.found().task.path).read_bytes()
    finish_partly(office)
    moved(office.claim(STRANGER, f"{TASK}-1"))
    (office.top / f"work/done/{TASK}.yaml").unlink()
    (office.top / f"work/assigned/agent-s1/{TASK}.yaml").write_bytes(raw)
    moved(office.claim())
    finish_partly(office)
    assert follow_ups(office) == [f"{TASK}-1"]


def test_another_task_that_has_the_name_of_a_follow_up_is_left_alone(office: Office) -> None:
    office.new(f"{TASK}-1")
    before = office.fields(f"{TASK}-1")
    bring_to(office, states.IN_PROGRESS)
    done = finish_partly(office)
    assert done.follow_up is not None
    assert done.follow_up.id == f"{TASK}-2"
    assert office.fields(f"{TASK}-1") == before


def test_a_follow_up_whose_id_would_be_too_long_is_refused_before_anything(
    office: Office,
) -> None:
    name = "T" * 64
    office.new(name)
    moved(office.claim(HOLDER, name))
    tree = office.tree()
    with pytest.raises(errors.NotAllowed):
        moves.finish(office.at(HOLDER), name, summary="Half.", partial=PARTIAL)
    assert office.tree() == tree


def test_a_follow_up_is_told_in_the_log(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    finish_partly(office)
    told = [event for event in office.said(events.TASK_MOVED) if event.task == f"{TASK}-1"]
    assert [event.data["verb"] for event in told] == ["new"]


# Trying again


def test_errors_go_into_the_history_and_are_counted_on(office: Office) -> None:
    bring_to(office, states.NEW)
    for count in range(3):
        moved(office.claim())
        moved(moves.fail(office.at(HOLDER), TASK, message=f"Failure {count}."))
        error = office.fields()["error"]
        assert (error["message"], error["retry_count"]) == (f"Failure {count}.", count)
        moved(ACTS["retry"](office.at(PERSON)))
        fields = office.fields()
        assert "error" not in fields
        kept = [entry["error"]["message"] for entry in fields["history"]]
        assert kept == [f"Failure {number}." for number in range(count + 1)]


def test_a_retry_may_go_to_another_agent(office: Office) -> None:
    bring_to(office, states.ERROR)
    done = moves.retry(office.at(PERSON), TASK, to="agent-s2", stalled_ms=TWO_HOURS_MS)
    assert done.task.path == f"work/assigned/agent-s2/{TASK}.yaml"
    assert office.fields()["agent"] == "agent-s2"
    held = office.open_claim()
    assert held is not None
    assert held.session_id == STRANGER
    assert [message.type for message in office.inbox(STRANGER)] == ["task_assigned"]


@pytest.mark.parametrize("receiver", ["agent-s1", ABSENT])
def test_what_is_taken_on_another_machine_meanwhile_is_not_handed_over(
    office: Office, receiver: str
) -> None:
    office.new()
    at = office.at(PERSON)
    looked_at = desk.take_up(at, TASK)
    taken = claims.take(office.store, agency.spot(), STRANGER, agency.key(TASK))
    assert isinstance(taken, claims.Claimed)
    tree, said = office.tree(), office.said()
    with pytest.raises(errors.Taken, match="agent-s2 meanwhile"):
        claiming.hand_over(at, looked_at, "assign", {}, ids.AgentName(receiver), "it fits")
    assert (office.tree(), office.said(), office.open_claim()) == (tree, said, taken.claim)
    assert office.inbox(HOLDER) == []


def test_what_somebody_alive_works_on_is_not_tried_again_behind_their_back(
    office: Office,
) -> None:
    bring_to(office, states.IN_PROGRESS)
    tree, held = office.tree(), office.open_claim()
    with pytest.raises(errors.Taken, match="agent-s1"):
        ACTS["retry"](office.at(PERSON))
    assert (office.tree(), office.open_claim()) == (tree, held)


def test_a_stalled_task_may_be_tried_again_and_its_holder_is_told(office: Office) -> None:
    prepare(office, "retry", states.IN_PROGRESS, states.HUMAN)
    held = office.open_claim()
    moves.retry(office.at(PERSON), TASK, to="agent-s2", stalled_ms=TWO_HOURS_MS)
    assert held is not None
    told = refused(moves.finish(office.at(HOLDER), TASK, summary="Late.", epoch=held.epoch))
    assert told.holder is not None
    assert told.holder.session_id == STRANGER
    assert [message.type for message in office.inbox(HOLDER)] == ["task_conflict"]


# Assigning


def test_an_agent_that_is_here_gets_the_claim_and_a_message(office: Office) -> None:
    office.new()
    claiming.assign(office.at(PERSON), TASK, "agent-s1", "it fits")
    held = office.open_claim()
    assert held is not None
    assert held.session_id == HOLDER
    [message] = office.inbox(HOLDER)
    assert (message.type, message.task, message.sender) == ("task_assigned", TASK, "agent-ada")
    assert office.found().task.path == f"work/assigned/agent-s1/{TASK}.yaml"


def test_an_agent_that_is_not_here_gets_only_the_file(office: Office) -> None:
    office.new()
    done = claiming.assign(office.at(PERSON), TASK, ABSENT)
    assert done.claim is None
    assert office.open_claim() is None
    assert office.found().task.path == f"work/assigned/{ABSENT}/{TASK}.yaml"
    assert [office.inbox(session) for session in (HOLDER, STRANGER)] == [[], []]


def test_what_somebody_alive_holds_is_not_assigned_to_another(office: Office) -> None:
    office.new()
    claims.take(office.store, agency.spot(), HOLDER, agency.key(TASK))
    tree = office.tree()
    with pytest.raises(errors.Taken, match="agent-s1"):
        claiming.assign(office.at(PERSON), TASK, "agent-s2")
    assert office.tree() == tree


def test_what_is_assigned_to_another_is_not_claimed_nor_started(office: Office) -> None:
    office.new()
    claiming.assign(office.at(PERSON), TASK, ABSENT)
    tree = office.tree()
    for verb in ("claim", "start"):
        with pytest.raises(errors.NotAllowed):
            ACTS[verb](office.at(STRANGER))
    assert (office.tree(), office.open_claim()) == (tree, None)
    assert not office.view(STRANGER).is_offered


# Dependencies


def test_an_unknown_dependency_is_refused(office: Office) -> None:
    with pytest.raises(errors.NotFound):
        office.new(added={"depends_on": ("T-404",)})
    assert office.work.find(TASK) == []
    office.new()
    tree = office.tree()
    with pytest.raises(errors.NotFound):
        editing.edit(office.at(PERSON), TASK, editing.Edit(added={"depends_on": ("T-404",)}))
    assert office.tree() == tree


@pytest.mark.parametrize("length", [1, 2, 3, 12])
def test_a_circle_of_dependencies_is_refused(office: Office, length: int) -> None:
    names = [f"C-{number}" for number in range(length)]
    for name in names:
        office.new(name)
    for name, needed in itertools.pairwise(names):
        editing.edit(office.at(PERSON), name, editing.Edit(added={"depends_on": (needed,)}))
    tree = office.tree()
    closing = editing.Edit(added={"depends_on": (names[0],)})
    with pytest.raises(errors.NotAllowed) as caught:
        editing.edit(office.at(PERSON), names[-1], closing)
    trail = caught.value.details["cycle"]
    assert isinstance(trail, list)
    assert trail[0] == trail[-1]
    assert office.tree() == tree


def test_a_task_cannot_be_written_down_that_waits_for_itself(office: Office) -> None:
    with pytest.raises((errors.NotFound, errors.NotAllowed)):
        office.new(added={"depends_on": (TASK,)})
    assert office.work.find(TASK) == []


def test_a_dependency_named_twice_does_no_harm(office: Office) -> None:
    office.new("D-1")
    office.new(added={"depends_on": ("D-1", "D-1")})
    again = editing.Edit(added={"depends_on": ("D-1",)})
    assert editing.edit(office.at(PERSON), TASK, again).is_repeat
    assert office.fields()["depends_on"] == ["D-1"]


def test_only_done_in_this_checkout_meets_a_dependency(office: Office) -> None:
    office.new("D-1")
    office.new(added={"depends_on": ("D-1",)})
    at = office.at(STRANGER)

    def may_claim() -> bool:
        tree = office.tree()
        try:
            claiming.require_dependencies(at, office.found().task)
        except errors.NotAllowed:
            with pytest.raises(errors.NotAllowed, match="D-1"):
                claiming.claim(at, TASK)
            assert (office.tree(), office.open_claim()) == (tree, None)
            assert not office.view(STRANGER).is_offered
            return False
        return office.view(STRANGER).is_offered

    assert not may_claim()
    moved(office.claim(HOLDER, "D-1"))
    assert not may_claim()
    moved(moves.fail(office.at(HOLDER), "D-1", message="No."))
    assert not may_claim()
    moved(moves.retry(office.at(PERSON), "D-1", stalled_ms=TWO_HOURS_MS))
    moved(office.claim(HOLDER, "D-1"))
    moved(moves.finish(office.at(HOLDER), "D-1", summary="Done."))
    assert may_claim()
    moves.archive(office.at(PERSON), "D-1")
    assert may_claim()
    # The claim still says that it is done; the file is what counts.
    [path] = office.work.find("D-1")
    (office.top / path.path).unlink()
    assert not may_claim()


def test_a_cancelled_dependency_is_never_met(office: Office) -> None:
    office.new("D-1")
    office.new(added={"depends_on": ("D-1",)})
    moved(moves.cancel(office.at(PERSON), "D-1", why="not wanted"))
    with pytest.raises(errors.NotAllowed, match="cancelled"):
        office.claim()
    [each] = claiming.look_at(office.work, ["D-1"])
    assert each == dependencies.Dependency("D-1", states.ARCHIVED, is_cancelled=True)
    assert not each.is_met


def test_a_holder_may_go_on_when_a_dependency_is_reopened(office: Office) -> None:
    office.new("D-1")
    moved(office.claim(HOLDER, "D-1"))
    moved(moves.finish(office.at(HOLDER), "D-1", summary="Done."))
    office.new(added={"depends_on": ("D-1",)})
    moved(office.claim(STRANGER))
    moves.reopen(office.at(PERSON), "D-1")
    moved(office.claim(STRANGER))
    moved(moves.finish(office.at(STRANGER), TASK, summary="Done."))


# Artefacts and evidence


def test_an_artefact_that_is_not_there_is_a_note(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    (office.top / "there.py").write_text("")
    at = office.at(HOLDER)
    done = moved(moves.finish(at, TASK, summary="Done.", artefacts=["there.py", "gone.py"]))
    assert len(done.notes) == 1
    assert "gone.py" in done.notes[0]
    assert office.fields()["result"]["artefacts"] == ["there.py", "gone.py"]


def test_the_artefacts_that_a_task_names_count_without_others(office: Office) -> None:
    office.new(added={"artefacts": ("gone.py",)})
    moved(office.claim())
    done = moved(ACTS["finish"](office.at(HOLDER)))
    assert "gone.py" in done.notes[0]
    assert office.fields()["result"]["artefacts"] == ["gone.py"]


def test_an_adopter_completes_only_with_evidence(adopted: Office) -> None:
    tree = adopted.tree()
    with pytest.raises(errors.NotAllowed):
        moves.complete(adopted.at(STRANGER), TASK, summary="It was there.")
    assert adopted.tree() == tree
    at = adopted.at(STRANGER)
    done = moved(moves.complete(at, TASK, summary="It was there.", evidence=["abc123"]))
    assert done.task.state == states.DONE
    assert adopted.fields()["result"]["evidence"] == ["abc123"]


def test_who_holds_a_task_from_the_start_is_no_adopter(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    tree = office.tree()
    with pytest.raises(errors.NotAllowed):
        moves.complete(office.at(HOLDER), TASK, summary="I say so.", evidence=["abc123"])
    assert office.tree() == tree


def test_who_has_not_adopted_a_task_completes_it_with_no_evidence_at_all(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    tree, held = office.tree(), office.open_claim()
    with pytest.raises(errors.NotAllowed):
        moves.complete(office.at(STRANGER), TASK, summary="Mine.", evidence=["abc123"])
    assert (office.tree(), office.open_claim()) == (tree, held)


# People and living agents


@pytest.mark.parametrize(
    ("verb", "outcome", "state"),
    [
        ("return", claims.RELEASED, states.NEW),
        ("cancel", states.CANCELLED, states.ARCHIVED),
        ("complete", claims.DONE, states.DONE),
    ],
)
def test_a_person_takes_a_task_back_from_a_living_agent_which_is_told(
    office: Office, verb: str, outcome: str, state: str
) -> None:
    bring_to(office, states.IN_PROGRESS)
    moved(ACTS[verb](office.at(PERSON)))
    last = office.last_claim()
    assert last is not None
    assert (last.session_id, last.outcome, last.closed_by) == (HOLDER, outcome, PERSON)
    assert office.open_claim() is None
    assert office.found().task.state == state
    [message] = office.inbox(HOLDER)
    assert (message.type, message.task) == ("task_conflict", TASK)
    assert verb in message.body
    tree = office.tree()
    assert refused(ACTS["finish"](office.at(HOLDER))).last == last
    assert office.tree() == tree


def test_a_task_that_was_given_back_is_offered_to_all(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    moved(ACTS["return"](office.at(PERSON)))
    for session in (HOLDER, STRANGER, PERSON):
        assert office.view(session).is_offered


# Done elsewhere


def test_a_reopened_task_is_offered_although_it_is_done_on_another_branch(
    office: Office, git: Callable[..., str]
) -> None:
    bring_to(office, states.NEW)
    git("add", ".", cwd=office.top)
    git("commit", "-qm", "A task", cwd=office.top)
    git("checkout", "-qb", "topic", cwd=office.top)
    moved(office.claim())
    moved(ACTS["finish"](office.at(HOLDER)))
    git("add", ".", cwd=office.top)
    git("commit", "-qm", "Done", cwd=office.top)
    git("checkout", "-q", "main", cwd=office.top)
    waiting = office.view(STRANGER)
    assert (waiting.effective.state, waiting.is_offered) == (states.DONE, False)
    assert "topic" in waiting.said
    with pytest.raises(errors.NotAllowed, match="topic"):
        office.claim(STRANGER)
    git("merge", "-q", "--no-edit", "topic", cwd=office.top)
    moves.reopen(office.at(PERSON), TASK, why="not enough")
    assert office.view(STRANGER).is_offered
    assert moved(office.claim(STRANGER)).task.state == states.IN_PROGRESS


def test_a_task_whose_branch_was_deleted_is_lost_there_and_offered_again(
    office: Office, git: Callable[..., str]
) -> None:
    bring_to(office, states.NEW)
    git("add", ".", cwd=office.top)
    git("commit", "-qm", "A task", cwd=office.top)
    git("checkout", "-qb", "topic", cwd=office.top)
    moved(office.claim())
    moved(ACTS["finish"](office.at(HOLDER)))
    git("add", ".", cwd=office.top)
    git("commit", "-qm", "Done", cwd=office.top)
    git("checkout", "-q", "main", cwd=office.top)
    git("branch", "-qD", "topic", cwd=office.top)
    view = office.view(STRANGER)
    assert (view.effective.overlay, view.is_offered) == ("lost", True)
    moved(office.claim(STRANGER))


# What a crash or a person's hand left


def test_a_dead_holders_task_is_swept_and_offered(office: Office) -> None:
    bring_to(office, states.IN_PROGRESS)
    office.fall_silent(HOLDER)
    sweep.sweep(office.store, agency.spot(), sweep.Rules())
    assert office.open_claim() is None
    assert office.view(STRANGER).is_offered
    taken = moved(office.claim(STRANGER))
    assert taken.task.path == f"work/assigned/agent-s2/{TASK}.yaml"
    assert refused(ACTS["finish"](office.at(HOLDER))).is_held


def test_the_holders_next_verb_brings_a_file_along_that_lags_behind_its_claim(
    office: Office,
) -> None:
    office.new()
    claims.take(office.store, agency.spot(), HOLDER, agency.key(TASK))
    done = moved(ACTS["finish"](office.at(HOLDER)))
    assert done.task.state == states.DONE
    fields = office.fields()
    assert fields["agent"] == "agent-s1"
    assert fields["assigned_at"] <= fields["started_at"] <= fields["completed_at"]


def test_a_persons_plain_mv_to_done_counts(office: Office) -> None:
    office.new()
    (office.top / f"work/inbox/{TASK}.yaml").rename(office.top / f"work/done/{TASK}.yaml")
    moves.archive(office.at(PERSON), TASK)
    assert office.found().task.place == states.ARCHIVE
    assert office.fields()["status"] == states.DONE


def test_a_new_file_that_says_nothing_of_its_history_is_composed_in_order(office: Office) -> None:
    office.new()
    names = list(office.fields())
    assert names == [name for name in model.FIELDS if name in names]
    assert document.read(document.compose(office.fields())).fields == office.fields()
