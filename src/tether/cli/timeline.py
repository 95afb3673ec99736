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

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
_MAX_SESSION_CHARS = 16
_BARS = " ▁▂▃▄▅▆▇█"
_STYLES = {
    model.WORKED: "green",
    model.STATED: "cyan",
    model.MENTIONED: "",
    model.LISTED: "dim",
}


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
    `mentioned` and `listed` are talk, and what is only listed is left out of a text unless it is
    asked for.
    """
    named = lookup.find(call, task)
    found = call.witness.timeline(named.key, named.aliases)
    if not found.activities and not named.is_known:
        raise named.missing()
    chosen = [each for each in found.activities if not kinds or each.kind in kinds]
    held = claims.open_of(call.store.rows, named.key)
    page = _Page(named, held, found, chosen, kinds, limit, pointers)
    value: dict[str, Any] = {
        "task": named.value(),
        "held_by": shown.claim_value(held) if held is not None else None,
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
    held: agents.Claim | None
    found: room.Timeline
    chosen: list[model.Activity]
    kinds: tuple[str, ...]
    limit: int
    has_pointers: bool

    def lines(self, width: int) -> list[answers.Piece]:
        head, *rest = self._heading()
        lines = [answers.Piece(head, "bold"), *map(answers.Piece, rest)]
        picture = _picture(self.chosen, min(60, width - 14))
        lines += [answers.Piece(r, _STYLES.get(r.split(" ", 1)[0], "dim")) for r in picture]
        told = [e for e in self.chosen if self.kinds or e.kind != model.LISTED]
        newest = told[-self.limit :]
        if newest:
            lines.append(answers.Piece(""))
            table = shown.table([_row(each) for each in newest], width).split("\n")
            for row, each in zip(table, newest, strict=True):
                lines.append(answers.Piece(row, _STYLES[each.kind]))
                if self.has_pointers:
                    lines.append(answers.Piece(f"    {each.source}  {each.pointer}", "dim"))
        notes = []
        if len(told) > len(newest):
            notes.append(f"{len(told) - len(newest)} earlier; `--limit` shows more")
        if len(self.chosen) > len(told):
            number = text.counted(len(self.chosen) - len(told), "listing")
            notes.append(f"{number}; `--kind listed` shows them")
        if notes:
            lines += [answers.Piece(""), answers.Piece(f"Not shown: {'. '.join(notes)}.", "dim")]
        return lines

    def _heading(self) -> list[str]:
        named, found = self.named, self.found
        holder = f"held by {self.held.agent_name}" if self.held is not None else ""
        state = ", ".join(each for each in (named.state, holder) if each)
        state = f"  ({state})" if state else ""
        lines = [f"{named.key.label}  {text.one_line(named.title, 100)}".rstrip() + state]
        if found.last_worked_at:
            lines.append(f"Last worked on {text.minute(found.last_worked_at)}.")
        elif found.activities:
            lines.append("Nobody has worked on it, as far as can be seen.")
        else:
            lines.append("Nothing is known of it but its place on the list.")
        working = {e.session for e in found.activities if e.kind in model.MOVING}
        for each in found.sessions:
            if each.session in working and each.ending == "limited":
                until = f" until {text.minute(each.resets_at)}" if each.resets_at else ""
                lines.append(f"Session {each.session} stopped at a usage limit{until}.")
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
    said = " ".join([each.text, *each.files]) if each.what == "edited" else each.text
    where = each.pointer.removeprefix("commit:")[:12] if each.source.startswith("git:") else ""
    return text.minute(each.at), each.kind, each.what, _short(each.session) or where, said


def _short(session: str) -> str:
    """A session in a column: a person by name, an id that is long and odd by its beginning."""
    name = session.removeprefix(f"{agents.HUMAN}-")
    return name[:8] if _UUID.match(name) else text.one_line(name, _MAX_SESSION_CHARS)
