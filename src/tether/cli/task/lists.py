"""Tasks of the lists that a team keeps: shown, and ticked when they are finished.

Such a task has no file of its own: to start it is to claim it, and to finish it changes one line.
"""

from __future__ import annotations

from tether import errors, ids, text
from tether.agents import claims
from tether.agents import model as agents
from tether.cli import answers, claim, context, verbs
from tether.cli.task import shown
from tether.hints import Any
from tether.store import port
from tether.tasks import states
from tether.tasks.sources import model, patterns, ticking

_OPEN = (states.NEW, states.IN_PROGRESS, states.ERROR)


def resolved(call: context.Context, word: str) -> ids.TaskKey:
    """The key of a task as typed: a bare id may be one of a list, if no task file has it."""
    key = ids.TaskKey.parse(word)
    if ":" in word:
        return _named(call, key)
    if call.workspace.root is None or call.work.find(key.id):
        return key
    known = call.lists.items
    exact = [
        wanted
        for source in call.sources
        if (wanted := ids.TaskKey(source, patterns.canonical(source, key.id))) in known
    ] or [each for each in known if each.id.endswith(f".{key.id}")]
    if len(exact) > 1:
        labels = ", ".join(each.label for each in exact[:10])
        raise errors.UsageError(
            f"Several tasks are called {key.id}: {labels}. Nothing was changed.",
            hint=f"Say which one, as in {exact[0].label}.",
        )
    if exact:
        return exact[0]
    return call.lists.resolve_any(key)


def _named(call: context.Context, key: ids.TaskKey) -> ids.TaskKey:
    """The task of a list that was named with its source; NotFound if a list here has it not."""
    if key.source not in call.sources:
        return key  # a list that is kept elsewhere
    found = call.lists.resolve(ids.TaskKey(key.source, patterns.canonical(key.source, key.id)))
    return item_of(call, found).key


def item_of(call: context.Context, key: ids.TaskKey) -> model.Item:
    """The task of a list; NotFound if its list is not here, or does not have it."""
    item = call.lists.items.get(call.lists.resolve(key))
    if item is None:
        raise errors.NotFound(
            f"There is no task {key.label} in the lists of this checkout. Nothing was changed.",
            hint="See them with `tether task list --source " + key.source + "`.",
        )
    return item


def end(call: context.Context, key: ids.TaskKey, values: verbs.Values, verb: str) -> answers.Answer:
    """Finish or fail a task of a list: the line first, then the claim."""
    item = item_of(call, key)
    acting = call.acting(values.get("session"))
    held = claims.open_of(call.store.rows, item.key)
    if held is None or held.session_id != acting.session_id:
        raise claim.refusal(claims.refused(call.store.rows, call.spot, item.key), acting.session_id)
    if values.get("epoch") is not None and values["epoch"] != held.epoch:
        raise claim.refusal(claims.refused(call.store.rows, call.spot, item.key), acting.session_id)
    outcome = ids.Outcome("done" if verb == "finish" else "failed")
    place = call.place if acting.session_id == call.session.session_id else acting.place

    def work(transaction: port.Transaction) -> tuple[agents.Claim | claims.Refused, str]:
        # The line is changed while nobody else can take the task: who was replaced changes nothing.
        closed = claims.close_one(
            transaction, acting.session_id, item.key, held.epoch, outcome, place
        )
        if closed is None:
            return claims.refused(transaction.rows, call.spot, item.key), ""
        path = ""
        if verb == "finish":
            path = ticking.tick(call.workspace.root or "", item, states.DONE)
        return closed, path

    closed, path = call.store.write(verb, work)
    if isinstance(closed, claims.Refused):
        raise claim.refusal(closed, acting.session_id)
    state = states.DONE if verb == "finish" else item.state
    value: dict[str, Any] = {
        "task": {**item_value(item), "state": state},
        "verb": verb,
        "from": item.state,
        "claim": shown.claim_value(closed),
        "untrusted": list(shown.UNTRUSTED),
    }
    said = (
        f"{item.key.label}: {item.state} → {state}  {path}" if path else f"{item.key.label}: let go"
    )
    return answers.Answer("", value, lambda: text.one_line(said))


def show(call: context.Context, key: ids.TaskKey) -> answers.Answer:
    """One task of a list, and who has it."""
    item = item_of(call, key)
    held = claims.open_of(call.store.rows, item.key)
    value = {**item_value(item), "held_by": shown.claim_value(held) if held else None}

    def plain() -> str:
        facts = [
            ("state", item.state + (f" (held by {held.agent_name})" if held else "")),
            ("where", f"{item.path}:{item.line}"),
            ("section", item.section),
            ("owner", item.owner),
            ("priority", item.priority),
            ("parent", item.parent),
            ("parts", f"{item.parts_done} of {item.parts_total} done" if item.parts_total else ""),
            ("needs", ", ".join(item.depends_on)),
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


def listed(call: context.Context, source: str, values: verbs.Values) -> answers.Answer:
    """The tasks of a list, or of all of them, with how much of each track is done."""
    if source != "all" and source not in call.sources:
        known = ", ".join(("all", *call.sources))
        raise errors.UsageError(
            f"There is no task list '{text.one_line(source, 40)}' in this checkout.",
            hint=f"There is {known}." if call.sources else "No task lists were found here.",
        )
    chosen = _chosen(call, source, values)
    tracks = [
        each for each in call.lists.progress if not each.section and source in ("all", each.source)
    ]
    some = chosen[: values["limit"]]
    value = {
        "tasks": [item_value(item) for item in some],
        "total": len(chosen),
        "progress": [each._asdict() for each in tracks],
        "problems": [each._asdict() for each in call.lists.problems],
        "untrusted": [*shown.UNTRUSTED, "section", "path"],
    }
    page = _page(some, len(chosen), tracks, len(call.lists.problems))
    return answers.Answer(
        "", value, lambda: answers.told(page, source="task lists", for_agent=call.is_agent)
    )


def _chosen(call: context.Context, source: str, values: verbs.Values) -> list[model.Item]:
    wanted = tuple(values["state"]) or (_OPEN if not values["all"] else model.STATES)
    return [
        item
        for item in call.lists.items.values()
        if source in ("all", item.source)
        and item.state in wanted
        and values["agent"] in (None, item.owner)
        and values["parent"] in (None, item.parent)
    ]


def _page(some: list[model.Item], total: int, tracks: list[model.Progress], problems: int) -> str:
    lines = []
    if some:
        rows = [(i.key.label, i.state, i.priority, i.owner or "-", i.text) for i in some]
        lines.append(shown.table(rows, shown.width()))
    if total > len(some):
        lines.append(f"{len(some)} of {total} tasks; --limit shows more.")
    lines += [
        f"{each.source} {text.one_line(each.track)}: {each.done} of {each.total} done"
        for each in tracks
    ]
    if problems:
        lines.append(f"{problems} problems in the lists; --json names them.")
    return "\n".join(lines) or "No open tasks in the lists."


def item_value(item: model.Item) -> dict[str, Any]:
    """A task of a list for programs."""
    return {
        "key": item.key.label,
        "source": item.source,
        "id": item.id,
        "state": item.state,
        "title": text.clean(item.text),
        "owner": text.clean(item.owner) or None,
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
