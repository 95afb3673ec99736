"""What detectors stumble over, put where they will: each has a name, and truth says where it is."""

from __future__ import annotations

import random

from tether import clock
from tether.bench.workload import commits, logs, model, plan, story, truth

_VERSIONS = (
    "Bump v2.1.0 to v2.1.1, H2.1.0 and A.0.1 stay; the U.S. 3.5 build, Python 3.12.1 and"
    " node-20.1.0 are fine, and so is the X.509 certificate."
)
NAMES = (
    "pid_reuse", "eperm", "near_ids", "section_mention_only", "id_in_fenced_code", "next_list",
    "dashboard", "version_strings", "lower_case_files", "odd_boxes", "bold_ids",
    "checkbox_in_code_fence", "consolidated_ids", "same_id_two_projects", "naive_times",
    "z_times", "clock_skew_ahead", "clock_skew_behind", "dst", "truncated_line", "sidechain",
    "same_uuid_two_files", "claims_deleted_by_cleanup", "ttl_expired_broadcasts", "project_pause",
    "bulk_close", "stale_clone_reexport", "deferred_then_touched", "everything_listed",
)  # fmt: skip
# They need a table of processes.
OF_LIVENESS = ("pid_reuse", "eperm")


class Traps:
    """Puts traps into a story, and into what is written of it."""

    def __init__(self, tale: story.Story) -> None:
        self._story = tale
        self._rng = random.Random(f"traps {tale.seed}")  # noqa: S311 (chance that can be repeated)
        self._track = tale.plan.track("H")
        self._untouched = [
            task.id
            for track in tale.plan.pilot
            for task in track.tasks
            if task.fate == model.NEVER_STARTED and not task.is_reserved
        ]
        sections = [entry.id for entry in self._track.entries if entry.depth == 0]
        self._section = sections[-1]

    def lay(self, note: truth.Truth) -> None:
        """Change sessions and lists, before anything is written."""
        self._lay_in_transcripts()
        self._lay_subagent()
        self._lay_in_lists(note)
        self._lay_in_clocks(note)
        self._name_tasks(note)

    # Transcripts

    def _lay_in_transcripts(self) -> None:
        fenced, *others = self._untouched[:12]
        everything = [entry.id for track in self._story.plan.pilot for entry in track.entries]
        mentioned = ((self._section, truth.MENTIONED),)
        old = self._old_id()
        self._put(
            "id_in_fenced_code",
            f"This is what the list says:\n\n```\n- [ ] {fenced}: not mine\n```\n\nI go on.",
            ((fenced, truth.LISTED),),
        )
        self._put("next_list", f"Next: {', '.join(others[:6])}.", _listed(others[:6]))
        self._put("version_strings", _VERSIONS, (("X.509", truth.MENTIONED),))
        self._put("section_mention_only", f"Section {self._section} comes later.", mentioned)
        self._put("consolidated_ids", f"I look at {old} first.", ((old, truth.MENTIONED),))
        rows = "\n".join(f"- [ ] {each}" for each in everything[:80])
        self._put("everything_listed", rows, (), "output")
        rows = "\n".join(f"| {each} | claimed |" for each in others)
        self._put("dashboard", f"## Session status\n\n{rows}", _listed(others), "output")

    def _lay_subagent(self) -> None:
        """Somebody has a part of a task that is done in the end looked at by another."""
        done = {
            task.id
            for track in self._story.plan.pilot
            for task in track.tasks
            if task.fate == model.DONE
        }
        session, act = next(
            (session, act)
            for session in self._story.sessions
            if session.vendor == model.CLAUDE and session.project == model.MAIN
            for act in session.acts
            if act.what == model.WORKED and act.task in done
        )
        found = ((act.task, truth.WORKED),)
        session.extras.append(model.Extra(act.at, "agent", f"{act.task}: Look around", found, ""))

    def _put(
        self, trap: str, text: str, found: tuple[tuple[str, str], ...], form: str = "text"
    ) -> None:
        session = self._told()
        at = self._rng.randrange(session.start, session.end)
        session.extras.append(model.Extra(at, form, text, found, trap))

    def _told(self) -> model.Session:
        """A session of Claude that nothing else depends on."""
        fit = [
            session
            for session in self._story.sessions
            if session.vendor == model.CLAUDE
            and session.project == model.MAIN
            and session.ending == model.AT_REST
            and session.start < model.NOW - 2 * model.DAY
        ]
        return self._rng.choice(fit)

    # Lists, and tasks that are what they are

    def _lay_in_lists(self, note: truth.Truth) -> None:
        track = self._story.plan.track("C")
        done = [task for task in track.tasks if task.fate == model.DONE_BEFORE]
        opened = [task for task in track.tasks if task.fate == model.NEVER_STARTED]
        chosen = [*zip(done, "X", strict=False), *zip(opened, "~-", strict=False)]
        for task, mark in chosen:
            task.odd_box = mark
        boxes = {mark: task.id for task, mark in chosen}
        note.trap("odd_boxes", where=track.path, boxes=boxes)
        note.trap("checkbox_in_code_fence", where=track.path, tasks=["C.99.1", "C.99.2"])
        bold = self._story.plan.track("B")
        note.trap("bold_ids", where=bold.path, tasks=[bold.tasks[0].id])
        aa = self._story.plan.track("AA")
        note.trap("lower_case_files", where=aa.path, tasks=[aa.tasks[0].id])

    def _name_tasks(self, note: truth.Truth) -> None:
        note.trap("near_ids", worked=["H.1.10"], untouched=["H.1.1", "H.1.1.1"])
        track = self._story.plan.track("H", model.SECOND_PROJECT)
        here = {task.id for task in self._track.tasks}
        both = [task.id for task in track.tasks if task.id in here]
        note.trap("same_id_two_projects", projects=[model.MAIN, track.project], tasks=both[:20])
        paused = [task.id for task in track.tasks if task.fate == model.PARKED]
        note.trap("project_pause", project=track.project, tasks=paused)
        touched = [
            task.id
            for each in self._story.plan.pilot
            for task in each.tasks
            if task.fate == model.DEFERRED_TOUCHED
        ]
        note.trap("deferred_then_touched", tasks=touched)

    def _old_id(self) -> str:
        """The id that a task had before the lists were consolidated."""
        code, old, new = plan.CONSOLIDATED
        tasks = self._story.plan.track(code).tasks
        task = next(task.id for task in tasks if task.id.startswith(f"{code}.{new}."))
        return f"{code}.{old}.{task.split('.', 2)[2]}"

    # Clocks

    def _lay_in_clocks(self, note: truth.Truth) -> None:
        live = [session for session in self._story.sessions if session.ending == model.LIVE]
        ahead, behind = live[-1], self._told()
        ahead.skew_ms, behind.skew_ms = 11 * model.MINUTE, -3 * model.HOUR
        note.trap("clock_skew_ahead", session=ahead.uuid, milliseconds=ahead.skew_ms)
        note.trap("clock_skew_behind", session=behind.uuid, milliseconds=behind.skew_ms)

    # Logs and commits

    def in_logs(self, logbook: logs.Logs) -> None:
        """Blocks with times of every kind, and lists that are no work."""
        names = self._untouched[12:24]
        day = model.NOW - 9 * model.DAY
        logbook.add(model.MAIN, 0, logs.dashboard(day + 17 * model.HOUR, names, "dashboard"))
        logbook.add(model.MAIN, 1, logs.upcoming(day + 16 * model.HOUR, names[:4], "next_list"))
        done = [t.id for p in self._story.plan.pilot for t in p.tasks if t.fate == model.DONE]
        autumn = clock.parse("2026-10-25T00:30:00Z")
        forms = (
            (autumn, "2026-10-25T02:30:00+02:00", "dst"),
            (autumn + model.HOUR, "2026-10-25T02:30:00+01:00", "dst"),
            (day + 9 * model.HOUR, model.naive(day + 9 * model.HOUR), "naive_times"),
            (day + 10 * model.HOUR, model.iso(day + 10 * model.HOUR), "z_times"),
        )
        for task, (at, stamp, trap) in zip(done, forms, strict=False):
            lines = (f"### {stamp} - {task} looked at again", "- **Fix:** None was needed.")
            logbook.add(model.MAIN, 1, logs.Block(at, lines, ((task, truth.STATED),), trap))

    def in_commits(self) -> list[commits.Commit]:
        """A section instead of a task, an old id, a wrong clock, and a clone left behind."""
        day = model.START + 30 * model.DAY
        late = self._untouched[30] if len(self._untouched) > 30 else self._untouched[-1]
        section, old = self._section, self._old_id()
        return [
            commits.Commit(
                day + 8 * model.HOUR,
                f"feat({section}): prepare the ground",
                files=(1,),
                found=((section, commits.SUBJECT),),
                trap="section_mention_only",
            ),
            commits.Commit(
                day + 9 * model.HOUR,
                f"fix({old}): keep the order",
                files=(2,),
                found=((old, commits.SUBJECT),),
                trap="consolidated_ids",
            ),
            commits.Commit(
                day + 10 * model.HOUR,
                "chore: tidy up",
                f"Not about {late}, which comes later.\n",
                files=(3,),
                found=((late, commits.BODY),),
                stamp=day + 7 * model.HOUR,
                trap="clock_skew_behind",
            ),
            commits.Commit(
                day + 11 * model.HOUR,
                "docs: export the tracks",
                form="export",
                trap="stale_clone_reexport",
            ),
            commits.Commit(
                day + 12 * model.HOUR,
                "docs: undo the stale export",
                form="restore",
                trap="stale_clone_reexport",
            ),
        ]


def _listed(named: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple((each, truth.LISTED) for each in named)
