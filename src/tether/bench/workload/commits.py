"""Which commits there are, from what happened. Pure, given a source of chance."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from tether.bench.workload import laws, model, story, words
from tether.hints import NamedTuple

COMMITS = 4000
_WITH_ID = 0.6
# What the names of tasks are in a commit.
SUBJECT, BODY, MERGE = "subject", "body", "merge"
_TYPES = ("feat", "feat", "fix", "refactor", "test", "perf")
PEOPLE = (
    "Ada Example <ada@example.com>",
    "Grace Example <grace@example.com>",
    "Linus Example <linus@example.com>",
)


class Commit(NamedTuple):
    """One commit to be made."""

    at: int
    subject: str
    body: str = ""
    files: tuple[int, ...] = ()
    """Numbers of source files that it changes."""
    boxes: tuple[tuple[str, str], ...] = ()
    """(task, mark): boxes of task lists that it sets."""
    notes: tuple[tuple[str, str], ...] = ()
    """(task, remark): what it writes behind tasks."""
    found: tuple[tuple[str, str], ...] = ()
    """(id, where the message names it)."""
    form: str = "plain"
    """`plain`, `side` (on a branch), `merge` (of that branch), `export` or `restore`."""
    machine: int = 0
    person: int = 0
    stamp: int = 0
    """When its author's clock says it was, if that is wrong."""
    trap: str = ""


class Planner:
    """Makes up the commits of the main project."""

    def __init__(self, tale: story.Story) -> None:
        self._story = tale
        self._rng = random.Random(f"commits {tale.seed}")  # noqa: S311 (can be repeated)
        self._files = tale.size.files
        self._tasks = {
            task.id: task
            for track in tale.plan.tracks
            if track.project == model.MAIN
            for task in track.tasks
        }
        self._said: dict[str, str] = {}

    def plan(self, extras: Iterable[Commit]) -> list[Commit]:
        """All commits, in the order in which they are made."""
        found = [*extras, *self._needed(), *self._bulk()]
        # One more brings what was there before.
        total = max(self._story.size.of(COMMITS), int(len(found) / _WITH_ID)) - 1
        found += self._more(int(total * _WITH_ID) - sum(bool(c.found) for c in found))
        found += self._nameless(total - len(found))
        return sorted(found, key=lambda commit: (commit.at, commit.form))

    # What has to be

    def _needed(self) -> Iterator[Commit]:
        for session in self._story.sessions:
            if session.project != model.MAIN:
                continue
            for act in session.acts:
                yield from self._of(session, act)

    def _of(self, session: model.Session, act: model.Act) -> Iterator[Commit]:
        task = self._tasks[act.task]
        if act.what == model.FINISHED:
            yield from self._finish(session, act, task)
        elif act.what == model.ROLLED_BACK:
            said = self._said.get(task.id, f"feat({task.id}): {task.title}")
            boxes = ((task.id, model.OPEN_BOX),)
            revert = self._work(session, act.at, task.id, f'Revert "{said}"', boxes)
            yield revert if task.id in said else revert._replace(body=f"Task: {task.id}\n")
        elif act.what == model.CANCELLED:
            yield self._word(session, act, "cancel it", ((task.id, model.CANCELLED_BOX),))
        elif act.what == model.DEFERRED:
            remark = f"*(deferred {model.iso(act.at)[:10]})*"
            commit = self._word(session, act, "defer it", ())
            yield commit._replace(notes=((task.id, remark),))
        elif act.what == model.CLAIMED and task.fate == model.STALE and self._rng.random() < 0.5:
            yield self._word(session, act, "start it", ((task.id, model.STARTED_BOX),))

    def _finish(self, session: model.Session, act: model.Act, task: model.Task) -> Iterator[Commit]:
        at = act.at + self._rng.randrange(5, 60) * model.SECOND
        boxes = ((task.id, model.DONE_BOX),) if task.fate != model.DONE_UNMARKED else ()
        chance = self._rng.random()
        if chance < 0.91 or not boxes:
            yield self._work(session, at, task.id, "", boxes)
            return
        later = act._replace(at=at + 10 * model.MINUTE)
        if chance < 0.96:
            yield self._work(session, at, task.id)
        else:
            side = self._work(session, at, task.id)
            yield side._replace(form="side")
            branch = f"feature/{task.id}-{task.title.lower().replace(' ', '-')}"
            yield side._replace(
                at=at + model.MINUTE,
                subject=f"Merge branch '{branch}'",
                body="",
                found=((task.id, MERGE),),
                form="merge",
            )
        yield self._word(session, later, "tick it", boxes)

    def _work(
        self,
        session: model.Session,
        at: int,
        task: str,
        subject: str = "",
        boxes: tuple[tuple[str, str], ...] = (),
    ) -> Commit:
        """A commit that changes code and names a task in one of the ways people do."""
        rng = self._rng
        title = self._tasks[task].title
        what = rng.choice(_TYPES)
        body = words.prose(rng, 18) + "\n" if rng.random() < 0.5 else ""
        if not subject:
            chance = rng.random()
            if chance < 0.62:
                subject = f"{what}({task}): {title}"
            elif chance < 0.78:
                subject = f"[{task}] {title}"
            elif chance < 0.88:
                subject = f"{task}: {title}"
            else:
                subject = f"{what}: {title}"
                body = f"{body}\nTask: {task}\n".lstrip("\n")
            self._said[task] = subject
        files = tuple(rng.randrange(self._files) for _ in range(rng.randrange(1, 4)))
        return Commit(
            at,
            subject,
            body,
            tuple(dict.fromkeys(files)),
            boxes,
            found=((task, SUBJECT),),
            machine=session.machine,
            person=session.number % len(PEOPLE),
        )

    def _word(
        self,
        session: model.Session,
        act: model.Act,
        what: str,
        boxes: tuple[tuple[str, str], ...],
    ) -> Commit:
        """A commit that changes nothing but a list."""
        return Commit(
            act.at + 2 * model.SECOND,
            f"docs({act.task}): {what}",
            boxes=boxes,
            found=((act.task, SUBJECT),),
            machine=session.machine,
        )

    def _bulk(self) -> Iterator[Commit]:
        boxes = tuple((task.id, model.DONE_BOX) for task in self._story.bulk)
        at = model.START + 20 * model.DAY
        yield Commit(at, "docs: close what was done long ago", boxes=boxes, trap="bulk_close")

    # What fills the rest

    def _more(self, count: int) -> Iterator[Commit]:
        """Steps on the way, of one task or two; one in twenty only tells of its task."""
        rng = self._rng
        worked = [
            (session, number, act)
            for session in self._story.sessions
            if session.project == model.MAIN
            for number, act in enumerate(session.acts)
            if act.what == model.WORKED
        ]
        for session, number, act in rng.sample(worked, max(0, min(count, len(worked)))):
            commit = self._work(session, act.at, act.task)
            other = self._neighbour(session, number)
            chance = rng.random()
            if chance < 0.05:
                body = f"{words.prose(rng, 9)} Found while working on {act.task}.\n"
                subject = f"chore: {words.title(rng)}"
                yield commit._replace(subject=subject, body=body, found=((act.task, BODY),))
            elif chance < 0.25 and other:
                subject = f"fix({act.task}, {other}): {words.title(rng)}"
                both = ((act.task, SUBJECT), (other, SUBJECT))
                yield commit._replace(subject=subject, body="", found=both)
            else:
                yield commit

    def _neighbour(self, session: model.Session, number: int) -> str:
        """Another task that the session was at just before and that was done in the end."""
        before = session.acts[number - 1] if number else session.acts[number]
        task = session.acts[number].task
        is_free = before.task != task and before.what == model.WORKED
        return before.task if is_free and self._tasks[before.task].fate == model.DONE else ""

    def _nameless(self, count: int) -> Iterator[Commit]:
        rng = self._rng
        for _ in range(max(0, count)):
            files = tuple(rng.randrange(self._files) for _ in range(rng.randrange(1, 4)))
            yield Commit(
                laws.moment(rng, model.START + model.HOUR, model.NOW - model.HOUR),
                f"{rng.choice(_TYPES)}: {words.title(rng)}",
                words.prose(rng, 12) + "\n" if rng.random() < 0.3 else "",
                tuple(dict.fromkeys(files)),
                machine=rng.randrange(2),
                person=rng.randrange(len(PEOPLE)),
            )
