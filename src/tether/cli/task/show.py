"""`tether task show`: one task, all things considered."""

from __future__ import annotations

import json
import math

from tether import ids, text
from tether.cli import answers, context, verbs
from tether.cli.task import shown, tied
from tether.hints import Any
from tether.tasks import desk, effective, model, states, views, workdir

_LONG = ("description", "plan", "acceptance", "result", "error", "cancelled", "history")
_TOLD = {
    "id", "title", "agent", "status", "priority", "created_at", "assigned_at", "started_at",
    "completed_at", "timeout_at", "parent", "depends_on", "artefacts",
}  # fmt: skip


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    key = shown.key_of(call, values["task"])
    if key.source != ids.OWN_SOURCE:
        from tether.cli.task import lists

        return lists.show(call, key)
    task_id = shown.own_id(key)
    loaded = _load(call, task_id)
    view = call.viewer.view(loaded.task) if loaded else call.viewer.absent(task_id)
    if view is None:
        raise desk.nothing_there(call.work, task_id)
    if view.effective == effective.Effective(effective.ABSENT, False):
        raise desk.lost(task_id)
    fields = loaded.document.fields if loaded else {}
    value = shown.view_value(view)
    files = [each.path for each in call.work.find(task_id)]
    found = tied.edges(call, key)
    value |= {"edges": tied.value(found)}
    value |= {"fields": _cleaned(fields), "files": files, "untrusted": list(shown.UNTRUSTED)}
    return answers.Answer(
        "task",
        value,
        lambda: answers.told(
            _text(view, fields, files, tied.line(found)),
            source=f"task {task_id}",
            for_agent=call.is_agent,
        ),
    )


def _load(call: context.Context, task_id: str) -> workdir.Loaded | None:
    found = call.work.find(task_id)
    if found:
        # Of several, as after a merge, the one that `validate --fix` would keep.
        loaded = [call.work.load(each) for each in found]
        return max(loaded, key=lambda each: states.RANK.get(each.task.state, 5))
    from tether.tasks import packs

    return packs.load(call.work, task_id)


def _text(view: views.View, fields: dict[str, Any], files: list[str], edges: str) -> str:
    task = view.task
    lines = [f"{task.id}  {task.title}".rstrip()]
    facts = [
        ("state", view.effective.state + (f" ({view.said})" if view.said else "")),
        ("problem", f"{task.problem}, line {task.line}" if task.line else task.problem),
        ("file", task.path),
        ("others", _others(task, files)),
        ("agent", task.owner),
        ("priority", task.priority),
        ("parent", task.parent),
        *(("needs", _dependency(each)) for each in view.waits_for),
        ("artefacts", ", ".join(task.artefacts)),
        ("created", task.created_at),
        ("assigned", task.assigned_at),
        ("started", task.started_at),
        ("completed", task.completed_at),
        ("until", task.timeout_at),
        ("edges", edges),
    ]
    others = [name for name in fields if name not in _TOLD and name not in _LONG]
    # A key need not be a text.
    short = [name for name in others if _is_short(str(name), fields[name])]
    facts += [(text.one_line(str(name)), _told(fields[name])) for name in short]
    width = max(len(name) for name, fact in facts if fact)
    lines += [f"  {name:<{width}}  {text.one_line(fact)}" for name, fact in facts if fact]
    for name in (*(each for each in others if each not in short), *_LONG):
        if fields.get(name) not in (None, "", [], {}):
            lines += ["", f"{text.one_line(str(name))}:", answers.indented(_told(fields[name]))]
    return "\n".join(lines)


def _is_short(name: str, value: Any) -> bool:
    """Does a field that somebody added fit on one line?"""
    told = "" if value is None or isinstance(value, (list, dict)) else _told(value)
    return "\n" not in told and 0 < len(told) <= 60 and len(name) <= 20


def _others(task: model.Task, files: list[str]) -> str:
    others = ", ".join(path for path in files if path != task.path)
    return f"{others}; `tether validate --fix` settles which one counts" if others else ""


def _dependency(each: Any) -> str:
    note = f", {each.note}" if each.note else ""
    return f"{each.id} ({each.state}{note})"


def _told(value: Any) -> str:
    """A value as lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(f"- {_told(item)}".replace("\n", "\n  ") for item in value)
    if isinstance(value, dict):
        return "\n".join(
            f"{name}:{_behind(item)}{_told(item)}".replace("\n", "\n  ")
            for name, item in value.items()
        )
    return json.dumps(value)


def _behind(value: Any) -> str:
    """What parts a name from its value: what has lines of its own begins on the next one."""
    return "\n" if value and isinstance(value, (list, dict)) else " "


def _cleaned(value: Any) -> Any:
    """The same values without control characters."""
    if isinstance(value, str):
        return text.clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {text.clean(str(name)): _cleaned(item) for name, item in value.items()}
    # JSON has no infinity and no NaN.
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


VERBS = {
    "show": verbs.Verb(
        name="show",
        help="Show one task: its state, who has it, what it waits for.",
        options=(),
        arguments=(shown.TASK,),
        run=_run,
    )
}
