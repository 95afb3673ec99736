"""`tether timeline`: a task's whole life, as a list and as a small picture."""

from __future__ import annotations

import re

import click

from tether import clock, text
from tether.agents import claims
from tether.agents import model as agents
from tether.cli import answers, cold, context, lookup
from tether.cli.task import shown
from tether.evidence import model
from tether.evidence import timeline as room
from tether.hints import Any, NamedTuple
from tether.store import events
from tether.tasks import states

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-([0-9a-f]{12})")
_MAX_SESSION_CHARS = 16
_LET_GO = "let go: "
_BARS = " ▁▂▃▄▅▆▇█"
_STYLES = {
    model.WORKED: "green",
    model.STATED: "cyan",
    model.MENTIONED: "",
    model.LISTED: "dim",
}
# What Tether itself tells is few and says how things ended; but not that somebody was still there.
_OWN = "tether:event"
_CHATTER = {each.name.replace("_", " ") for each in events.REGISTRY if each.is_chatter}


@click.command()
@click.argument("task")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(model.KINDS), help="Only these.")
@click.option("--pointers", is_flag=True, help="Say below each line where to open it.")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    metavar="N",
    type=click.IntRange(1, 100_000),
    help="On a terminal or in a text: at most the newest N. JSON has all.",
)
@cold.answering
@cold.pass_call
def timeline(
    call: context.Context, task: str, kinds: tuple[str, ...], pointers: bool, limit: int
) -> answers.Answer:
    """Show a task's whole life: from files, Git, transcripts, logs and the store.

    TASK is its id, or source:id. `worked` and `stated` say that somebody did or declared something;
    `mentioned` and `listed` are talk, and that a list has it is left out of a text unless it is
    asked for.
    """
    named = lookup.find(call, task)
    found = call.witness.timeline(named.key, named.aliases)
    if not found.activities and not named.is_known:
        raise named.missing()
    chosen = [each for each in found.activities if not kinds or each.kind in kinds]
    held = claims.open_of(call.store.rows, named.key)
    verdict = shown.verdict_of(call, held) if held is not None else ""
    holder = shown.held_by(held, verdict) if held is not None else ""
    page = _Page(named, holder, found, chosen, kinds, limit, pointers)
    value: dict[str, Any] = {
        "task": named.value(),
        "held_by": {**shown.claim_value(held), "verdict": verdict} if held is not None else None,
        "last_worked_at": found.last_worked_at or None,
        "activities": [activity_value(each) for each in chosen],
        "sessions": [session_value(each) for each in found.sessions],
        "problems": [problem_value(each) for each in call.witness.looked.problems],
        "untrusted": ["text", "files", "title", "last_said", "cwd", "branch"],
    }
    return answers.Answer(
        "",
        value,
        lambda: answers.told(
            "\n".join(line.text for line in page.lines(shown.width())).rstrip(),
            source=named.key.label,
            for_agent=call.is_agent,
        ),
        lambda width: [[line] for line in page.lines(width)],
    )


def activity_value(each: model.Activity) -> dict[str, Any]:
    """An activity for programs."""
    return {
        "at": each.at or None,
        "kind": each.kind,
        "what": each.what,
        "source": each.source,
        "session": each.session or None,
        "pointer": each.pointer,
        "task": each.task,
        "text": text.clean(each.text) or None,
        "files": [text.clean(path) for path in each.files],
    }


def session_value(each: model.Session) -> dict[str, Any]:
    """A session for programs, as its own transcript tells of it."""
    value = {name: item or None for name, item in each._asdict().items()}
    for name in ("last_said", "title", "cwd", "branch"):
        value[name] = text.clean(str(value[name])) if value[name] else None
    return {**value, "compactions": each.compactions}


def problem_value(each: model.Problem) -> dict[str, str]:
    return {name: text.clean(item) for name, item in each._asdict().items()}


class _Page(NamedTuple):
    """A timeline as people read it."""

    named: lookup.Named
    holder: str
    """Who has it, in words; empty if nobody has."""
    found: room.Timeline
    chosen: list[model.Activity]
    kinds: tuple[str, ...]
    limit: int
    has_pointers: bool

    def lines(self, width: int) -> list[answers.Piece]:
        head, *rest = self._heading(width)
        lines = [answers.Piece(head, "bold"), *map(answers.Piece, rest)]
        picture = _picture(self.chosen, min(60, width - 14))
        lines += [answers.Piece(r, _STYLES.get(r.split(" ", 1)[0], "dim")) for r in picture]
        told = [each for each in self.chosen if self.kinds or _is_told(each)]
        newest = told[-self.limit :]
        if newest:
            rows = [("TIME", "KIND", "WHAT", "BY", "TEXT"), *map(_row, newest)]
            header, *table = shown.table(rows, width).split("\n")
            lines += [answers.Piece(""), answers.Piece(header, "bold")]
            for row, each in zip(table, newest, strict=True):
                lines.append(answers.Piece(row, _STYLES[each.kind]))
                if self.has_pointers:
                    lines.append(answers.Piece(f"    {each.source}  {each.pointer}", "dim"))
        notes = []
        if len(told) > len(newest):
            notes.append(f"{len(told) - len(newest)} earlier; `--limit` shows more.")
        if len(self.chosen) > len(told):
            number = text.counted(len(self.chosen) - len(told), "listing")
            notes.append(f"{number}; `--kind listed` shows them.")
        if notes:
            said = f"Not shown: {' '.join(notes)}"
            fits = [said] if len(said) <= width else ["Not shown:", *(f"  {n}" for n in notes)]
            lines += [answers.Piece(""), *(answers.Piece(line, "dim") for line in fits)]
        return lines

    def _heading(self, width: int) -> list[str]:
        named, found = self.named, self.found
        state = ", ".join(each for each in (named.state, self.holder) if each)
        state = f"  ({state})" if state else ""
        room_left = min(100, max(20, width - len(named.key.label) - 2 - len(state)))
        lines = [f"{named.key.label}  {text.one_line(named.title, room_left)}".rstrip() + state]
        if found.last_worked_at:
            lines.append(f"Last worked on {text.minute(found.last_worked_at)}.")
        elif named.state == states.DONE:
            lines.append("It is marked done; nothing else shows when, or by whom.")
        elif any(each.kind == model.MENTIONED for each in found.activities):
            lines.append("It was talked of; nothing shows work on it.")
        elif found.activities:
            lines.append("Nothing shows work on it.")
        else:
            lines.append("Nothing is known of it but its place on the list.")
        working = {e.session for e in found.activities if e.kind in model.MOVING}
        for each in found.sessions:
            if each.session in working and each.ending == "limited":
                until = f" until {text.minute(each.resets_at)}" if each.resets_at else ""
                who = _short(each.session)
                lines.append(f"Session {who} stopped at a usage limit{until}.")
        return lines


def _picture(chosen: list[model.Activity], width: int) -> list[str]:
    """One row for each kind: how much of it there was over time."""
    dated = [(clock.parse(each.at), each.kind) for each in chosen if each.at]
    if len(dated) < 2 or width < 20:
        return []
    first, last = min(dated)[0], max(dated)[0]
    span = max(1, last - first)
    lines = []
    for kind in model.KINDS:
        counts = [0] * width
        for at, each in dated:
            if each == kind:
                counts[min(width - 1, (at - first) * width // span)] += 1
        if any(counts):
            most = max(counts)
            bars = "".join(_BARS[-(-8 * count // most)] for count in counts)
            lines.append(f"{kind:<10} {bars.rstrip()}")
    begin, end = clock.text(first), clock.text(last)
    # Within a day the time says more than the date.
    part = slice(11, 19) if begin[:10] == end[:10] else slice(10)
    begin, end = begin[part], end[part]
    return [*lines, f"{'':<10} {begin}{end:>{width - len(begin)}}"]


def _row(each: model.Activity) -> tuple[str, ...]:
    what, said = each.what, each.text
    if what == "edited":
        said = " ".join([said, *each.files])
    if what.startswith(_LET_GO):
        # How it ended is the news, and may be many words.
        said = f"{claims.in_words(what.removeprefix(_LET_GO))} ({said})"
        what = "let go"
    scheme, _, oid = each.pointer.partition(":")
    if scheme == "commit":
        said = f"{oid[:7]} {said}"
    return text.minute(each.at), each.kind, what, _short(each.session) or "-", said


def _is_told(each: model.Activity) -> bool:
    """Is it shown without being asked for?"""
    is_of_tether = each.source == _OWN and each.what not in _CHATTER
    return each.kind != model.LISTED or is_of_tether


def _short(session: str) -> str:
    """A session in a column: a person by name, an id that is long and odd by a part of it.

    Ids of version 7 begin with the time: those of one minute differ at their ends only.
    """
    name = session.removeprefix(f"{agents.HUMAN}-")
    found = _UUID.match(name)
    if found is None:
        return text.one_line(name, _MAX_SESSION_CHARS)
    return found[2][-8:] if found[1] == "7" else name[:8]
