"""SpecStory's `.specstory/history/*.md`: conversations with agents, as they were shown. Pure.

A block begins with who speaks, in most files also when. One without a time has that of the block
before it, the first that of the session: nothing is said to have happened later than it did.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from tether.evidence import mentions, model, records
from tether.evidence.transcripts import notes
from tether.hints import NamedTuple
from tether.tasks.sources import patterns

SOURCE = "specstory:history"
VERSION = "1"
_HEADER = re.compile(
    r"<!-- [^\n>]{1,60}[Ss]ession (?P<id>[A-Za-z0-9][A-Za-z0-9_.-]{5,80})"
    r"(?: \((?P<at>[^)\n]{1,40})\))?[^\n>]{0,40}-->[ \t]{0,8}"
)
_SPEAKER = re.compile(
    r"_\*\*(?P<who>User|Agent|Assistant)(?: - sidechain)?(?: \((?P<more>[^\n]{0,120})\))?\*\*_"
    r"[ \t]{0,8}"
)
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{5,15}Z?(?:[+-][0-9:]{5})?")
_TOOL = re.compile(r"<tool-use\b[^\n]{0,400}")
_TOOL_TYPE = re.compile(r'data-tool-type="([a-z]{1,20})"')
_TITLE = re.compile(r"# ([^\n]{1,400})")
# A path on a line of its own, in the title of an edit, or in what the tool has to say of it.
_PATHS = (
    re.compile(r"[ \t]{0,4}(?:(?:Edit|Write|Create) file: )?`(?:\./)?([^`\n]{1,240})`[ \t]{0,4}"),
    re.compile(r"[^\n]{0,200}• (?:Edit|Write|Create) file: ([^<\n]{1,240})</summary>"),
    re.compile(r"(?:The file|File created successfully at:) ([^\n]{1,240})"),
)
_UPDATED = " has been updated"
_QUIET = ("", "---")
# What the agent's program puts into the user's mouth.
_NOT_ASKED = ("<local-command-", "<command-name>", "<command-message>", "<system-reminder>")
_INTERRUPTED = "[Request interrupted by user"


class Block(NamedTuple):
    """What one of the two said or did at once."""

    number: int
    line: int
    session: str
    who: str
    at: str
    lines: tuple[str, ...]
    is_tool: bool


def read(path: str, text: str, finder: patterns.Finder) -> model.Logged:
    """What a history says."""
    activities: list[model.Activity] = []
    sessions: dict[str, model.Session] = {}
    title = _title(path, text)
    for block in blocks(text):
        if block.session:
            sessions[block.session] = _with(sessions.get(block.session), path, title, block)
        activities += notes.settled(_shown(path, block, finder))
    once = {(each.record, each.task_source, each.task, each.what): each for each in activities}
    return model.Logged(list(once.values()), list(sessions.values()), [])


def blocks(text: str) -> Iterator[Block]:
    """What was said and done, in order."""
    session = who = at = ""
    body: list[str] = []
    begin, number, tool_end = 1, 0, 0
    lines = [line.rstrip("\r") for line in text.split("\n")]
    ends = _tool_ends(lines)
    for place, line in enumerate(lines, 1):
        header = _HEADER.fullmatch(line) if place > tool_end and line.startswith("<!--") else None
        speaker = _SPEAKER.fullmatch(line) if place > tool_end and line[:3] == "_**" else None
        opens = place > tool_end and place in ends
        if not header and not speaker and not opens and place != tool_end + 1:
            body.append(line)
            continue
        if body and who:
            yield Block(number, begin, session, who, at, tuple(body), begin <= tool_end)
        number, begin, body = number + 1, place, []
        if header:
            session, who = records.label(header["id"]), ""
            at = records.moment(header["at"] or "")
        elif speaker:
            who = "user" if speaker["who"] == "User" else "agent"
            told = _TIME.search(speaker["more"] or "")
            at = records.moment(told[0]) if told else at
        else:
            body = [line]
            tool_end = ends[place] if opens else tool_end
    if body and who:
        yield Block(number, begin, session, who, at, tuple(body), begin <= tool_end)


def _tool_ends(lines: list[str]) -> dict[int, int]:
    """Where each tool call ends. One that does not is none."""
    found: dict[int, int] = {}
    end = 0
    for place in range(len(lines), 0, -1):
        line = lines[place - 1]
        if "</tool-use>" in line:
            end = place
        if end and _TOOL.match(line):
            found[place] = end
    return found


def _shown(path: str, block: Block, finder: patterns.Finder) -> list[model.Activity]:
    said = "\n".join(block.lines)
    # Followed by another block, it ends with a rule.
    name = records.digest(block.at or block.number, block.who, said.strip().rstrip("-\n ")[:400])
    pointer = f"file:{path}#line={block.line}"
    origin = notes.Origin(SOURCE, pointer, f"{block.session}:{name}", block.at, block.session)
    if block.who == "user" and said.lstrip().startswith(_NOT_ASKED):
        return notes.output(origin, finder, said)
    if not block.is_tool:
        return notes.named(origin, finder, said, "asked" if block.who == "user" else "said")
    found = []
    files = _files(block)
    if files:
        found.append(origin.shows(model.WORKED, "edited", mentions.excerpt(said), files=files))
    found += notes.led(origin, finder, _description(block), "ran", files)
    # What a tool was given and what it gave back cannot be told apart.
    return found + notes.output(origin, finder, said)


def _description(block: Block) -> str:
    """What stands right under the name of a tool: what a call of it was for, if that was said."""
    for number, line in enumerate(block.lines):
        if "</summary>" in line:
            after = (line.partition("</summary>")[2], *block.lines[number + 1 :])
            return next((each.strip() for each in after if each.strip()), "")
    return ""


def _tool_type(block: Block) -> str:
    match = _TOOL_TYPE.search(block.lines[0][:400])
    return match[1] if match else ""


def _files(block: Block) -> tuple[str, ...]:
    """What an edit has changed. One that failed names no file."""
    if _tool_type(block) != "write":
        return ()
    found = (pattern.fullmatch(line) for line in block.lines[:12] for pattern in _PATHS)
    return records.paths(match[1].partition(_UPDATED)[0].strip() for match in found if match)


def _title(path: str, text: str) -> str:
    for line in text[:4000].split("\n"):
        if (match := _TITLE.fullmatch(line)) and not _TIME.search(match[1]):
            return mentions.excerpt(match[1])
    # `2026-02-20_22-41-47Z-fix-the-login.md`
    return mentions.excerpt(os.path.basename(path).partition("Z-")[2].removesuffix(".md"))


def _with(known: model.Session | None, path: str, title: str, block: Block) -> model.Session:
    """A session with one more block."""
    if known is None:
        known = model.Session(
            block.session, SOURCE, f"file:{path}", started_at=block.at, title=title
        )
    said = "\n".join(line for line in block.lines if line.strip() not in _QUIET).lstrip()
    if not said or (block.who == "user" and said.startswith(_NOT_ASKED)):
        return known
    is_said = block.who == "agent" and not block.is_tool
    is_over = is_said or (block.who == "user" and said.startswith(_INTERRUPTED))
    return known._replace(
        started_at=min(known.started_at, block.at) or block.at,
        last_at=max(known.last_at, block.at),
        ending="at_rest" if is_over else "mid_turn",
        last_said=mentions.excerpt(said) if is_said else known.last_said,
    )
