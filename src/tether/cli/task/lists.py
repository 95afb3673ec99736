"""Tasks of the lists that a team keeps: shown, and ticked when they are finished.

Such a task has no file of its own: to start it is to claim it, and to finish it changes one line.
"""

from __future__ import annotations

from tether import errors, ids, redaction, text
from tether.agents import claims, notes
from tether.agents import model as agents
from tether.brief import choosing
from tether.cli import answers, claim, context, lookup, verbs
from tether.cli.task import shown, tied
from tether.hints import Any
from tether.store import port
from tether.tasks import states
from tether.tasks.sources import dialects, model, ticking

_FOR_FILES = ("commit", "artefact", "partial", "missing", "why")
_MAX_TRACKS = 10
NO_LISTS = "No task lists were found in this checkout."
Held = dict[ids.TaskKey, agents.Claim]


def item_of(call: context.Context, key: ids.TaskKey) -> model.Item:
    """The task of a list; NotFound if its list is not here, or does not have it."""
    item = call.lists.items.get(call.lists.resolve(key))
    if item is None:
        raise lookup.not_listed(call, key)
    return item


def end(call: context.Context, key: ids.TaskKey, values: verbs.Values, verb: str) -> answers.Answer:
    """Finish or fail a task of a list: the line is changed, the claim closed, what is said kept."""
    item = item_of(call, key)
    _require_no_more(values)
    acting = call.acting(values.get("session"))
    held = claims.open_of(call.store.rows, item.key)
    if held is None or held.session_id != acting.session_id:
        raise claim.refusal(claims.refused(call.store.rows, call.spot, item.key), acting.session_id)
    if values.get("epoch") is not None and values["epoch"] != held.epoch:
        raise claim.refusal(claims.refused(call.store.rows, call.spot, item.key), acting.session_id)
    outcome = ids.Outcome("done" if verb == "finish" else "failed")
    place = call.place if acting.session_id == call.session.session_id else acting.place
    said_last = values.get("summary") or values.get("message") or ""
    note = redaction.redact(text.clean(said_last)).strip()

    def work(transaction: port.Transaction) -> tuple[agents.Claim | claims.Refused, str]:
        # The line is changed while nobody else can take the task: who was replaced changes nothing.
        closed = claims.close_one(
            transaction, acting.session_id, item.key, held.epoch, outcome, place
        )
        if closed is None:
            return claims.refused(transaction.rows, call.spot, item.key), ""
        if note:
            short = text.one_line(note, notes.MAX_CHARS)
            notes.leave(transaction, closed.key, short, call.actor, closed.session_id)
        path = ""
        if verb == "finish":
            path = ticking.tick(call.workspace.root or "", item, states.DONE)
        return closed, path

    closed, path = call.store.write(verb, work)
    if isinstance(closed, claims.Refused):
        raise claim.refusal(closed, acting.session_id)
    state = states.DONE if verb == "finish" else item.state
    value: dict[str, Any] = {
        "task": {**item_value(item, None), "state": state},
        "verb": verb,
        "from": item.state,
        "claim": shown.claim_value(closed),
        "untrusted": list(shown.UNTRUSTED),
    }
    said = (
        f"{item.key.label}: {item.state} → {state}  {path}" if path else f"{item.key.label}: let go"
    )
    remarks = [*_undone(call, item), f"Commit {path} when you are ready."] if path else []
    value["notes"] = remarks
    return answers.Answer("", value, lambda: "\n".join(map(text.one_line, [said, *remarks])))


def _undone(call: context.Context, item: model.Item) -> list[str]:
    """What is open of a task that is said to be done."""
    below = [
        each.state
        for each in call.lists.items.values()
        if (each.source, each.parent) == (item.source, item.id) and each.state != model.CANCELLED
    ]
    unmet = sum(not is_met for is_met, _ in item.acceptance)
    counts = (
        (sum(state != states.DONE for state in below), len(below), "tasks below it", "done"),
        (item.parts_total - item.parts_done, item.parts_total, "parts", "done"),
        (unmet, len(item.acceptance), "criteria", "met"),
    )
    return [
        f"Not {met}: {number} of {total} {nouns}." for number, total, nouns, met in counts if number
    ]


def _require_no_more(values: verbs.Values) -> None:
    """A list has a line for each task: nothing but its state can be written down there."""
    for name in _FOR_FILES:
        if values.get(name):
            raise errors.UsageError(
                f"--{name} is for tasks that have a file of their own. Nothing was changed.",
                hint="Repeat it without: a list keeps nothing of a task but its state.",
            )


def show(call: context.Context, key: ids.TaskKey) -> answers.Answer:
    """One task of a list, and who has it."""
    item = item_of(call, key)
    last = claims.last_of(call.store.rows, item.key)
    held = last if last is not None and last.closed_at is None else None
    verdict = shown.verdict_of(call, held) if held is not None else ""
    at_odds = _at_odds(item, last)
    above = ids.TaskKey(item.source, item.parent) if item.parent else None
    edges = tied.edges(call, item.key)
    value = {
        **item_value(item, held, verdict),
        "last_claim": shown.claim_value(last) if last else None,
        "note": at_odds or None,
        "edges": tied.value(edges),
    }

    def plain() -> str:
        facts = [
            ("state", item.state + (f" ({shown.held_by(held, verdict)})" if held else "")),
            ("claim", at_odds),
            ("where", f"{item.path}:{item.line}"),
            ("section", _section(item, is_task=above in call.lists.items)),
            ("owner", item.owner),
            ("priority", item.priority),
            ("parent", item.parent if above in call.lists.items else ""),
            ("parts", f"{item.parts_done} of {item.parts_total} done" if item.parts_total else ""),
            ("needs", ", ".join(item.depends_on)),
            ("edges", tied.line(edges)),
            *((("met" if met else "not met"), said) for met, said in item.acceptance),
        ]
        width = max(len(name) for name, fact in facts if fact)
        lines = [f"{item.key.label}  {text.one_line(item.text)}"]
        lines += [f"  {name:<{width}}  {text.one_line(fact)}" for name, fact in facts if fact]
        if item.description:
            lines += ["", answers.indented(item.description)]
        page = "\n".join(lines)
        return answers.told(page, source=f"task {item.key.label}", for_agent=call.is_agent)

    return answers.Answer("task", {**value, "untrusted": list(shown.UNTRUSTED)}, plain)


def _section(item: model.Item, *, is_task: bool) -> str:
    """The heading above a task, with its id: what a task is part of need not be a task."""
    if is_task or not item.parent or item.parent in item.section.split():
        return item.section
    return f"{item.parent}  {item.section}".strip()


def _at_odds(item: model.Item, last: agents.Claim | None) -> str:
    """What the last claim of a task says that its list does not."""
    if last is None or last.outcome != claims.DONE or item.state not in choosing.OPEN_IN_LISTS:
        return ""
    when = text.minute(last.closed_at or "")
    return f"closed as done by {last.agent_name} at {when}; the list still says {item.state}"


def listed(call: context.Context, source: str, values: verbs.Values) -> answers.Answer:
    """The tasks of a list, or of all of them, with how much of each track is done."""
    if source != "all" and source not in call.sources:
        raise _no_such_list(call, source)
    held = {each.key: each for each in claims.open_ones(call.store.rows)}
    chosen = _chosen(call, source, values, held)
    tracks = [
        each for each in call.lists.progress if not each.section and source in ("all", each.source)
    ]
    problems = [
        each for each in call.lists.problems if source in ("all", dialects.dialect_of(each.path))
    ]
    some = chosen[: values["limit"]]
    value = {
        "tasks": [item_value(item, held.get(item.key)) for item in some],
        "total": len(chosen),
        "progress": [each._asdict() for each in tracks],
        "problems": [each._asdict() for each in problems],
        "untrusted": [*shown.UNTRUSTED, "section", "path"],
    }
    page = NO_LISTS if not call.sources else _page(some, held, len(chosen), tracks, len(problems))
    return answers.Answer(
        "", value, lambda: answers.told(page, source="task lists", for_agent=call.is_agent)
    )


def _no_such_list(call: context.Context, source: str) -> errors.UsageError:
    some = ", ".join(call.sources)
    return errors.UsageError(
        f"There is no task list '{text.one_line(source, 40)}' in this checkout.",
        hint=f"It has {some}; `all` means all of them." if some else NO_LISTS,
    )


def _chosen(
    call: context.Context, source: str, values: verbs.Values, held: Held
) -> list[model.Item]:
    usual = model.STATES if values["all"] else choosing.OPEN_IN_LISTS
    wanted = tuple(values["state"]) or usual
    if values["stalled"]:
        raise errors.UsageError(
            "Lists do not say since when a task is in progress.",
            hint="`tether claims` shows who has what, and since when.",
        )
    if not set(wanted) <= set(model.STATES):
        raise errors.UsageError(
            "There is no such state in a list.", hint=f"The states are {', '.join(model.STATES)}."
        )
    return [
        item
        for item in call.lists.items.values()
        if source in ("all", item.source)
        and item.state in wanted
        and values["agent"] in (None, _agent(item, held))
        and values["parent"] in (None, item.parent)
    ]


def _agent(item: model.Item, held: Held) -> str:
    """Who has a task, or should have it by its list."""
    claim = held.get(item.key)
    return claim.agent_name if claim is not None else item.owner


def _page(
    some: list[model.Item], held: Held, total: int, tracks: list[model.Progress], problems: int
) -> str:
    lines = [] if total else ["No such tasks in the lists."]
    if some:
        rows = [("ID", "STATE", "PRIORITY", "AGENT", "TITLE")]
        for item in some:
            state = f"{item.state} (held)" if item.key in held else item.state
            who = _agent(item, held) or "-"
            rows.append((item.key.label, state, item.priority, who, item.text))
        lines.append(shown.table(rows, shown.width()))
    if total > len(some):
        lines.append(f"{len(some)} of {total} tasks; --limit shows more.")
    lines += _progress(tracks)
    if problems:
        lines.append(f"{text.counted(problems, 'problem')} in the lists; --json has more.")
    return "\n".join(lines)


def _progress(tracks: list[model.Progress]) -> list[str]:
    """How much of each track is done; of many only those with something to do."""
    is_long = len(tracks) > _MAX_TRACKS
    open_ones = [each for each in tracks if each.done < each.total] if is_long else tracks
    some = open_ones[:_MAX_TRACKS]
    lines = [
        f"{each.source} {text.one_line(each.track)}: {each.done} of {each.total} done"
        for each in some
    ]
    if len(open_ones) > len(some):
        lines.append(f"{len(open_ones) - len(some)} more have something to do; --json has all.")
    if len(tracks) > len(open_ones):
        lines.append(f"{len(tracks) - len(open_ones)} others are complete.")
    return lines


def item_value(item: model.Item, held: agents.Claim | None, verdict: str = "") -> dict[str, Any]:
    """A task of a list for programs; whether its holder is alive only where that was asked."""
    judged = {"verdict": verdict} if verdict else {}
    return {
        "key": item.key.label,
        "source": item.source,
        "id": item.id,
        "state": item.state,
        "title": text.clean(item.text),
        "owner": text.clean(item.owner) or None,
        "held_by": {**shown.claim_value(held), **judged} if held is not None else None,
        "priority": item.priority,
        "parent": text.clean(item.parent) or None,
        "section": text.clean(item.section) or None,
        "track": text.clean(item.track) or None,
        "path": text.clean(item.path),
        "line": item.line,
        "parts": {"done": item.parts_done, "total": item.parts_total},
        "depends_on": [text.clean(each) for each in item.depends_on],
        "acceptance": [{"met": met, "text": text.clean(said)} for met, said in item.acceptance],
    }
