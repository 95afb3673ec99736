"""How tasks look to people and to programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable

from tether import clock, errors, ids, text, workspace
from tether.agents import claims, roll
from tether.agents import model as agents
from tether.cli import answers, verbs
from tether.hints import TYPE_CHECKING, Any
from tether.tasks import desk, model, states

if TYPE_CHECKING:
    from tether.cli import context
    from tether.tasks import views

# Nobody can read what is narrower.
_MIN_COLUMNS = 40
TASK = verbs.Argument("task", "The task's id.")
# What others wrote: data, whatever it says.
UNTRUSTED = (
    *("title", "status", "agent", "artefacts", "depends_on", "parent", "problem"),
    *("fields", "note", "waits_for"),
)
# What to do with a task of a list instead.
_FOR_LISTS = {
    "history": "`tether timeline {task}` shows its life.",
    "note": "`tether handoff {task} --note TEXT` leaves a note for whoever takes it up.",
    "restore": "Git has the list itself; `tether timeline {task}` names the commits.",
    "return": "`tether release {task}` lets go of it.",
    "start": "`tether claim {task}` starts it.",
}
_FOR_OTHERS = (
    "`tether claim`, `finish`, `fail` and `release` take such tasks; the rest is changed in the"
    " list itself."
)


def own_id(key: ids.TaskKey, verb: str = "") -> ids.TaskId:
    """The id of a task that has a file; for one of a list the error that says what to do."""
    if key.source != ids.OWN_SOURCE:
        raise errors.NotAllowed(
            f"{key.label} is a task of a list and has no file of its own. Nothing was changed.",
            hint=_FOR_LISTS.get(verb, _FOR_OTHERS).format(task=key.label),
        )
    return ids.TaskId(key.id)


def key_of(call: context.Context, word: str) -> ids.TaskKey:
    """The task that is meant by who acts; the lists are read only if Tether itself knows of none.

    So a task that has a file is meant before one of a list; who reads is asked back.
    """
    key = ids.TaskKey.parse(word)
    if call.workspace.root is None or _is_own(call, key, is_bare=":" not in word):
        return key
    from tether.cli import lookup

    return lookup.key_of(call, word)


def _is_own(call: context.Context, key: ids.TaskKey, *, is_bare: bool) -> bool:
    """Is it known at once as one of Tether's own? Somebody may hold one that has no file."""
    if not is_bare:
        return key.source == ids.OWN_SOURCE
    return bool(call.work.find(key.id)) or claims.open_of(call.store.rows, key) is not None


def from_top(place: workspace.Workspace, path: str) -> str:
    """A path as typed in some directory, from the top of the checkout."""
    if place.root is None or os.path.isabs(path):
        return path
    named = os.path.relpath(os.path.join(os.getcwd(), path), place.root)
    return path if named.startswith("..") else named


def task_value(task: model.Task) -> dict[str, Any]:
    """A task for programs, as its file says."""
    return {
        "id": text.clean(task.id),
        "title": text.clean(task.title),
        "state": states.UNREADABLE if task.problem else task.state,
        "status": text.clean(task.status),
        "agent": text.clean(task.owner),
        "priority": task.priority,
        "path": task.path or None,
        "parent": text.clean(task.parent) or None,
        "depends_on": [text.clean(each) for each in task.depends_on],
        "artefacts": [text.clean(each) for each in task.artefacts],
        "created_at": task.created_at or None,
        "assigned_at": task.assigned_at or None,
        "started_at": task.started_at or None,
        "completed_at": task.completed_at or None,
        "timeout_at": task.timeout_at or None,
        "cancelled": task.is_cancelled,
        "partial": task.is_partial,
        "problem": text.clean(task.problem) or None,
        "line": task.line or None,
    }


def view_value(view: views.View) -> dict[str, Any]:
    """A task for programs, all things considered."""
    value = task_value(view.task)
    return value | {
        "state": view.effective.state,
        "offered": view.is_offered,
        "overlay": view.effective.overlay or None,
        "note": view.said or None,
        "held_by": _held_by(view),
        "waits_for": [
            {
                "id": text.clean(each.id),
                "state": each.state,
                "met": each.is_met,
                "note": each.note or None,
            }
            for each in view.waits_for
        ],
    }


def claim_value(claim: agents.Claim) -> dict[str, Any]:
    """A claim for programs."""
    value = claim._asdict()
    value["checkpoint"] = answers.untrusted(claim.checkpoint, f"checkpoint {claim.key.label}")
    return {"key": claim.key.label, **value}


def verdict_of(call: context.Context, held: agents.Claim) -> str:
    """Whether the holder of an open claim is alive, as `tether agent list` says it."""
    holder = roll.require(call.store.rows, held.session_id)
    return call.spot.shown_verdict(holder).state if holder.is_here else holder.status


def held_by(held: agents.Claim, verdict: str) -> str:
    """`held by claude-7777, dead`; that somebody is alive goes without saying."""
    return f"held by {held.agent_name}" + (f", {verdict}" if verdict != "alive" else "")


def _held_by(view: views.View) -> dict[str, Any] | None:
    if view.claim is None or view.claim.closed_at is not None:
        return None
    return {**claim_value(view.claim), "verdict": view.verdict or None}


def moved_answer(moved: desk.Moved, **more: Any) -> answers.Answer:
    """What a verb answers."""
    value: dict[str, Any] = {
        "task": task_value(moved.task),
        "verb": moved.verb,
        "from": moved.before,
        "claim": claim_value(moved.claim) if moved.claim else None,
        "repeat": moved.is_repeat,
        "notes": list(moved.notes),
        "follow_up": task_value(moved.follow_up) if moved.follow_up else None,
        "commit": None,
        "untrusted": list(UNTRUSTED),
        **more,
    }
    return answers.Answer("", value, lambda: moved_text(moved, more))


# Verbs that leave the state as it is say what they did.
_SAID = {"edit": "changed", "note": "noted", "extend": "extended"}


def moved_text(moved: desk.Moved, more: dict[str, Any]) -> str:
    task = moved.task
    after = states.UNREADABLE if task.problem else task.state
    already = " already" if moved.is_repeat else ""
    verb = _SAID.get(moved.verb, "")
    steps = after if moved.before in (after, states.NONE) else f"{moved.before} → {after}"
    said = f"{verb}, {steps}" if verb and not moved.is_repeat else steps
    if moved.verb == "extend":
        said += f" until {task.timeout_at}"
    lines = [f"{task.id}{already}: {said}  {text.one_line(task.path)}"]
    if moved.follow_up is not None:
        lines.append(f"{moved.follow_up.id}: what is missing  {moved.follow_up.path}")
    lines += [f"Note: {text.one_line(note)}" for note in moved.notes]
    if commit := more.get("commit"):
        lines.append(f"Committed as {commit[:12]}.")
    return "\n".join(lines)


def answered(at: desk.Desk, moved: desk.Moved | claims.Refused, *, commits: bool) -> answers.Answer:
    """The answer of a verb that may have lost a race, committed if that was asked for."""
    if isinstance(moved, claims.Refused):
        from tether.cli import claim

        raise claim.refusal(moved, at.caller.session_id)
    if not commits:
        return moved_answer(moved)
    from tether.tasks import committing

    return moved_answer(moved, commit=committing.commit(at, moved))


def table(rows: Iterable[tuple[str, ...]], last_width: int) -> str:
    """Columns as wide as they must be; the last one is cut."""
    cells = [tuple(text.one_line(cell) for cell in row) for row in rows]
    widths = [max(len(row[n]) for row in cells) for n in range(len(cells[0]) - 1)]
    room = max(20, last_width - sum(widths) - 2 * len(widths))
    return "\n".join(
        "  ".join(
            [
                *(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)),
                text.one_line(row[-1], room),
            ]
        ).rstrip()
        for row in cells
    )


def wrapped(line: str, columns: int, indent: str = "  ", tail: str = "") -> list[str]:
    """A line on as many lines of a terminal as it needs, the later ones further in.

    It breaks between words. A path, an id or a `command` is not torn, nor is `tail`, which says
    where the line is from: they are there to be copied.
    """
    columns = max(_MIN_COLUMNS, columns)
    whole = f"{line}  {tail}" if tail else line
    if text.cells(whole) <= columns:
        return [whole]
    lead = line[: len(line) - len(line.lstrip(" "))]
    lines, now = [], lead
    for gap, word in [*_words(line.strip()), *([("  ", tail)] if tail else [])]:
        is_first = now == lead
        if not is_first and text.cells(f"{now}{gap}{word}") > columns:
            lines.append(now)
            now, is_first = lead + indent, True
        now += word if is_first else gap + word
    return [*lines, now]


def _words(line: str) -> list[tuple[str, str]]:
    """The words of a line, each with the gap before it; a `tether command` is one word."""
    rest = line.split(" ")
    found: list[tuple[str, str]] = []
    gap = ""
    while rest:
        word, gap = rest.pop(0), f"{gap} "
        if "`tether" in word and any("`" in each for each in rest):
            while word.count("`") % 2 and rest:
                word += f" {rest.pop(0)}"
        if word:
            found.append((gap, word))
            gap = ""
    return found


def pieces(lines: Iterable[str], columns: int, indent: str = "  ") -> list[list[answers.Piece]]:
    """Lines for a terminal, as an answer has them: none is wider, if that can be."""
    return [
        [answers.Piece(part)]
        for line in lines
        for part in wrapped(text.clean(line), columns, indent)
    ]


def fitted(lines: list[str], indent: str = "  ") -> Callable[[int], list[list[answers.Piece]]]:
    """The same for a terminal of any width."""
    return lambda columns: pieces(lines, columns, indent)


def width() -> int:
    """How many columns there are to fill."""
    try:
        # Some terminals do not say how wide they are.
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 10_000  # a file or a pipe has no margin


def ago(at: str, now_ms: int) -> str:
    """`3h` since then; empty if nobody knows."""
    if not at:
        return ""
    seconds = max(0, now_ms - clock.parse(at)) // 1000
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
