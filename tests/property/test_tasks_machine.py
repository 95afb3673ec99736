"""Whatever people, agents and Git do to tasks in whatever order, they are what a dictionary says.

A real repository with a main checkout, which goes back and forth between two branches, and a linked
worktree on a third one; a real store; two agents and a person. The model keeps a card for the file
of every task in each checkout, who holds what with which epoch, what became of the last claim, and
the cards at the tip of each branch. It knows the lifecycle from the design, not from the table.
After every step files, index, offers, claims, event log and validator must say the same.

Where the whole truth would be as long as the code, less is asked, and a comment says so: after a
merge of what both sides have changed, after a crash, and for what was restored from old history.
"""

from __future__ import annotations

import copy
import itertools
import os
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest
import ryaml
from hypothesis import stateful
from hypothesis import strategies as st

from tests import agency, scale
from tests.fault import boundary
from tests.figures import Figures
from tether import clock, errors, ids, index, workspace
from tether.agents import claims, model, registry, sweep
from tether.brief import choosing
from tether.index import parsed
from tether.store import events, port, sqlite
from tether.tasks import (
    checking,
    claiming,
    desk,
    editing,
    keeping,
    listing,
    merging,
    moves,
    states,
    validate,
    views,
    workdir,
)

AGENTS = ("agent-a", "agent-b")
PERSON = "pat"
EVERYBODY = (*AGENTS, PERSON)
CHECKOUTS = ("main", "side")
BRANCHES = ("main", "other")
"""Between which the main checkout goes back and forth; the worktree stays on `side`."""
MAX_TASKS = 5
MONTH = "2026-01"
GOALS = ("inbox", "done", f"archive/{MONTH}", *(f"assigned/{name}" for name in AGENTS))
NEVER_MS = 10**12
GIT_ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nowhere",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "Test" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "test@example.com" for who in ("AUTHOR", "COMMITTER")},
}
WORD = re.compile(r"\bw[0-9]+w\b")

people = st.sampled_from(EVERYBODY)
checkouts = st.sampled_from(CHECKOUTS)


# The model


class Card(NamedTuple):
    """What the file of a task says in one checkout, and where it is."""

    place: str
    folder: str = ""
    status: str = "new"
    agent: str = ""
    completed_at: str = ""
    failed_at: str = ""
    cancelled_at: str = ""
    depends_on: frozenset[str] = frozenset()
    parent: str = ""
    fresh_at: str = ""
    """When it was last reopened, retried or returned."""
    has_timeout: bool = False

    @property
    def owner(self) -> str:
        return (self.folder if self.place == "assigned" else "") or self.agent

    @property
    def is_cancelled(self) -> bool:
        return self.cancelled_at != ""


class Held(NamedTuple):
    """An open claim."""

    session: str
    epoch: int
    since: str
    where: tuple[str, str]
    """The checkout and the branch where it was taken."""


class Past(NamedTuple):
    """What became of the last claim."""

    outcome: str
    """Empty if it is still open."""
    session: str
    closer: str
    at: str
    where: tuple[str, str] | None
    """None where the model does not know: the holder had gone elsewhere."""


class At(NamedTuple):
    """Who acts, and in which checkout."""

    name: str
    checkout: str

    @property
    def is_human(self) -> bool:
        return self.name == PERSON


HOMES = {
    "inbox": ("new",),
    "assigned": ("assigned", "in_progress", "error"),
    "done": ("done",),
    "archive": ("done", "error"),
}
HOME_OF = {"new": "inbox", "done": "done", "archived": "archive"}
ORDER = ("new", "assigned", "in_progress", "error", "done")
OPEN = ("new", "assigned", "in_progress")


def meaning(card: Card, is_claimed: bool) -> tuple[str, str]:
    """The state that a card means, and the directory where it belongs.

    A status that comes after its directory completes the move that was begun; otherwise the
    directory wins. Giving back is the one move backwards, and the open claim tells it from a `mv`.
    """
    if card.place == "archive" or card.is_cancelled:
        return "archived", "archive"
    here = HOMES[card.place]
    if card.status in here:
        return card.status, card.place
    is_later = ORDER.index(card.status) > ORDER.index(here[-1])
    if is_later and (card.agent or card.status == "done"):
        return card.status, HOME_OF.get(card.status, "assigned")
    if (card.place, card.status) == ("assigned", "new") and is_claimed:
        return "new", "inbox"
    return here[0], card.place


def put_right(card: Card, holder: str) -> Card:
    """What the next verb, or a repair, makes of a card before anything else."""
    state, home = meaning(card, bool(holder))
    status = card.status if state == "archived" else state
    if home != card.place:
        folder = {"assigned": card.agent, "archive": MONTH}.get(home, "")
        return card._replace(place=home, folder=folder, status=status)
    if home == "assigned" and holder and card.agent == holder:
        return card._replace(folder=holder, status=status)
    agent = card.owner if home == "assigned" else card.agent
    return card._replace(status=status, agent=agent)


def rank(card: Card) -> tuple[int, int]:
    """How far along a card is; what was put away counts by its status, and wins a tie if over."""
    state, _ = meaning(card, is_claimed=False)
    if state != "archived":
        return ORDER.index(state), 0
    return ORDER.index(card.status), 1 if card.is_cancelled or card.status == "done" else -1


class Model:
    """Everything that the machine believes."""

    def __init__(self) -> None:
        self.now = ""
        self.now_ms = 0
        self.cards: dict[str, dict[str, Card]] = {checkout: {} for checkout in CHECKOUTS}
        self.branch = {"main": "main", "side": "side"}
        self.tips: dict[str, dict[str, Card]] = {name: {} for name in (*BRANCHES, "side")}
        self.held: dict[str, Held] = {}
        self.past: dict[str, Past] = {}
        self.epochs: dict[str, int] = {}
        self.unfinished: dict[str, set[str]] = {}
        """Whose claims of a task were closed since it was last done."""
        self.where: dict[str, tuple[str, str]] = {}
        self.gone: dict[str, str] = {}
        """`silent`, or `stale` once a sweep has seen it."""

    def hear(self, at: At) -> None:
        self.where[at.name] = (at.checkout, self.branch[at.checkout])
        self.gone.pop(at.name, None)

    def card(self, at: At, task: str) -> Card | None:
        return self.cards[at.checkout].get(task)

    def state(self, at: At, task: str) -> str:
        card = self.cards[at.checkout].get(task)
        return "none" if card is None else meaning(card, task in self.held)[0]

    def holder(self, task: str) -> str:
        return self.held[task].session if task in self.held else ""

    def holds(self, at: At, task: str) -> bool:
        return task in self.held and self.held[task].session == at.name

    def is_met(self, checkout: str, task: str) -> bool:
        card = self.cards[checkout].get(task)
        if card is None or card.is_cancelled:
            return False
        return meaning(card, is_claimed=False)[0] in ("done", "archived")

    def waits(self, checkout: str, task: str) -> bool:
        return any(not self.is_met(checkout, e) for e in self.cards[checkout][task].depends_on)

    # Claims

    def open(self, task: str, name: str) -> None:
        epoch = self.epochs[task] + 1 if task in self.epochs else self.now_ms
        self.epochs[task] = epoch
        self.held[task] = Held(name, epoch, self.now, self.where[name])

    def close(self, task: str, outcome: str, closer: str) -> None:
        held = self.held.pop(task)
        where: tuple[str, str] | None = self.where[held.session]
        # Who closes another's claim knows its place only if the holder has not gone elsewhere.
        if closer != held.session and held.where[0] != self.where[held.session][0]:
            where = None
        self.past[task] = Past(outcome, held.session, closer, self.now, where)
        earlier = self.unfinished.get(task, set())
        self.unfinished[task] = set() if outcome == "done" else earlier | {held.session}

    def last(self, task: str) -> Past | None:
        """The newest claim, open or closed."""
        held = self.held.get(task)
        if held is None:
            return self.past.get(task)
        return Past("", held.session, "", held.since, held.where)

    def take(self, at: At, task: str, takes_over: bool) -> str:
        held = self.held.get(task)
        if held is not None and held.session != at.name:
            if held.session not in self.gone and not takes_over:
                return "refused"
            self.close(task, "adopted", at.name)
        if task not in self.held:
            self.open(task, at.name)
        return "ok"

    def give(self, task: str, name: str) -> None:
        if task not in self.held and self.gone.get(name) != "stale":
            self.open(task, name)

    def sweep(self) -> None:
        for name in [name for name, how in self.gone.items() if how == "silent"]:
            for task, held in list(self.held.items()):
                if held.session == name:
                    self.close(task, "released_stale", "")
            self.gone[name] = "stale"

    # What a verb does first

    def take_up(self, at: At, task: str) -> Card | None:
        card = self.card(at, task)
        if card is None:
            return None
        self.cards[at.checkout][task] = put_right(card, self.holder(task))
        self.close_rest(at, task)
        return self.cards[at.checkout][task]

    def close_rest(self, at: At, task: str) -> None:
        """The caller let go of it in the file, and died before the claim was closed."""
        card, state = self.cards[at.checkout][task], self.state(at, task)
        if not self.holds(at, task):
            return
        ended_at = card.failed_at if state == "error" else card.completed_at
        if state != "new" and "" < (card.cancelled_at or ended_at) < self.held[task].since:
            return  # it ended, here or on another branch, before this claim was taken
        outcome = {"done": "done", "archived": "done", "error": "failed"}.get(state, "")
        if card.is_cancelled:
            outcome = "cancelled"
        if state == "new" and card.fresh_at >= self.held[task].since:
            outcome = "released"
        if outcome:
            self.close(task, outcome, at.name)

    def put(self, at: At, task: str, **changes: Any) -> None:
        self.cards[at.checkout][task] = self.cards[at.checkout][task]._replace(**changes)

    def is_repeat(self, at: At, task: str, outcome: str, state: str) -> bool:
        last = self.past.get(task)
        return (
            task not in self.held
            and self.state(at, task) == state
            and last is not None
            and (last.outcome, last.closer) == (outcome, at.name)
        )

    # The verbs: each says how it must end, and changes the model accordingly

    def claim(
        self,
        at: At,
        task: str,
        *,
        starts: bool = True,
        verb: str = "claim",
        takes_over: bool = False,
    ) -> str:
        card = self.card(at, task)
        if card is None:
            last = self.last(task)
            if last is None:
                return "not_found"
            is_free = takes_over or last.session == at.name or not self._is_over(at, task)
            return self.take(at, task, takes_over) if is_free else "not_allowed"
        self.close_rest(at, task)
        if not self._may_claim(at, task, card, verb, takes_over):
            return "not_allowed"
        answer = self.take(at, task, takes_over)
        if answer == "ok":
            righted = put_right(card, at.name)
            is_started = starts or righted.status == "in_progress"
            self.cards[at.checkout][task] = righted._replace(
                place="assigned",
                folder=at.name,
                agent=at.name,
                status="in_progress" if is_started else "assigned",
            )
        return answer

    def start(self, at: At, task: str) -> str:
        return self.claim(at, task, verb="start")

    def _may_claim(self, at: At, task: str, card: Card, verb: str, takes_over: bool) -> bool:
        state, owned = self.state(at, task), card.owner == at.name
        if state not in OPEN:
            return False
        if self.holds(at, task):
            return True
        if verb == "start":
            may = state == "assigned" and owned
        elif state == "new" or (state == "assigned" and (owned or at.is_human)):
            may = True
        else:
            last = self.last(task)
            is_known = last is not None and card.fresh_at <= last.at
            has_let_go = state == "in_progress" and (is_known or owned)
            may = task in self.held or has_let_go or takes_over
        if not may or self.waits(at.checkout, task):
            return False
        return takes_over or not self._is_over(at, task, card.fresh_at)

    def _is_over(self, at: At, task: str, fresh_at: str = "") -> bool:
        """Does it only wait for a merge, or for a person to look at it elsewhere?"""
        last = self.last(task)
        if last is None or fresh_at > last.at or last.where is None:
            return False
        if last.where[1] == self.branch[at.checkout]:
            return False
        there = self.there(at, task, last)
        return there in ("done", "cancelled") or (there, last.outcome) == ("error", "failed")

    def there(self, at: At, task: str, last: Past) -> str:
        """The state where the last claim was: in that checkout, or at the tip of its branch."""
        assert last.where is not None
        checkout, branch = last.where
        found = self.cards[checkout].get(task) if checkout != at.checkout else None
        state = meaning(found, is_claimed=False)[0] if found else "absent"
        if state == "archived" and found:
            state = "cancelled" if found.is_cancelled else "done"
        if state in ("done", "cancelled"):
            return state
        if state != "absent" and self.branch[checkout] == branch:
            return state
        tip = self.tips[branch].get(task)
        if tip is None or last.outcome not in ("done", "failed", "cancelled"):
            return "absent"
        if tip.place in ("done", "archive"):
            is_cancelled = (tip.place, last.outcome) == ("archive", "cancelled")
            return "cancelled" if is_cancelled else "done"
        return "error" if (tip.place, last.outcome) == ("assigned", "failed") else "open"

    def assign(self, at: At, task: str, name: str) -> str:
        card = self.take_up(at, task)
        if card is None:
            return "not_found"
        state = self.state(at, task)
        if state == "assigned" and card.owner == name:
            return "repeat"
        if state != "new" or not at.is_human:
            return "not_allowed"
        if self._is_busy(at, task) and self.held[task].session != name:
            return "taken"
        self.give(task, name)
        self.put(at, task, place="assigned", folder=name, status="assigned", agent=name)
        return "ok"

    def _is_busy(self, at: At, task: str) -> bool:
        held = self.held.get(task)
        return held is not None and held.session != at.name and held.session not in self.gone

    def finish(self, at: At, task: str, epoch: int | None = None) -> str:
        card = self.take_up(at, task)
        if card is None:
            return "not_found"
        if self.is_repeat(at, task, "done", "done"):
            return "repeat"
        if not self._has(at, task, epoch):
            return "refused"
        if self.state(at, task) not in OPEN:
            return "not_allowed"
        agent = card.owner or self.held[task].session
        self.put(
            at, task, place="done", folder="", status="done", agent=agent, completed_at=self.now
        )
        self.close(task, "done", at.name)
        return "ok"

    def finish_partly(self, at: At, task: str) -> str:
        """What is missing becomes a task; to ask twice makes no second one."""
        got = self.finish(at, task)
        if got == "ok":
            self.cards[at.checkout].setdefault(f"{task}-1", Card("inbox", parent=task))
        return got

    def _has(self, at: At, task: str, epoch: int | None) -> bool:
        return self.holds(at, task) and epoch in (None, self.held[task].epoch)

    def fail(self, at: At, task: str, epoch: int | None = None) -> str:
        card = self.take_up(at, task)
        if card is None:
            return "not_found"
        if self.is_repeat(at, task, "failed", "error"):
            return "repeat"
        if not self._has(at, task, epoch):
            return "refused"
        if self.state(at, task) not in OPEN:
            return "not_allowed"
        agent = card.owner or self.held[task].session
        folder = card.folder if card.place == "assigned" else at.name
        self.put(
            at,
            task,
            place="assigned",
            folder=folder,
            status="error",
            agent=agent,
            failed_at=self.now,
        )
        self.close(task, "failed", at.name)
        return "ok"

    def give_back(self, at: At, task: str, epoch: int | None = None) -> str:
        if self.take_up(at, task) is None:
            return "not_found"
        state = self.state(at, task)
        if self.is_repeat(at, task, "released", "new"):
            return "repeat"
        if epoch is not None and (task not in self.held or self.held[task].epoch != epoch):
            return "refused"
        is_held, is_his = task in self.held, at.is_human or self.holds(at, task)
        if is_held and not is_his:
            return "refused"
        is_begun = state == "new" and is_held
        if not is_begun and (state not in ("assigned", "in_progress") or not is_his):
            return "not_allowed"
        self._make_new(at, task)
        if task in self.held:
            self.close(task, "released", at.name)
        return "ok"

    def _make_new(self, at: At, task: str) -> None:
        self.put(
            at,
            task,
            place="inbox",
            folder="",
            status="new",
            agent="",
            fresh_at=self.now,
            has_timeout=False,
        )

    def complete(self, at: At, task: str, has_evidence: bool = False) -> str:
        card = self.take_up(at, task)
        if card is None:
            return "not_found"
        state = self.state(at, task)
        if state == "done" and task in self.held and at.is_human:
            self.close(task, "done", at.name)
            return "repeat"
        is_adopted = bool(self.unfinished.get(task, set()) - {at.name})
        is_adopter = self.holds(at, task) and is_adopted and has_evidence
        if state in ("done", "archived") or not (at.is_human or is_adopter):
            return "not_allowed"
        agent = card.agent or at.name
        self.put(at, task, place="done", folder="", status="done", agent=agent)
        self.put(at, task, completed_at=self.now, failed_at="")
        if task in self.held:
            self.close(task, "done", at.name)
        return "ok"

    def retry(self, at: At, task: str, to: str | None, is_stalled: bool) -> str:
        card = self.take_up(at, task)
        if card is None:
            return "not_found"
        state = self.state(at, task)
        if state not in ("error", "in_progress") or not at.is_human:
            return "not_allowed"
        is_stalled = is_stalled and not card.has_timeout
        if state == "in_progress" and not is_stalled and self._is_busy(at, task):
            return "taken"
        name = to or card.owner or at.name
        if task in self.held:
            self.close(task, "released", at.name)
        self.give(task, name)
        self._make_new(at, task)
        self.put(at, task, place="assigned", folder=name, status="assigned", agent=name)
        self.put(at, task, completed_at="", failed_at="")
        return "ok"

    def extend(self, at: At, task: str) -> str:
        if self.take_up(at, task) is None:
            return "not_found"
        if self.state(at, task) != "in_progress" or not at.is_human:
            return "not_allowed"
        self.put(at, task, has_timeout=True)
        return "ok"

    def cancel(self, at: At, task: str) -> str:
        card = self.take_up(at, task)
        if card is None:
            return "not_found"
        state = self.state(at, task)
        if not at.is_human and not (card.is_cancelled and task not in self.held):
            return "not_allowed"
        if state == "archived" and card.is_cancelled:
            if task in self.held:
                self.close(task, "cancelled", at.name)
            return "repeat"
        if state in ("done", "archived"):
            return "not_allowed"
        self.put(at, task, place="archive", folder=MONTH, cancelled_at=self.now)
        if task in self.held:
            self.close(task, "cancelled", at.name)
        return "ok"

    def archive(self, at: At, task: str) -> str:
        if self.take_up(at, task) is None:
            return "not_found"
        state = self.state(at, task)
        if state == "archived":
            return "repeat"
        if state != "done":
            return "not_allowed"
        self.put(at, task, place="archive", folder=MONTH)
        return "ok"

    def reopen(self, at: At, task: str) -> str:
        if self.take_up(at, task) is None:
            return "not_found"
        if self.state(at, task) not in ("done", "archived") or not at.is_human:
            return "not_allowed"
        self._make_new(at, task)
        self.put(at, task, completed_at="", failed_at="", cancelled_at="")
        return "ok"

    def note(self, at: At, task: str) -> str:
        return "ok" if self.take_up(at, task) is not None else "not_found"

    edit = note

    # What follows from it

    def is_offered(self, at: At, task: str) -> bool | None:  # noqa: PLR0911 (one for each reason)
        """May this one take it now? None if the model does not know where it was let go of."""
        card, held = self.cards[at.checkout][task], self.held.get(task)
        state = self.state(at, task)
        if state in ("error", "done", "archived") or self.waits(at.checkout, task):
            return False
        if held is not None and held.session == at.name:
            return True
        if held is not None and held.session not in self.gone:
            return False
        if held is not None:
            return not self._is_over(at, task)
        owned = card.owner == at.name
        past = self.past.get(task)
        if past is None or card.fresh_at > past.at:
            return state == "new" or owned
        if past.where is None:
            return None
        is_free = state in ("new", "in_progress") or owned
        return is_free and not self._is_over(at, task)

    def findings(self, checkout: str) -> set[tuple[str, str]]:
        """What the validator must say of the files, apart from times, owners and `.gitkeep`."""
        cards = self.cards[checkout]
        found = set()
        for task, card in cards.items():
            is_away = card.place == "archive" and card.is_cancelled
            if card.status not in HOMES[card.place] and not is_away:
                found.add((validate.DIRECTORY, task))
            if card.is_cancelled and card.place != "archive":
                found.add((validate.CANCELLED, task))
            named = {*card.depends_on, *([card.parent] if card.parent else [])}
            if not named <= set(cards):
                found.add((validate.DEPENDENCY, task))
        for task, held in self.held.items():
            if held.where[0] == checkout and task not in cards:
                found.add((validate.NO_FILE, task))
        return found


# What is really there


class OnDisk(NamedTuple):
    """A task's file, read without a line of the code that is tested."""

    path: str
    text: str
    card: Card

    @property
    def words(self) -> set[str]:
        return set(WORD.findall(self.text))


def read(top: Path, path: Path) -> OnDisk:
    place, _, rest = str(path.parent.relative_to(top / "work")).partition("/")
    text = path.read_text()
    fields = ryaml.loads(text)
    history = fields.get("history") or []
    fresh = [e["at"] for e in history if e["what"] in ("reopened", "retried", "returned")]
    card = Card(
        place,
        rest,
        fields["status"],
        fields["agent"],
        fields.get("completed_at") or fields.get("result", {}).get("completed_at", ""),
        fields.get("error", {}).get("timestamp", ""),
        fields.get("cancelled", {}).get("at", ""),
        frozenset(fields.get("depends_on") or ()),
        fields.get("parent") or "",
        max(fresh, default=""),
        "timeout_at" in fields,
    )
    return OnDisk(str(path.relative_to(top)), text, card)


def described(task: str) -> str:
    """Some lines that no other task has: Git must not take one task for another, renamed."""
    dice = random.Random(task)  # noqa: S311 (the same text for the same task)
    lines = ["".join(dice.choices("abcdefghij ", k=50)) for _ in range(12)]
    return "\n".join(line.strip() for line in lines)


UNKNOWN = OnDisk("", "", Card("inbox"))


def said(card: Card) -> tuple[object, ...]:
    """What the text says that verbs change; when something happened does not matter here."""
    return card.status, card.agent, card.is_cancelled


def answer(act: Callable[[], object]) -> str:
    """How a verb ended, in one word."""
    try:
        got = act()
    except errors.TetherError as problem:
        return problem.code
    if isinstance(got, claims.Refused):
        return "refused"
    return "repeat" if isinstance(got, desk.Moved) and got.is_repeat else "ok"


def claim(at: desk.Desk, task: str, _: str, **more: Any) -> object:
    return claiming.claim(at, task, news=registry.News(place=at.caller.place), **more)


def complete(at: desk.Desk, task: str, word: str, has_evidence: bool = False) -> object:
    return moves.complete(at, task, summary=word, evidence=["HEAD"] if has_evidence else [])


def retry(at: desk.Desk, task: str, word: str, to: str | None, is_stalled: bool) -> object:
    return moves.retry(at, task, to=to, why=word, stalled_ms=0 if is_stalled else NEVER_MS)


def finish_partly(at: desk.Desk, task: str, word: str) -> object:
    return moves.finish(at, task, summary=word, partial=moves.Partial(("half.md",), word))


def edit(at: desk.Desk, task: str, word: str) -> object:
    """Add a line to the description."""
    old = [at.work.load(each).document.fields.get("description", "") for each in at.work.find(task)]
    text = "\n".join([*(each.rstrip("\n") for each in old), word])
    return editing.edit(at, task, editing.Edit({"description": text}))


VERBS: dict[str, Callable[..., object]] = {
    "claim": claim,
    "start": lambda at, task, word: claim(at, task, word, verb="start"),
    "assign": lambda at, task, word, name: claiming.assign(at, task, name, word),
    "finish": lambda at, task, word, **more: moves.finish(at, task, summary=word, **more),
    "finish_partly": finish_partly,
    "fail": lambda at, task, word, **more: moves.fail(at, task, message=word, **more),
    "give_back": lambda at, task, word, **more: moves.give_back(at, task, why=word, **more),
    "complete": complete,
    "retry": retry,
    "extend": lambda at, task, _: moves.extend(at, task, until=clock.text(2 * NEVER_MS)),
    "cancel": lambda at, task, word: moves.cancel(at, task, why=word),
    "archive": lambda at, task, _: moves.archive(at, task),
    "reopen": lambda at, task, word: moves.reopen(at, task, why=word),
    "edit": edit,
    "note": editing.note,
}


class Tasks(stateful.RuleBasedStateMachine):
    """The rules, and what must hold after each. They are few and broad: of many small ones
    hypothesis would leave most out of each run."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp()).resolve()
        self.tops = {"main": self.directory / "repo", "side": self.directory / "linked"}
        self.clock = clock.FakeClock()
        self.spot = agency.spot()
        self.model = Model()
        self.tasks: list[str] = []
        self.words: dict[tuple[str, str], set[str]] = {}
        """What was written into a task in a checkout, and must be found there for ever."""
        self.handled: set[tuple[str, str]] = set()
        """Tasks in checkouts that hands or other branches may have left without some times."""
        self.snapshots: dict[str, dict[str, OnDisk]] = {}
        """The task files of every commit."""
        self.number = 0
        self.looks = 0
        self.tops["main"].mkdir()
        self.git("main", "init", "-q", "-b", "main", "--template=")
        workdir.Workdir(str(self.tops["main"])).prepare()
        self.git("main", "add", ".")
        self.git("main", "commit", "-qm", "Begin")
        self.git("main", "branch", "other")
        self.git("main", "worktree", "add", "-q", "-b", "side", str(self.tops["side"]))
        self.snapshots[self.git("main", "rev-parse", "HEAD")] = {}
        self.place = {name: workspace.find(str(top)) for name, top in self.tops.items()}
        self.store = self.open()

    @stateful.initialize()
    def begin(self) -> None:
        for name in EVERYBODY:
            self.desk(At(name, "main"))
        self.write_down(At(PERSON, "main"))
        self.write_down(At(PERSON, "main"), ("T1",))
        self.merge("side")

    def open(self) -> port.Store:
        return sqlite.SqliteStore(self.place["main"], wait_seconds=5, time=self.clock)

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.directory)

    # Acting

    def git(self, checkout: str, *words: str, may_fail: bool = False) -> str:
        date = clock.text(self.clock.now_ms())
        done = subprocess.run(
            ["git", *words],
            cwd=self.tops[checkout],
            env={**GIT_ENVIRON, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
            capture_output=True,
            text=True,
            check=False,
        )
        assert may_fail or done.returncode == 0, done.stderr + done.stdout
        return done.stdout.strip()

    def tick(self) -> None:
        self.clock.advance(1)
        self.model.now_ms = self.clock.now_ms()
        self.model.now = clock.text(self.model.now_ms)

    def desk(self, who: At) -> desk.Desk:
        """The desk of somebody who is heard from with this very act, one second later."""
        self.tick()
        where = self.place[who.checkout]
        head = workspace.head(where)
        here = model.Place(where.root, head.branch, head.commit)
        session = registry.Session(
            ids.SessionId(who.name),
            ids.AgentName(who.name),
            model.HUMAN if who.is_human else "other",
        )
        beat = registry.register(self.store, self.spot, session, here)
        self.model.hear(who)
        work = workdir.Workdir(str(self.tops[who.checkout]))
        caller = desk.Caller(beat.agent, who.is_human, here)
        return desk.Desk(where, work, self.store, self.spot, caller, self.model.now)

    def word(self) -> str:
        self.number += 1
        return f"w{self.number}w"

    def act(self, verb: str, who: At, task: str, **more: Any) -> str:
        """Use a verb; how it ended, which must be as the model says."""
        word, at = self.word(), self.desk(who)
        got = answer(lambda: VERBS[verb](at, task, word, **more))
        wanted = getattr(self.model, verb)(who, task, **more)
        assert got == wanted, f"{verb} {more} of {task} by {who}: {got}, not {wanted}"
        self.keep(who, task, word, verb, got)
        return got

    def keep(self, who: At, task: str, word: str, verb: str, got: str) -> None:
        """Remember a word that is in the file now."""
        if got == "ok" and verb not in ("claim", "start", "assign", "extend", "archive"):
            self.words[who.checkout, task].add(word)
        rest = f"{task}-1"
        if got == "ok" and verb == "finish_partly" and (who.checkout, rest) not in self.words:
            self.words[who.checkout, rest] = {word}
            if rest in self.tasks:
                # Made in both checkouts: a claim may be older than one of the two files.
                self.handled.add((who.checkout, rest))
            else:
                self.tasks.append(rest)

    def drawn(self, data: st.DataObject, verb: str, who: At, task: str) -> dict[str, Any]:
        """How a verb is used."""
        if verb == "claim":
            takes_over = who.is_human and data.draw(st.booleans(), label="takes over")
            return {"starts": data.draw(st.booleans(), label="starts"), "takes_over": takes_over}
        if verb in ("finish", "fail", "give_back"):
            # Its own epoch, or that of some other claim.
            return {"epoch": data.draw(st.sampled_from([None, self.model.epochs.get(task), 1]))}
        if verb == "complete":
            return {"has_evidence": data.draw(st.booleans(), label="has evidence")}
        if verb == "retry":
            to = data.draw(st.sampled_from([None, *AGENTS]), label="to")
            return {"to": to, "is_stalled": data.draw(st.booleans(), label="is stalled")}
        return {"name": data.draw(st.sampled_from(AGENTS))} if verb == "assign" else {}

    def on_disk(self, checkout: str) -> dict[str, list[OnDisk]]:
        top = self.tops[checkout]
        found: dict[str, list[OnDisk]] = {}
        for path in sorted((top / "work").rglob("*.yaml")):
            found.setdefault(path.stem, []).append(read(top, path))
        return found

    # Writing tasks down

    def write_down(self, at: At, waits_for: tuple[str, ...] = ()) -> None:
        task, word = f"T{len(self.tasks) + 1}", self.word()
        edit = editing.Edit(
            {"description": f"{described(task)}\n{word}"},
            {"depends_on": waits_for} if waits_for else {},
        )
        editing.new(self.desk(at), title=f"Task {task}", task_id=task, edit=edit)
        self.tasks.append(task)
        self.model.cards[at.checkout][task] = Card("inbox", depends_on=frozenset(waits_for))
        self.words[at.checkout, task] = {word}

    @stateful.rule(data=st.data(), who=people, checkout=checkouts, is_wrong=st.booleans())
    def new(self, data: st.DataObject, who: str, checkout: str, is_wrong: bool) -> None:
        at, cards = At(who, checkout), self.model.cards[checkout]
        known = sorted(cards)
        if not is_wrong and len(self.tasks) < MAX_TASKS:
            waits_for = st.lists(st.sampled_from(known), max_size=2, unique=True)
            self.write_down(at, tuple(data.draw(waits_for)) if known else ())
            return
        if known:
            task = data.draw(st.sampled_from(known))
            with pytest.raises(errors.AlreadyThere):
                editing.new(self.desk(at), title="Again", task_id=task)
        unknown = editing.Edit(added={"depends_on": ("T0",)})
        with pytest.raises(errors.NotFound):
            editing.new(self.desk(at), title="Waits for nothing", edit=unknown)
        for task, card in cards.copy().items():
            for earlier in sorted(card.depends_on & set(cards)):
                back = editing.Edit(added={"depends_on": (task,)})
                with pytest.raises(errors.NotAllowed):
                    editing.edit(self.desk(at), earlier, back)
                self.model.note(at, earlier)

    # The verbs

    @stateful.rule(data=st.data(), verb=st.sampled_from(sorted(VERBS)), checkout=checkouts)
    def use(self, data: st.DataObject, verb: str, checkout: str) -> None:
        """Any verb by anybody on any task, legal or not; more often by those whom it concerns."""
        task = data.draw(st.sampled_from(self.tasks))
        card, held = self.model.cards[checkout].get(task), self.model.held.get(task)
        concerned = [held.session] * 3 if held else []
        concerned += [card.owner] * 2 if card and card.owner else []
        who = At(data.draw(st.sampled_from([*EVERYBODY, PERSON, *concerned])), checkout)
        if self.can_tell(verb, task) and not (verb == "finish_partly" and self.is_full()):
            self.act(verb, who, task, **self.drawn(data, verb, who, task))

    def can_tell(self, verb: str, task: str) -> bool:
        """Does the model know whether the task is done elsewhere?"""
        past = self.model.past.get(task)
        is_known = task in self.model.held or past is None or past.where is not None
        return verb not in ("claim", "start") or is_known

    def is_full(self) -> bool:
        return len(self.tasks) >= MAX_TASKS

    @stateful.rule(data=st.data(), name=st.sampled_from(AGENTS), checkout=checkouts)
    def work_on(self, data: st.DataObject, name: str, checkout: str) -> None:
        """What random verbs alone do too rarely: a task is taken and brought to an end."""
        at = At(name, checkout)
        free = [t for t in self.model.cards[checkout] if self.model.is_offered(at, t)]
        if not free:
            return
        task = data.draw(st.sampled_from(sorted(free)))
        assert self.act("claim", at, task, starts=data.draw(st.booleans())) == "ok"
        ends = ["note", "finish", "finish", "fail", "give_back", "finish_partly"]
        end = data.draw(st.sampled_from(ends[: -1 if self.is_full() else None]))
        assert self.act(end, at, task) == "ok"

    # What people do with their hands

    @stateful.rule(
        data=st.data(),
        checkout=checkouts,
        how=st.sampled_from([*GOALS, "delete", "restore", "fix"]),
    )
    def lay_hands_on(self, data: st.DataObject, checkout: str, how: str) -> None:
        cards = self.model.cards[checkout]
        if how == "restore":
            self.restore(At(PERSON, checkout), data.draw(st.sampled_from(self.tasks)))
        elif how == "fix":
            self.repair(checkout)
            for task, card in cards.items():
                cards[task] = put_right(card, self.model.holder(task))
        elif cards:
            task = data.draw(st.sampled_from(sorted(cards)))
            [file] = self.on_disk(checkout)[task]
            path = self.tops[checkout] / file.path
            if how == "delete":
                self.delete(checkout, task)
                return
            directory = self.tops[checkout] / "work" / how
            directory.mkdir(parents=True, exist_ok=True)
            os.rename(path, directory / path.name)
            place, _, folder = how.partition("/")
            cards[task] = cards[task]._replace(place=place, folder=folder)
            self.handled.add((checkout, task))

    def delete(self, checkout: str, task: str) -> None:
        [file] = self.on_disk(checkout)[task]
        os.unlink(self.tops[checkout] / file.path)
        del self.model.cards[checkout][task], self.words[checkout, task]

    def restore(self, at: At, task: str) -> None:
        desk_ = self.desk(at)
        if self.model.card(at, task) is not None:
            with pytest.raises(errors.AlreadyThere):
                keeping.restore(desk_, task)
            self.delete(at.checkout, task)
        got = answer(lambda: keeping.restore(desk_, task))
        is_in_git = any(task in snapshot for snapshot in self.snapshots.values())
        assert got == ("ok" if is_in_git or task in self.model.epochs else "not_found")
        if got == "ok":
            [file] = self.on_disk(at.checkout)[task]
            last = self.snapshots[self.git(at.checkout, "rev-parse", "HEAD")].get(task)
            # Of what this branch has no file of, any older version will do.
            if last is not None:
                assert file.text == last.text, f"{task} is not as it was committed last"
                assert meaning(file.card, False) == meaning(last.card, False)
            self.adopt_file(at.checkout, task, file, file.words)

    def adopt_file(self, checkout: str, task: str, file: OnDisk, words: set[str]) -> None:
        """From here on the task is what the file says; and these words must be in it."""
        self.model.cards[checkout][task] = file.card
        self.words[checkout, task] = set(words)
        self.handled.add((checkout, task))

    def repair(self, checkout: str) -> None:
        """`validate --fix --yes`, after which there is nothing left that it could repair."""
        at = self.desk(At(PERSON, checkout))
        _, left = checking.apply(at, self.check(checkout))
        assert left == []
        again = self.check(checkout)
        assert (again.repairs, again.keeps) == ([], [])
        unreadable = [each for each in again.findings if each.rule == validate.PARSE]
        assert unreadable == [], f"{unreadable} cannot be read after a repair"

    def check(self, checkout: str) -> checking.Checked:
        work, place = workdir.Workdir(str(self.tops[checkout])), self.place[checkout]
        return checking.check(work, place=place, store=self.store, now=self.model.now, by=PERSON)

    # Death

    @stateful.rule(data=st.data(), name=st.sampled_from(AGENTS), is_swept=st.booleans())
    def die(self, data: st.DataObject, name: str, is_swept: bool) -> None:
        """A session falls silent; somebody may take over what it had, and it may wake up."""
        if name not in self.model.gone:
            agency.silence(self.store, name, 400)
            self.model.gone[name] = "silent"
        if is_swept:
            self.sweep()
        had = [(task, held) for task, held in self.model.held.items() if held.session == name]
        [other] = [each for each in AGENTS if each != name]
        for task, held in had:
            if data.draw(st.booleans(), label=f"{task} is adopted"):
                if self.can_tell("claim", task):
                    self.act("claim", At(other, held.where[0]), task)
                self.act("finish", At(name, held.where[0]), task, epoch=held.epoch)

    def sweep(self) -> None:
        self.tick()
        swept = sweep.sweep(self.store, self.spot, sweep.Rules())
        silent = [name for name, how in self.model.gone.items() if how == "silent"]
        assert sorted(stale.session_id for stale in swept.stale_agents) == sorted(silent)
        self.model.sweep()

    @stateful.rule(
        data=st.data(),
        checkout=checkouts,
        verb=st.sampled_from(
            ["claim", "finish", "fail", "give_back", "assign", "cancel", "complete", "reopen"]
        ),
        calls=st.integers(0, 45),
    )
    def crash(self, data: st.DataObject, checkout: str, verb: str, calls: int) -> None:
        """A verb in a process that is killed after some call that changes the disk."""
        task = data.draw(st.sampled_from(self.tasks))
        held = self.model.held.get(task)
        who = held.session if held and verb in ("finish", "fail", "give_back") else PERSON
        at = At(data.draw(people) if verb == "claim" else who, checkout)
        if not self.can_tell(verb, task):
            return
        word, desk_, after = self.word(), self.desk(at), copy.deepcopy(self.model)
        more = {"name": AGENTS[0]} if verb == "assign" else {}
        wanted = getattr(after, verb)(at, task, **more)
        self.store.close()

        def action() -> None:
            if isinstance(VERBS[verb](desk_, task, word, **more), claims.Refused):
                raise errors.Taken

        ended = boundary.in_child(action, boundary.Fault(calls, "kill after"))
        if ended.word == "killed":
            self.look_after_crash(at, task, verb, after)
        else:
            expected = {"repeat": "ok", "refused": "taken"}.get(wanted, wanted)
            assert ended.word == expected, f"{verb} of {task} by {at}: {ended}, not {wanted}"
            self.model = after
            self.keep(at, task, word, verb, wanted)

    def look_after_crash(self, at: At, task: str, verb: str, after: Model) -> None:
        """The model does not know how far it came, so it asks for what the design promises.

        One complete text, as before or as wanted, which moves only when it is as wanted (reopening:
        the other way round); a claim that is taken before the file says so, and closed after.
        """
        found = claims.open_of(self.store.rows, ids.TaskKey(ids.OWN_SOURCE, task))
        epoch = found.epoch if found else None
        epochs = [
            told.held[task].epoch if task in told.held else None for told in (self.model, after)
        ]
        assert epoch in epochs
        before, wanted = self.model.card(at, task), after.card(at, task)
        is_closed = epochs[0] is not None and epoch is None
        if before is not None and wanted is not None:
            file = self.only_file(at.checkout, task)
            righted = [put_right(before, name) for name in ("", at.name, self.model.holder(task))]
            assert said(file.card) in [said(each) for each in (before, *righted, wanted)]
            assert file.card[:2] in [each[:2] for each in (before, *righted, wanted)]
            is_told, is_there = said(file.card) == said(wanted), file.card[:2] == wanted[:2]
            if verb != "reopen" and is_there:
                assert is_told or wanted[:2] in [each[:2] for each in (before, *righted)]
            if is_closed:
                assert is_told
                assert is_there
            if is_told and said(wanted) != said(before) and verb in ("claim", "assign"):
                assert epoch == epochs[1]
        if epoch == epochs[1]:
            self.model = after
        if before is not None:
            self.adopt_file(at.checkout, task, file, self.words[at.checkout, task] | file.words)

    def only_file(self, checkout: str, task: str) -> OnDisk:
        """The file of a task; of two names that a killed move left, the next verb takes one."""
        files = self.on_disk(checkout)[task]
        if len(files) > 1:
            assert len({file.text for file in files}) == 1
            desk.one_of(workdir.Workdir(str(self.tops[checkout])), task, tidies=True)
            files = self.on_disk(checkout)[task]
        [file] = files
        return file

    # Git

    @stateful.rule(
        data=st.data(),
        checkout=checkouts,
        how=st.sampled_from(["commit", "check out", "merge", "part ways", "part ways"]),
    )
    def use_git(self, data: st.DataObject, checkout: str, how: str) -> None:
        if how == "check out":
            self.check_out_the_other_branch()
        elif how == "merge":
            self.merge(checkout)
        elif how == "part ways":
            self.part_ways(data, checkout)
        else:
            self.commit(checkout)

    def commit(self, checkout: str) -> None:
        self.tick()
        self.git(checkout, "add", "-A")
        if self.git(checkout, "status", "--porcelain"):
            self.git(checkout, "commit", "-q", "-m", "Work")
        self.note_tip(checkout)

    def note_tip(self, checkout: str) -> None:
        oid = self.git(checkout, "rev-parse", "HEAD")
        self.snapshots[oid] = {task: files[0] for task, files in self.on_disk(checkout).items()}
        self.model.tips[self.model.branch[checkout]] = dict(self.model.cards[checkout])

    def check_out_the_other_branch(self) -> None:
        self.commit("main")
        [branch] = [name for name in BRANCHES if name != self.model.branch["main"]]
        self.git("main", "checkout", "-q", branch)
        self.model.branch["main"] = branch
        for task in list(self.model.cards["main"]):
            del self.model.cards["main"][task], self.words["main", task]
        for task, file in self.snapshots[self.git("main", "rev-parse", "HEAD")].items():
            self.adopt_file("main", task, file, file.words)
        assert self.model.cards["main"] == self.model.tips[branch]

    def merge(self, into: str) -> None:
        """Merge the branch of the other checkout; what Git cannot settle, `validate --fix` does."""
        [other] = [name for name in CHECKOUTS if name != into]
        self.commit(into)
        self.commit(other)
        tips = [self.git(name, "rev-parse", "HEAD") for name in (into, other)]
        bases = self.git(into, "merge-base", "--all", *tips).split()
        self.tick()
        self.git(into, "merge", "-q", "--no-edit", self.model.branch[other], may_fail=True)
        unmerged = self.git(into, "ls-files", "--unmerged").split()
        self.repair(into)
        self.git(into, "add", "-A")
        is_merging = os.path.exists(os.path.join(self.place[into].git_dir, "MERGE_HEAD"))
        if is_merging or self.git(into, "status", "--porcelain"):
            self.git(into, "commit", "-q", "-m", "Merge")
        found = self.on_disk(into)
        for task in self.tasks:
            self.model.cards[into].pop(task, None)
            self.words.pop((into, task), None)
            sides = [self.snapshots[tip].get(task) for tip in tips]
            # Of several bases Git makes one that nobody has ever seen.
            base = self.snapshots[bases[0]].get(task) if len(bases) == 1 else UNKNOWN
            is_clean = not any(path.endswith(f"/{task}.yaml") for path in unmerged)
            words = self.look_after_merge(task, sides, base, found.get(task, []), is_clean)
            if task in found:
                self.adopt_file(into, task, found[task][0], words)
        self.note_tip(into)

    def look_after_merge(
        self,
        task: str,
        sides: list[OnDisk | None],
        base: OnDisk | None,
        found: list[OnDisk],
        is_clean: bool,
    ) -> set[str]:
        """Who alone has changed a task decides; of two, the one that is further along.

        The words that must be there now are the answer.
        """
        is_claimed = task in self.model.held
        ours, theirs = sides
        if base in sides or ours == theirs:
            only = theirs if ours == base else ours
            assert [file.card for file in found] == (
                [put_right(only.card, self.model.holder(task))] if only else []
            )
            return only.words if only else set()
        [file] = found
        there = [side for side in sides if side is not None]
        state = meaning(file.card, is_claimed)[0]
        cards = [side.card for side in there]
        ends = [meaning(card, is_claimed)[0] for card in cards]
        said = f"{task} is {state} after a merge of {ends}"
        # Git may have brought the place from one side and the words from the other together.
        mixed = [
            words._replace(place=place.place, folder=place.folder)
            for words, place in itertools.permutations(cards, 2)
        ]
        assert state in {*ends, *(meaning(card, is_claimed)[0] for card in mixed)}, said
        # What is done here and cancelled there may say both afterwards. Of two other states the
        # further one has to win, if both differ from what was.
        is_cancelled = any(card.is_cancelled for card in cards)
        is_known = base is not None and base is not UNKNOWN and len(cards) == 2
        if base is not None and is_known and not is_cancelled and not is_clean:
            # A status line that one side has left as it was comes from the other, also if the two
            # mean something else: who reopens and claims what was cancelled in progress.
            has_stayed = meaning(base.card, is_claimed)[0] in ends or base.card.status in {
                card.status for card in cards
            }
            wanted = {meaning(max(cards, key=rank), is_claimed)[0]}
            # Of a task that was only put away Git may leave the words of who went on with it: if
            # they say that it is over, it stays away.
            for card, other in itertools.permutations(cards, 2):
                if card.place == "archive" and card.status == base.card.status:
                    state_there = meaning(other, is_claimed)[0]
                    wanted |= {state_there, "archived"} if state_there == "done" else {state_there}
            assert has_stayed or state in wanted, said
        return set().union(*(side.words for side in there))

    def part_ways(self, data: st.DataObject, into: str) -> None:
        """What random steps alone do too rarely: both sides have a task and change it."""
        self.merge("main")
        self.merge("side")
        known = sorted(self.model.cards[into])
        if not known:
            return
        task = data.draw(st.sampled_from(known))
        choices = ["edit", "claim", "complete", "cancel", "give_back", "reopen", "fail"]
        for checkout in CHECKOUTS:
            verbs = data.draw(st.lists(st.sampled_from(choices), max_size=2))
            for verb in [*verbs, "note"]:
                held = self.model.held.get(task)
                at = At(held.session if verb == "fail" and held else PERSON, checkout)
                if self.can_tell(verb, task):
                    self.act(verb, at, task, **({"takes_over": True} if verb == "claim" else {}))
        self.merge(into)
        if data.draw(st.booleans(), label="is lost and found"):
            self.restore(At(PERSON, into), task)

    # The index and the store

    @stateful.rule(how=st.sampled_from(["delete", "empty", "cut", "garbage", "only open again"]))
    def damage_the_index(self, how: str) -> None:
        path = Path(self.place["main"].store_dir) / index.FILE_NAME
        raw = path.read_bytes() if path.exists() else b""
        damaged = {"empty": b"", "cut": raw[: len(raw) // 2], "garbage": b"?" * len(raw)}
        if how in damaged:
            path.write_bytes(damaged[how])
        elif how == "delete":
            path.unlink(missing_ok=True)
        self.store.close()
        self.store = self.open()

    # What must hold

    @stateful.invariant()
    def everything_is_as_the_model_says(self) -> None:
        self.the_claims_are_the_model()
        for checkout in CHECKOUTS:
            self.every_task_has_its_one_file(checkout)
            self.the_index_tells_what_the_files_say(checkout)
            self.what_is_free_is_offered(checkout)
            self.the_validator_finds_what_the_model_expects(checkout)

    def every_task_has_its_one_file(self, checkout: str) -> None:
        found = self.on_disk(checkout)
        assert all(len(files) == 1 for files in found.values())
        cards = {task: files[0].card for task, files in found.items()}
        assert cards == self.model.cards[checkout], checkout
        for task, [file] in found.items():
            lost = self.words[checkout, task] - file.words
            assert not lost, f"{lost} of {task} in {checkout}"

    def the_index_tells_what_the_files_say(self, checkout: str) -> None:
        work = workdir.Workdir(str(self.tops[checkout]))
        listed = listing.tasks(self.place[checkout], work, tuple(states.PLACES))
        assert sorted(listed) == sorted(work.read(each) for each in work.scan())
        for task in listed:
            card, is_claimed = self.model.cards[checkout][task.id], task.id in self.model.held
            assert task.standing(is_claimed=is_claimed) == meaning(card, is_claimed)

    def what_is_free_is_offered(self, checkout: str) -> None:
        place, work = self.place[checkout], workdir.Workdir(str(self.tops[checkout]))
        # One of them after the other, because each answer may take several calls of git.
        self.looks += 1
        name = EVERYBODY[self.looks // len(CHECKOUTS) % len(EVERYBODY)]
        at = At(name, checkout)
        viewer = views.Viewer(place, work, self.store, self.spot, lambda: (name, name))
        listed = listing.Listing(place, work)
        offered = choosing.offered(listed, viewer, name, self.model.now, ageing_days=7)
        found = {view.task.id for view in offered}
        listed.close()
        expected = {task: self.model.is_offered(at, task) for task in self.model.cards[checkout]}
        unknown = {task for task, is_offered in expected.items() if is_offered is None}
        wanted = {task for task, is_offered in expected.items() if is_offered}
        assert found - unknown == wanted, f"{at} is offered {found}, not {wanted}"

    def the_claims_are_the_model(self) -> None:
        found = {c.task: (c.session_id, c.epoch) for c in claims.open_ones(self.store.rows)}
        assert found == {task: held[:2] for task, held in self.model.held.items()}
        replayed: dict[str, tuple[str, int]] = {}
        for event in events.after(self.store, 0, 100_000):
            task, session = str(event.task), str(event.session)
            if event.type in ("claim_taken", "claim_adopted"):
                assert task not in replayed
                replayed[task] = (session, event.data["epoch"])
            elif event.type == "claim_closed":
                assert replayed.pop(task) == (session, event.data["epoch"])
        assert replayed == found

    def the_validator_finds_what_the_model_expects(self, checkout: str) -> None:
        found = {(each.rule, each.task): each for each in self.check(checkout).findings}
        # The hands that move a file write no times and no `.gitkeep`.
        loose = (validate.REQUIRED, validate.TIMES, validate.OWNER, validate.ORDER)
        exact = {
            (rule, task)
            for rule, task in found
            if rule != validate.KEEP and not (rule in loose and (checkout, task) in self.handled)
        }
        expected = self.model.findings(checkout)
        assert exact == expected, f"{[found[e] for e in exact - expected]}, not {expected - exact}"


def run(examples: int, steps: int, *, shrinks: bool = True) -> None:
    stateful.run_state_machine_as_test(
        Tasks,
        settings=hypothesis.settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if shrinks else [])],
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )


@pytest.fixture(autouse=True)
def hasty_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows count as soon as a file is at rest for longer than any tick of this file system.

    Otherwise nothing of a run that lasts a second or two would ever be read from the index.
    """
    monkeypatch.setattr(parsed, "_RACY_NS", 20_000_000)


@pytest.mark.proof(room="tasks")
def test_tasks_are_what_the_model_says(figures: Figures) -> None:
    examples, steps = scale.count(1000, at_least=8), 50 if scale.SCALE >= 1 else 12
    run(examples, steps)
    figures.add("random histories against a model", examples=examples, steps=steps, differences=0)


def trust_the_index(patch: pytest.MonkeyPatch) -> None:
    """Every file looks as it did when it was read first."""
    patch.setattr(index, "stamp", lambda _: "0/0/0/0")


def leave_claims_open(patch: pytest.MonkeyPatch) -> None:
    """Whoever lets go of a task only says so."""
    patch.setattr(moves, "_close", lambda _transaction, _at, held, *_: held)


def forget_losers(patch: pytest.MonkeyPatch) -> None:
    """The text of the side that does not count is thrown away."""
    patch.setattr(merging, "entries", lambda *_: [])


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("plant", [trust_the_index, leave_claims_open, forget_losers])
def test_the_check_catches(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, figures: Figures
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        run(40, 20, shrinks=False)
    figures.add(f"control: {plant.__name__.replace('_', ' ')}", caught=True)
