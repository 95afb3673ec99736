"""What a witness says of a workload is what its truth says, to the last record.

The workload is that of `tether bench make-workload`, which writes down the truth beside it; the
witness never sees that. Every trap of the workload has a test of its own, and the comparison has
controls that plant the usual mistakes of readers.
"""

from __future__ import annotations

import collections
import json
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import scale, trails
from tests.conftest import Tether
from tests.figures import Figures
from tether import clock, ids, workspace
from tether.bench.workload import traps, writing
from tether.evidence import mentions, model, timeline, witness
from tether.store import port, sqlite
from tether.tasks.sources import finding, patterns

SMALL = 0.01
_MESSAGES = "home/.coditect-data/context-storage/messaging.db"
_OLD_MESSAGES = "home/.coditect-data/context-storage/messaging-v1.db"
Row = dict[str, Any]
Seen = collections.Counter[tuple[str, ...]]
"""(project, task, kind, at, source, where) of activities."""


class Workload(NamedTuple):
    """A workload, and what is true of it."""

    place: Path
    rows: list[Row]

    def evidence(self, project: str, task: str = "") -> list[Row]:
        """The records that name tasks of a project, or one task."""
        return [
            row
            for row in self.rows
            if "task" in row and row.get("project", "repo") == project and task in ("", row["task"])
        ]

    def fates(self, project: str = "repo") -> list[Row]:
        return [row for row in self.rows if "fate" in row and row["project"] == project]

    def laid(self, trap: str, where: str = "") -> list[Row]:
        """Where a trap is; only in files or commits that begin so."""
        found = [row for row in self.rows if row.get("trap") == trap]
        chosen = [row for row in found if row.get("where", "").startswith(where)]
        assert chosen, f"no {trap} in {where}"
        return chosen

    def tasks(self, trap: str, where: str = "") -> list[str]:
        return [task for row in self.laid(trap, where) for task in row["tasks"]]

    def last_worked_at(self, task: str, project: str = "repo") -> str:
        moving = [row["at"] for row in self.evidence(project, task) if row["kind"] in model.MOVING]
        return max(moving, default="")


def make(place: Path, size: float) -> Workload:
    writing.make(str(place), size)
    lines = (place / "truth.jsonl").read_text().splitlines()
    # The witness must not find it by chance.
    (place / "truth.jsonl").rename(place.parent / f"truth of {place.name}.jsonl")
    return Workload(place, [json.loads(line) for line in lines])


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """A small workload. It is only looked at."""
    return make(tmp_path_factory.mktemp("truth") / "small", SMALL)


class Watch(NamedTuple):
    """A witness of one project of a workload, with a store and an index of its own."""

    project: str
    store: port.Store
    witness: witness.Witness

    def life(self, task: str, *names: str) -> timeline.Timeline:
        return self.witness.timeline(ids.TaskKey("track", task), names)

    def lives(self, tasks: Iterable[str]) -> dict[str, timeline.Timeline]:
        """Those of many tasks, from one look at everything."""
        keys = [ids.TaskKey("track", task) for task in tasks]

        def read(connection: sqlite3.Connection) -> dict[str, timeline.Timeline]:
            return {key.id: timeline.read(connection, self.store, key, (key.id,)) for key in keys}

        return self.witness.ask(read)

    def named(self) -> set[str]:
        """Every task that anything in the index is about."""
        rows = self.witness.ask(
            lambda connection: connection.execute(
                "SELECT DISTINCT task_source, task FROM activities WHERE task <> ''"
            ).fetchall()
        )
        assert {source for source, _ in rows} == {"track"}
        return {task for _, task in rows}


def watch(work: Workload, project: str, own: Path, home: Path | None = None) -> Watch:
    """A witness that keeps what it finds in a directory."""
    own.mkdir(parents=True, exist_ok=True)
    repo = work.place / project
    store = sqlite.SqliteStore(workspace.find(str(repo), store_dir=str(own)), wait_seconds=10)
    store.ensure_writable()
    found = trails.witness_of(repo, home or work.place / "home", store, store_dir=own)
    return Watch(project, store, found)


@pytest.fixture(scope="session")
def here(small: Workload, tmp_path_factory: pytest.TempPathFactory) -> Watch:
    return watch(small, "repo", tmp_path_factory.mktemp("here"))


@pytest.fixture(scope="session")
def there(small: Workload, tmp_path_factory: pytest.TempPathFactory) -> Watch:
    return watch(small, "repo-two", tmp_path_factory.mktemp("there"))


# All of it


def expected(work: Workload, project: str) -> Seen:
    return collections.Counter(
        (row["task"], row["kind"], row["at"], row["source"], row["where"])
        for row in work.evidence(project)
    )


def place_of(activity: model.Activity, work: Workload) -> str:
    """Where an activity is from, as truth says it: a file of the workload, or a commit."""
    kind, _, rest = activity.pointer.partition(":")
    return rest if kind == "commit" else os.path.relpath(rest.partition("#")[0], work.place)


def seen(work: Workload, lives: Iterable[timeline.Timeline], copies: dict[str, str]) -> Seen:
    """What timelines say. A record that a resumed session repeats counts for its first file."""
    found: Seen = collections.Counter()
    for life in lives:
        for each in life.activities:
            where = place_of(each, work)
            key = (life.key.id, each.kind, each.at, each.source, copies.get(each.record, where))
            found[key] += 1
    return found


def repeated(work: Workload) -> dict[str, str]:
    """The records that stand in two files, by their uuids, with the file that truth names."""
    found: dict[str, str] = {}
    for row in work.rows:
        if row.get("trap") == "same_uuid_two_files":
            first, second = (_uuids(work.place / name) for name in row["files"])
            both = first & second
            assert len(both) >= row["records"] - 2  # some lines have no uuid
            # A session that was resumed twice has its records in three files.
            found = {**dict.fromkeys(both, row["files"][0]), **found}
    return found


def _uuids(path: Path) -> set[str]:
    lines = path.read_text().split("\n")[:-1]
    return {uuid for line in lines if (uuid := json.loads(line).get("uuid"))}


def compare(work: Workload, watched: Watch) -> int:
    """Hold everything that a witness says against the truth; how many records that were."""
    wanted = expected(work, watched.project)
    fated = {row["id"] for row in work.fates(watched.project)}
    # Sections and ids of old have evidence and no fate.
    tasks = sorted(fated | {key[0] for key in wanted})
    lives = watched.lives(tasks)
    found = seen(work, lives.values(), repeated(work))
    assert [*(wanted - found)][:5] == [*(found - wanted)][:5] == []
    assert watched.named() <= set(tasks)
    for row in work.fates(watched.project):
        assert lives[row["id"]].last_worked_at == row.get("last_worked_at", "")
    assert watched.witness.looked.problems == ()
    return sum(found.values())


@pytest.mark.proof(room="evidence")
def test_a_workload_is_told_as_it_happened(
    small: Workload, tmp_path: Path, figures: Figures
) -> None:
    """With `make proof` the whole one: half a million messages."""
    is_whole = scale.SCALE >= 1
    work = make(tmp_path / "workload", 1.0) if is_whole else small
    begin = time.monotonic()
    records = {
        project: compare(work, watch(work, project, tmp_path / f"own {project}"))
        for project in ("repo", "repo-two")
    }
    assert records["repo"] > 1500
    assert records["repo-two"] > 50
    figures.add(
        "a workload held against its truth",
        scale=1.0 if is_whole else SMALL,
        tasks=len(work.fates()) + len(work.fates("repo-two")),
        records=sum(records.values()),
        differences=0,
        seconds=round(time.monotonic() - begin),
    )


def test_two_witnesses_say_the_same_to_the_byte(
    small: Workload, here: Watch, tmp_path: Path
) -> None:
    tasks = sorted({row["task"] for row in small.evidence("repo")})
    first = repr(here.lives(tasks))
    other = watch(small, "repo", tmp_path / "other")
    assert repr(other.lives(tasks)) == first
    for watched in (here, other):
        watched.witness.start_over()
        assert repr(watched.lives(tasks)) == first
    # What the store has kept comes behind what can be opened.
    shutil.rmtree(tmp_path / "other")
    assert repr(watch(small, "repo", tmp_path / "other").lives(tasks)) == first


# Controls


def planted(small: Workload, own: Path) -> None:
    with pytest.raises(AssertionError):
        compare(small, watch(small, "repo", own))


def test_a_finder_that_takes_parts_of_ids_is_caught(
    small: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = patterns.Finder.find

    def find(self: patterns.Finder, text: str) -> list[patterns.Found]:
        found = exact(self, text)
        shorter = [each._replace(id=each.id.rpartition(".")[0]) for each in found]
        return found + [each for each in shorter if "." in each.id]

    monkeypatch.setattr(patterns.Finder, "find", find)
    planted(small, tmp_path / "own")


def test_a_reader_that_does_not_see_code_blocks_is_caught(
    small: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "_fenced", lambda _: [])
    planted(small, tmp_path / "own")


def test_a_reader_that_takes_lists_for_talk_is_caught(
    small: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "MANY", 1000)
    planted(small, tmp_path / "own")


def test_a_timeline_that_counts_copies_twice_is_caught(
    small: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "_once", list)
    planted(small, tmp_path / "own")


def test_a_reader_that_takes_times_without_a_zone_for_local_ones_is_caught(
    small: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = clock._zone
    berlin = zone("+0100")
    monkeypatch.setattr(clock, "_zone", lambda name: zone(name) if name else berlin)
    planted(small, tmp_path / "own")


def test_a_reader_of_everybodys_transcripts_is_caught(
    small: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tether.evidence import readers

    monkeypatch.setattr(readers, "_is_ours", lambda *_: True)
    planted(small, tmp_path / "own")


def test_an_index_that_lacks_one_record_is_caught(small: Workload, tmp_path: Path) -> None:
    watched = watch(small, "repo", tmp_path / "own")
    wanted = expected(small, "repo")
    lives = watched.lives({key[0] for key in wanted})
    assert seen(small, lives.values(), repeated(small)) == wanted
    some = next(life for life in lives.values() if life.activities)
    lives[some.key.id] = some._replace(activities=some.activities[1:])
    assert seen(small, lives.values(), repeated(small)) != wanted


# Traps: what texts say


def kinds(life: timeline.Timeline) -> set[str]:
    return {each.kind for each in life.activities}


def at(life: timeline.Timeline, moment: str) -> list[model.Activity]:
    return [each for each in life.activities if each.at == moment]


def assert_untouched(life: timeline.Timeline) -> None:
    """Nobody has worked on it, whatever was said."""
    assert kinds(life) <= {model.MENTIONED, model.LISTED}
    assert life.last_worked_at == ""


def test_near_ids_are_told_apart(small: Workload, here: Watch) -> None:
    [row] = small.laid("near_ids")
    for task in row["worked"]:
        assert model.WORKED in kinds(here.life(task))
        assert here.life(task).last_worked_at == small.last_worked_at(task) != ""
    for task in row["untouched"]:
        assert_untouched(here.life(task))


def test_a_section_is_none_of_its_tasks(small: Workload, here: Watch) -> None:
    rows = small.laid("section_mention_only")
    [commit] = [row for row in rows if not row["where"].startswith("home/")]
    [section] = {task for row in rows for task in row["tasks"]}
    moments = {row["at"] for row in small.evidence("repo", section)}
    below = [row["id"] for row in small.fates() if row["id"].startswith(f"{section}.")]
    assert below
    assert moments <= {each.at for each in here.life(section).activities}
    for life in here.lives(below).values():
        wheres = {each.pointer for each in life.activities if each.at in moments}
        assert f"commit:{commit['where']}" not in wheres
        assert life.last_worked_at == small.last_worked_at(life.key.id)


def test_an_id_in_a_code_block_is_listed(small: Workload, here: Watch) -> None:
    for row in small.laid("id_in_fenced_code"):
        [task] = row["tasks"]
        life = here.life(task)
        assert [each.kind for each in at(life, row["at"])] == [model.LISTED]
        assert_untouched(life)


def test_what_comes_next_is_listed(small: Workload, here: Watch) -> None:
    said, logged = small.laid("next_list", "home/.claude"), small.laid("next_list", "home/.cod")
    for row in said:
        for life in here.lives(row["tasks"]).values():
            assert {each.kind for each in at(life, row["at"])} == {model.LISTED}
            assert_untouched(life)
    for row in logged:
        for life in here.lives(row["tasks"]).values():
            found = [each for each in life.activities if place_of(each, small) == row["where"]]
            assert {each.kind for each in found} == {model.LISTED}
            assert_untouched(life)


def test_a_dashboard_is_a_list(small: Workload, here: Watch) -> None:
    for row in small.laid("dashboard"):
        assert len(row["tasks"]) > 5
        for life in here.lives(row["tasks"]).values():
            found = [each for each in life.activities if place_of(each, small) == row["where"]]
            assert {each.kind for each in found} == {model.LISTED}
            assert_untouched(life)


def test_a_list_of_everything_is_evidence_of_nothing(small: Workload, here: Watch) -> None:
    for row in small.laid("everything_listed"):
        assert in_record(small, here, row) == set()


def in_record(small: Workload, here: Watch, row: Row) -> set[str]:
    """The tasks that the index has from the record of a transcript that a trap is in."""
    path = str(small.place / row["where"])
    # The answer of a tool comes a little after its call.
    moments = [clock.text(clock.parse(row["at"]) + late) for late in (0, 40)]
    rows = here.witness.ask(
        lambda connection: connection.execute(
            "SELECT DISTINCT task FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
            " WHERE path = ? AND at IN (?, ?) AND task <> ''",
            (path, *moments),
        ).fetchall()
    )
    return {task for (task,) in rows}


def test_versions_are_no_ids(small: Workload, here: Watch) -> None:
    for row in small.laid("version_strings"):
        # Only a certificate looks like a task.
        assert in_record(small, here, row) == {"X.509"}
        assert kinds(here.life("X.509")) == {model.MENTIONED}
    for word in ("A.0.1", "H2.1.0", "U.S.", "v2.1.0", "2.1.1"):
        assert patterns.Finder(patterns.Kinds(("work", "track"))).find(word) == []


# Traps: task lists


def listing(life: timeline.Timeline) -> list[model.Activity]:
    return [each for each in life.activities if each.source == "git:list"]


def test_files_in_small_letters_are_lists_too(small: Workload, here: Watch) -> None:
    for row in small.laid("lower_case_files"):
        assert Path(row["where"]).name.startswith("track-aa")
        for task in row["tasks"]:
            life = here.life(task)
            assert (listing(life)[0].kind, listing(life)[0].what) == (model.LISTED, "listed as new")
            assert life.last_worked_at == small.last_worked_at(task)


def test_boxes_of_all_kinds_are_read(small: Workload, here: Watch) -> None:
    [row] = small.laid("odd_boxes")
    said = {"X": "listed as done", "~": "listed as in_progress", "-": "listed as cancelled"}
    assert row["boxes"].keys() == said.keys()
    for mark, task in row["boxes"].items():
        life = here.life(task)
        assert [each.what for each in listing(life)] == [said[mark]]
        # That it came into Git with its box ticked tells nothing of when that was done.
        assert [each.kind for each in listing(life)] == [model.LISTED]


def test_bold_ids_are_ids(small: Workload, here: Watch) -> None:
    for row in small.laid("bold_ids"):
        for task in row["tasks"]:
            assert f"**{task}**" in (small.place / "repo" / row["where"]).read_text()
            assert listing(here.life(task))[0].kind == model.LISTED


def test_a_box_in_a_code_block_is_none(small: Workload, here: Watch) -> None:
    for task in small.tasks("checkbox_in_code_fence"):
        assert here.life(task).activities == ()


def test_a_task_has_the_life_of_its_old_id(
    small: Workload, here: Watch, tether: Tether, tmp_path: Path
) -> None:
    rows = small.laid("consolidated_ids")
    [old] = {task for row in rows for task in row["tasks"]}
    lists = finding.read(str(small.place / "repo"), ("track",))
    new = lists.resolve(ids.TaskKey("track", old)).id
    assert new != old
    assert new in {row["id"] for row in small.fates()}
    life = here.life(new, old)
    alone = here.life(new)
    more = [each for each in life.activities if each.task == old]
    assert [(each.source, each.kind) for each in more] == [
        ("claude:transcript", model.MENTIONED),
        ("git:commit", model.WORKED),
    ]
    assert set(life.activities) == {*alone.activities, *more}
    assert life.last_worked_at == max(alone.last_worked_at, more[-1].at)
    # On the command line either name leads there.
    env = {"HOME": str(small.place / "home"), "TETHER_STORE_DIR": str(tmp_path / "store")}
    for word in (new, old):
        told = tether("timeline", word, "--json", cwd=small.place / "repo", env=env).json
        assert (told["task"]["id"], told["task"]["aliases"]) == (new, [old])
        assert told["last_worked_at"] == life.last_worked_at
        assert len(told["activities"]) == len(life.activities)


def test_two_projects_may_have_the_same_ids(small: Workload, here: Watch, there: Watch) -> None:
    [row] = small.laid("same_id_two_projects")
    assert len(row["tasks"]) > 5
    ours, theirs = here.lives(row["tasks"]), there.lives(row["tasks"])
    for task in row["tasks"]:
        pointers = {each.pointer for each in ours[task].activities}
        assert pointers.isdisjoint(each.pointer for each in theirs[task].activities)
        assert ours[task].last_worked_at == small.last_worked_at(task, "repo")
        assert theirs[task].last_worked_at == small.last_worked_at(task, "repo-two")
    assert any(ours[task].last_worked_at != theirs[task].last_worked_at for task in row["tasks"])


# Traps: clocks


def test_times_without_a_zone_are_utc(small: Workload, here: Watch) -> None:
    [row] = [row for row in small.laid("naive_times") if "tasks" in row]
    [task] = row["tasks"]
    assert ("stated", "2026-11-06T09:00:00.000Z") in logged(here.life(task), small, row)
    # As SQLite's own function writes them.
    with sqlite3.connect(small.place / _OLD_MESSAGES) as database:
        [[stamp, payload]] = database.execute(
            "SELECT created_at, payload FROM inter_session_messages"
            " WHERE payload LIKE '%\"task_id\"%' ORDER BY id LIMIT 1"
        )
    database.close()
    life = here.life(json.loads(payload)["task_id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", stamp)
    assert [each.kind for each in at(life, f"{stamp.replace(' ', 'T')}.000Z")] == [model.STATED]


def logged(life: timeline.Timeline, work: Workload, row: Row) -> list[tuple[str, str]]:
    found = [each for each in life.activities if place_of(each, work) == row["where"]]
    return [(each.kind, each.at) for each in found]


def test_times_with_a_zone_are_taken_at_their_word(small: Workload, here: Watch) -> None:
    [row] = small.laid("z_times")
    [task] = row["tasks"]
    assert ("stated", "2026-11-06T10:00:00.000Z") in logged(here.life(task), small, row)


def test_an_hour_that_comes_twice_is_two_hours(small: Workload, here: Watch) -> None:
    rows = small.laid("dst")
    moments = ("2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z")
    text = (small.place / rows[0]["where"]).read_text()
    assert "### 2026-10-25T02:30:00+02:00" in text
    assert "### 2026-10-25T02:30:00+01:00" in text
    for row, moment in zip(rows, moments, strict=True):
        [task] = row["tasks"]
        assert ("stated", moment) in logged(here.life(task), small, row)


def test_a_clock_that_is_ahead_is_taken_at_its_word(small: Workload, here: Watch) -> None:
    for row in small.laid("clock_skew_ahead"):
        assert_skewed(small, here, row["session"])


def test_a_clock_that_is_behind_is_taken_at_its_word(small: Workload, here: Watch) -> None:
    rows = small.laid("clock_skew_behind")
    for row in rows:
        if "session" in row:
            assert_skewed(small, here, row["session"])
        else:
            # Made by a clock that was three hours late, and ordered by it.
            life = here.life(*row["tasks"])
            [commit] = [e for e in life.activities if e.pointer == f"commit:{row['where']}"]
            assert commit.kind == model.MENTIONED
            assert commit.at == "2026-10-31T07:00:00.000Z"
    assert len(rows) == 2


def assert_skewed(small: Workload, here: Watch, session: str) -> None:
    """What a session says has the times of its own clock, and lives stay in order."""
    said = [row for row in small.evidence("repo") if row["where"].endswith(f"/{session}.jsonl")]
    assert said
    for task in {row["task"] for row in said}:
        life = here.life(task)
        own = [each.at for each in life.activities if each.session == session]
        told = [row["at"] for row in said if row["task"] == task]
        logs = [
            row["at"] for row in small.evidence("repo", task) if row["source"] == "coditect:log"
        ]
        assert not collections.Counter(told) - collections.Counter(own)
        assert set(own) <= {*told, *logs}
        assert [each.at for each in life.activities] == sorted(e.at for e in life.activities)
        assert life.last_worked_at == small.last_worked_at(task)


# Traps: transcripts


def test_a_torn_line_says_nothing_yet(small: Workload, here: Watch) -> None:
    for row in small.laid("truncated_line"):
        raw = (small.place / row["where"]).read_bytes()
        whole = raw.rfind(b"\n") + 1
        assert len(raw) > whole
        for task in filter(None, row["tasks"]):
            assert task.encode() in raw[whole:]
            life = here.life(task)
            found = [each for each in life.activities if place_of(each, small) == row["where"]]
            ends = [int(each.pointer.rpartition("-")[2]) for each in found]
            assert max(ends) < whole
            assert life.last_worked_at == small.last_worked_at(task)
            assert not any("Build" in each.text for each in found)


def test_a_subagent_works_for_the_session_that_started_it(small: Workload, here: Watch) -> None:
    [row] = small.laid("sidechain")
    name = Path(row["where"])
    parent = name.parts[-3]
    for task in row["tasks"]:
        life = here.life(task)
        found = [each for each in life.activities if place_of(each, small) == row["where"]]
        assert {each.session for each in found} == {f"{parent}.{name.stem}"}
        assert {each.kind for each in found} == {model.WORKED, model.MENTIONED}
        [session] = [each for each in life.sessions if each.session == f"{parent}.{name.stem}"]
        assert session.parent == parent


def test_a_record_in_two_files_counts_once(small: Workload, here: Watch) -> None:
    [row] = small.laid("same_uuid_two_files")
    copies = repeated(small)
    rows = here.witness.ask(
        lambda connection: connection.execute(
            "SELECT record, task, kind, what FROM activities WHERE task <> ''"
        ).fetchall()
    )
    twice = [each for each, number in collections.Counter(rows).items() if number == 2]
    assert {record for record, *_ in twice} <= copies.keys()
    assert twice  # the index has each file as it is
    for record, task, kind, what in twice:
        life = here.life(task)
        found = [(e.kind, e.what) for e in life.activities if e.record == record]
        assert found.count((kind, what)) == 1
        assert {place_of(e, small) for e in life.activities if e.record == record} <= {
            *row["files"]
        }


# Traps: what others clean up


def test_claims_that_were_cleaned_up_left_other_traces(small: Workload, here: Watch) -> None:
    tasks = small.tasks("claims_deleted_by_cleanup")
    for task in tasks:
        life = here.life(task)
        assert "claimed" not in {each.what for each in life.activities}
        assert life.last_worked_at == small.last_worked_at(task) != ""
        claims = next(row["claims"] for row in small.fates() if row["id"] == task)
        # A message knows whole seconds only.
        assert life.last_worked_at[:19] >= claims[-1]["start"][:19]
    assert tasks


def test_claims_that_were_seen_are_kept(small: Workload, tmp_path: Path) -> None:
    """Seen once, a claim counts: also when its row is gone, and the index with it."""
    home = tmp_path / "home"
    place = home / ".coditect-data" / "context-storage"
    place.mkdir(parents=True)
    shutil.copy(small.place / _MESSAGES, place)
    watched = watch(small, "repo", tmp_path / "own", home)
    task = small.tasks("pid_reuse")[0]
    before = told(watched.life(task))
    assert {"claimed", "started"} <= {each.what for each in before}
    database = sqlite3.connect(place / "messaging.db", isolation_level=None)
    database.execute("DELETE FROM task_claims")
    database.execute("DELETE FROM session_messages")
    database.close()
    assert told(watched.life(task)) == before
    watched.witness.start_over()
    assert told(watched.life(task)) == before
    (place / "messaging.db").unlink()
    assert told(watched.life(task)) == before
    # The control: nobody who comes later can know.
    late = watch(small, "repo", tmp_path / "late", home)
    assert "claimed" not in {each.what for each in told(late.life(task))}


def told(life: timeline.Timeline) -> list[model.Activity]:
    """All but the lists, which nobody keeps for others."""
    return [each for each in life.activities if each.kind != model.LISTED]


def test_expired_broadcasts_count_while_they_are_there(small: Workload, here: Watch) -> None:
    [row] = small.laid("ttl_expired_broadcasts")
    rows = [each for each in small.evidence("repo") if each["where"] == row["where"]]
    assert {each["kind"] for each in rows} == {"stated"}
    for each in rows:
        found = at(here.life(each["task"]), each["at"])
        assert (each["kind"], each["source"]) in {(one.kind, one.source) for one in found}
    for task in row["deleted"]:
        # What was deleted is not missed: there are other traces.
        assert here.life(task).last_worked_at == small.last_worked_at(task) != ""


# Traps that others judge: the evidence is there


def claimed(small: Workload, here: Watch, row: Row) -> None:
    for task in row["tasks"]:
        claims = [each for each in here.life(task).activities if each.what == "claimed"]
        assert [(each.kind, each.session) for each in claims] == [(model.STATED, row["session"])]
        rows = small.evidence("repo", task)
        assert claims[0].at in {each["at"] for each in rows if each["where"] == _MESSAGES}


def test_the_claim_of_a_process_id_that_came_again_is_there(small: Workload, here: Watch) -> None:
    for row in small.laid("pid_reuse"):
        claimed(small, here, row)


def test_the_claim_of_another_users_process_is_there(small: Workload, here: Watch) -> None:
    for row in small.laid("eperm"):
        claimed(small, here, row)


def test_the_last_work_before_a_pause_is_there(small: Workload, there: Watch) -> None:
    [row] = small.laid("project_pause")
    for task, life in there.lives(row["tasks"]).items():
        assert model.WORKED in kinds(life)
        assert life.last_worked_at == small.last_worked_at(task, "repo-two") < "2026-11-01"


def test_a_bulk_close_is_one_commit_for_many(small: Workload, here: Watch) -> None:
    [row] = small.laid("bulk_close")
    assert len(row["tasks"]) > 5
    for task, life in here.lives(row["tasks"]).items():
        [closed] = [e for e in life.activities if e.pointer == f"commit:{row['where']}"]
        assert (closed.source, closed.kind, closed.what) == ("git:list", model.STATED, "ticked")
        assert life.last_worked_at == small.last_worked_at(task)


def test_what_a_clone_left_behind_took_back_is_there(small: Workload, here: Watch) -> None:
    exported, restored = small.laid("stale_clone_reexport")
    assert exported["tasks"] == restored["tasks"] != []
    for task, life in here.lives(exported["tasks"]).items():
        moves = [(each.what, each.pointer) for each in listing(life)]
        taken = moves.index(("reopened", f"commit:{exported['where']}"))
        given = moves.index(("ticked", f"commit:{restored['where']}"))
        assert taken < given
        assert "ticked" in [what for what, _ in moves[:taken]]
        assert life.last_worked_at == small.last_worked_at(task)


def test_work_after_a_deferral_is_there(small: Workload, here: Watch) -> None:
    for task in small.tasks("deferred_then_touched"):
        life = here.life(task)
        deferred = [e.at for e in life.activities if e.text.endswith("defer it")]
        later = [e for e in life.activities if e.kind == model.WORKED and e.at > deferred[-1]]
        assert later
        assert life.last_worked_at == small.last_worked_at(task) >= later[-1].at


def test_every_trap_has_a_test_here() -> None:
    text = Path(__file__).read_text()
    named = re.findall(r'\.(?:laid|tasks)\(\s*"([a-z_]+)"', text)
    assert set(named) == set(traps.NAMES)
