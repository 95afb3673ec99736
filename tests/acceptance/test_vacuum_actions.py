"""What becomes of an orphan: `tether vacuum adopt, defer, cancel, complete`, as real processes."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import agency
from tests.acceptance.test_vacuum_cli import (
    ago,
    drop,
    names,
    open_types,
    opened,
    rows,
    tick,
    told,
    work,
)
from tests.conftest import Ended, Tether
from tests.scenes import BY_HAND, OTHER, PERSON, SESSION, TRACK, Git, Scene, agent
from tether import clock, ids, text
from tether.agents import claims, model
from tether.store import port, sql
from tether.vacuum import model as vacuum
from tether.vacuum import reports

OWN = "T20261115-abc123"
INBOX = f"work/inbox/{OWN}.yaml"
TASK = "track:H.1.1"
KEY = ids.TaskKey("track", "H.1.1")
DEFERRALS = sql.Query("deferrals", "", "SELECT * FROM deferrals ORDER BY id")
UNTIL = sql.Query("until", "", "UPDATE deferrals SET until = :until")
MESSAGES = sql.Query("messages", "", "SELECT * FROM messages ORDER BY id")
Sleeper = subprocess.Popen[bytes]


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    """A track with three tasks, a task file, all committed, and a store."""
    scene = Scene(repo, environ, git, tether)
    scene.write(INBOX, f"id: {OWN}\ntitle: Own it\nagent: ''\nstatus: new\n")
    scene.plan("- [ ] H.1.1 Build it", "- [ ] H.1.2 Test it", "- [ ] H.1.3 Paint it")
    scene.make_store()
    return scene


@pytest.fixture
def process() -> Iterator[Sleeper]:
    """Lives until the end of the test, or until it is killed."""
    started = agency.sleeper()
    yield started
    agency.end(started)


def claim_of(scene: Scene, key: ids.TaskKey = KEY) -> model.Claim:
    with opened(scene) as store:
        found = claims.last_of(store.rows, key)
    assert found is not None
    return found


def resolutions(scene: Scene, task: str = "H.1.1") -> list[tuple[str, str | None, str | None]]:
    return [
        (each["orphan_type"], each["resolution"], each["resolved_by"])
        for each in rows(scene)
        if each["task_id"] == task
    ]


def everything(scene: Scene) -> list[Any]:
    """All that an action could change: claims, findings, deferrals, messages, files."""
    status = scene.git("status", "--porcelain", cwd=scene.repo)
    with opened(scene) as store:
        table = claims.all_ones(store.rows, 1000)
        kept = [store.rows(query) for query in (DEFERRALS, MESSAGES)]
    open_claims = [(each.key, each.epoch, each.session_id, each.outcome) for each in table]
    return [open_claims, rows(scene), *kept, status]


def refused(scene: Scene, *words: str, who: dict[str, str] | None = None) -> dict[str, Any]:
    """The error of an action that changes nothing."""
    before = everything(scene)
    ended = scene.run("vacuum", *words, "--json", who=who)
    assert ended.code != 0, ended
    assert everything(scene) == before
    error: dict[str, Any] = ended.json["error"]
    return {**error, "exit": ended.code}


# Adopt


def test_what_a_killed_one_had_is_adopted(scene: Scene) -> None:
    drop(scene)
    before = claim_of(scene)
    scene.done("agent", "register", "--session", "s-3", "--name", "bo")
    scene.done("vacuum")
    assert open_types(scene, "H.1.1") == ["dead_claim"]
    page = scene.done("vacuum", "adopt", "H.1.1").out
    after = claim_of(scene)
    assert (after.agent_name, after.epoch, after.closed_at) == ("ada", before.epoch + 1, None)
    assert page.startswith(f"{TASK} is yours")
    assert f"epoch {after.epoch}" in page
    assert "Taken over from other-6666 (dead: there is no process " in page
    assert "Where it stopped:\n  other-6666 claimed it at " in page, "its packet"
    assert resolutions(scene) == [("dead_claim", "adopted", "ada")]
    inbox = scene.done("inbox", "--json", who=agent("s-3")).json["messages"]
    told_of = [each for each in inbox if "ada has adopted" in each["body"]["text"]]
    assert len(told_of) == 1
    assert told_of[0]["body"]["text"] == f"ada has adopted {TASK} (dead claim)."
    assert "H.1.1" not in names(told(scene)["orphans"])


def test_programs_get_the_claim_and_the_packet(scene: Scene) -> None:
    drop(scene)
    scene.done("vacuum", "--quick")
    value = scene.done("vacuum", "adopt", TASK, "--json", who=agent("s-3")).json["adopt"]
    assert (value["task"], value["settled"], value["go_on_in"]) == (TASK, ["dead_claim"], None)
    assert (value["claim"]["adopted"], value["claim"]["session_id"]) == (True, "s-3")
    assert "H.1.1" in value["handoff"]["sections"]["task"][0]["text"]
    assert "untrusted" in value


def test_an_agent_gets_the_packet_inside_a_fence(scene: Scene) -> None:
    drop(scene)
    page = scene.done("vacuum", "adopt", TASK, who=agent("s-3")).out
    head, _, fenced = page.partition("<<tether-fence")
    assert "is yours" in head
    assert "Where it stopped:" in fenced
    assert all(line.startswith("|") for line in fenced.strip().split("\n")[2:-1])


def stopped(scene: Scene, *words: str, who: dict[str, str] | None = None) -> list[str]:
    """What a packet says of where a task stopped."""
    verb = "adopt" if words[0] == "vacuum" else words[0]
    value = scene.done(*words, "--json", who=who).json[verb]
    sections = value["handoff"]["sections"] if verb == "adopt" else value["sections"]
    return [line["text"] for line in sections["stopped"]]


@pytest.mark.parametrize("who", [PERSON, agent("s-3")], ids=["person", "agent"])
def test_to_adopt_is_no_work(scene: Scene, who: dict[str, str]) -> None:
    """Where it stopped is where those before stopped, also for who asks a moment later."""
    at = ago(9)
    scene.commit("feat(H.1.1): Lay the ground", "a.py", at_ms=at)
    drop(scene)
    claimed = sql.Query("back", "", "UPDATE events SET at = :at WHERE type = 'claim_taken'")
    with opened(scene) as store:
        store.write("test", lambda one: one.rows(claimed, at=clock.text(at)))
    last = f"Last worked on {text.minute(clock.text(at))}."
    for words in (("vacuum", "adopt", TASK), ("handoff", TASK), ("vacuum", "adopt", TASK)):
        found = stopped(scene, *words, who=who)
        assert found[0].startswith("other-6666 claimed it at "), words
        assert found[1:] == [last], words


def test_where_nobody_worked_the_adopter_is_told_so(scene: Scene) -> None:
    silent = "Nothing shows work on it: no commit, no session, no claim."
    talk = scene.talk("s-3")
    talk.says("I take up H.1.1 now.")
    assert stopped(scene, "vacuum", "adopt", TASK, who=agent("s-3")) == [silent]
    scene.done("claim", OWN)
    own, nobody = stopped(scene, "handoff", OWN)
    assert own.startswith("ada claimed it at ")
    assert nobody == "Nobody has worked on it, as far as anything shows."


def test_what_the_adopter_does_then_is_work(scene: Scene) -> None:
    drop(scene)
    talk = scene.talk("s-3")
    scene.done("vacuum", "adopt", TASK, who=agent("s-3"))
    at = talk.edits(str(scene.repo / "house.py"))
    last = f"Last worked on {text.minute(at)}."
    found = stopped(scene, "handoff", TASK, who=agent("s-3"))
    assert found[0].startswith("other-s3 claimed it at ")
    assert found[1] == last
    assert last in stopped(scene, "vacuum", "adopt", TASK, who=agent("s-3"))


def test_a_packet_is_as_short_as_wanted(scene: Scene) -> None:
    drop(scene)
    assert scene.done("vacuum", "adopt", TASK, "--budget", "200").code == 0
    assert scene.run("vacuum", "adopt", TASK, "--budget", "1").code == 2


def test_a_task_with_a_file_is_adopted_with_its_file(scene: Scene) -> None:
    drop(scene, OWN)
    [left] = (scene.repo / "work" / "assigned").glob(f"*/{OWN}.yaml")
    scene.done("vacuum")
    page = scene.done("vacuum", "adopt", OWN).out
    assert f"in_progress  work/assigned/ada/{OWN}.yaml" in page
    assert not left.exists()
    assert resolutions(scene, OWN) == [("dead_claim", "adopted", "ada")]


def test_what_was_swept_away_is_adopted_all_the_same(scene: Scene) -> None:
    drop(scene)
    with opened(scene) as store:
        agency.silence(store, OTHER, 600)
    scene.done("sweep")
    assert claim_of(scene).closed_at is not None
    assert scene.done("orient", "--json").json["orient"]["orphans"]["total"] == 1
    value = scene.done("vacuum", "adopt", TASK, "--json").json["adopt"]
    assert (value["settled"], claim_of(scene).agent_name) == (["dead_claim"], "ada")


def test_a_living_owner_keeps_it(scene: Scene, process: Sleeper) -> None:
    scene.done("claim", TASK, who=agent(TETHER_PID=str(process.pid)))
    scene.done("claim", "H.1.2")
    error = refused(scene, "adopt", TASK)
    assert (error["exit"], error["code"]) == (4, "taken")
    holder = error["holder"]
    assert (holder["session_id"], holder["verdict"]) == (SESSION, "alive")
    assert str(process.pid) in holder["reason"]
    ended = scene.run("vacuum", "adopt", TASK)
    assert "(alive: " in ended.err
    assert ended.out == ""


def test_what_is_done_already_is_not_adopted(scene: Scene) -> None:
    scene.done("claim", OWN)
    scene.done("finish", OWN)
    assert refused(scene, "adopt", OWN)["exit"] != 0


@pytest.mark.parametrize("box", ["x", "-"])
def test_what_its_list_says_is_over_is_not_adopted(scene: Scene, box: str) -> None:
    tick(scene, "H.1.1", box)
    assert refused(scene, "adopt", TASK)["exit"] != 0


def test_work_in_another_worktree_goes_on_there(scene: Scene) -> None:
    there = scene.repo.parent / "there"
    scene.git("worktree", "add", "-q", "-b", "topic", str(there), cwd=scene.repo)
    process = agency.sleeper()
    scene.done("claim", OWN, who=agent(TETHER_PID=str(process.pid)), cwd=there)
    agency.end(process)
    page = scene.done("vacuum", "adopt", OWN).out
    assert f"It was begun in {there}: go on there, or use --here." in page
    assert scene.git("status", "--porcelain", cwd=scene.repo) == "", "nothing changes here"
    assert (scene.repo / INBOX).exists()
    held = claim_of(scene, ids.TaskKey("work", OWN))
    assert (held.agent_name, held.closed_at) == ("ada", None)
    page = scene.done("vacuum", "adopt", OWN, "--here").out
    assert "go on there" not in page
    assert (scene.repo / f"work/assigned/ada/{OWN}.yaml").exists()


def test_to_adopt_twice_changes_no_file_either(scene: Scene) -> None:
    """An agent that has lost the thread repeats the command; only --here starts over here."""
    there = scene.repo.parent / "there"
    scene.git("worktree", "add", "-q", "-b", "topic", str(there), cwd=scene.repo)
    process = agency.sleeper()
    scene.done("claim", OWN, who=agent(TETHER_PID=str(process.pid)), cwd=there)
    agency.end(process)
    for _ in range(2):
        value = scene.done("vacuum", "adopt", OWN, "--json").json["adopt"]
        assert value["go_on_in"] == str(there)
        assert scene.git("status", "--porcelain", cwd=scene.repo) == ""


def test_a_task_of_a_list_goes_on_in_its_worktree_too(scene: Scene) -> None:
    there = scene.repo.parent / "there"
    scene.git("worktree", "add", "-q", "-b", "topic", str(there), cwd=scene.repo)
    process = agency.sleeper()
    scene.done("claim", TASK, who=agent(TETHER_PID=str(process.pid)), cwd=there)
    agency.end(process)
    assert scene.done("vacuum", "adopt", TASK, "--json").json["adopt"]["go_on_in"] == str(there)
    scene.git("worktree", "remove", "--force", str(there), cwd=scene.repo)
    again = scene.done("vacuum", "adopt", TASK, "--json", who=PERSON).json["adopt"]
    assert again["go_on_in"] is None, "it is gone"


def test_the_flags_of_the_seed_do_the_same(scene: Scene) -> None:
    for task in ("H.1.1", "H.1.2", "H.1.3"):
        drop(scene, task)
    scene.done("vacuum", "--quick")
    adopted = scene.done("vacuum", "--adopt", "H.1.1", "--json").json["adopt"]
    deferred = scene.done("vacuum", "--defer", "H.1.2", "--json").json["defer"]
    assert (adopted["settled"], deferred["settled"]) == (["dead_claim"], 1)
    assert refused(scene, "--cancel", "H.1.3")["code"] == "usage", "nobody can be asked"
    completed = scene.done("vacuum", "--complete", "H.1.3", "--json").json["complete"]
    assert completed["settled"] == ["dead_claim"]
    found = {each["task_id"]: each["resolution"] for each in rows(scene)}
    assert found == {"H.1.1": "adopted", "H.1.2": "deferred", "H.1.3": "completed"}


# Names


@pytest.mark.parametrize("verb", ["adopt", "defer", "cancel", "complete"])
def test_a_slip_of_a_name_is_asked_back(scene: Scene, verb: str) -> None:
    for word in ("H.1.11", "track:H.1.11"):
        error = refused(scene, verb, word)
        assert (error["exit"], error["code"]) == (5, "not_found"), word
        assert "Did you mean H.1.1" in error["hint"], word


@pytest.mark.parametrize("verb", ["adopt", "defer", "cancel", "complete"])
def test_what_nobody_knows_is_no_orphan(scene: Scene, verb: str) -> None:
    for word in ("Q.7.7", "T20200101-zzzzzz", "work:nothing"):
        assert refused(scene, verb, word)["exit"] == 5, word


def without_files(scene: Scene) -> None:
    """Have no task with a file: there `tether claim` holds a mere name."""
    shutil.rmtree(scene.repo / "work")
    scene.commit("Without files")


def test_what_nobody_knows_is_not_adopted_where_no_task_has_a_file(scene: Scene) -> None:
    """Nobody can have dropped it."""
    scene.plan("## H.1: House", "", "- [ ] H.1.1 Build it")
    without_files(scene)
    for word in ("Q.7.7", "H.1.9", "H.1", "work:H.1.9"):
        error = refused(scene, "adopt", word)
        assert (error["exit"], error["code"]) == (5, "not_found"), word
        assert error["hint"] == "See the tasks with `tether task list`.", word
    assert scene.done("claim", "Q.7.7").out.startswith("Q.7.7 is yours")


def test_a_mere_name_that_somebody_had_is_adopted(scene: Scene) -> None:
    without_files(scene)
    drop(scene, "Q.7.7")
    assert scene.done("vacuum", "adopt", "Q.7.7").out.startswith("Q.7.7 is yours")


def test_what_only_another_list_has_is_adopted(scene: Scene) -> None:
    """On another branch it is a task, and may be taken up here, too."""
    scene.git("checkout", "-qb", "side", cwd=scene.repo)
    scene.plan("- [ ] H.1.1 Build it", "- [ ] H.2.7 Heat it")
    scene.git("checkout", "-q", "main", cwd=scene.repo)
    without_files(scene)
    scene.done("timeline", "H.1.1")  # the index has read the lists of all branches
    assert scene.done("vacuum", "adopt", "H.2.7").out.startswith("track:H.2.7 is yours")


# Defer


def deferrals(scene: Scene) -> list[port.Row]:
    with opened(scene) as store:
        return store.rows(DEFERRALS)


def test_what_was_deferred_is_no_orphan(scene: Scene) -> None:
    drop(scene)
    scene.done("vacuum")
    said = scene.done("vacuum", "defer", "H.1.1", "--why", "After the fair").out
    assert said == f"{TASK} has time until somebody touches it; 1 finding settled.\n"
    assert resolutions(scene) == [("dead_claim", "deferred", "ada")]
    [row] = deferrals(scene)
    assert (row["scope"], row["source"], row["name"]) == ("task", "track", "H.1.1")
    assert (row["deferred_by"], row["why"], row["until"]) == ("ada", "After the fair", None)
    value = told(scene, "--all")
    assert ("H.1.1" in names(value["orphans"]), value["counts"]["deferred"]) == (False, 1)
    assert "1 deferred" in scene.done("vacuum").out
    assert told(scene, "--quick")["orphans"] == []
    assert scene.done("orient", "--json").json["orient"]["orphans"]["total"] == 0


@pytest.mark.parametrize(
    ("words", "scope"),
    [
        (("H",), "track"),
        (("h", "--track"), "track"),
        (("repo",), "project"),
        (("repo", "--project"), "project"),
    ],
)
def test_a_whole_track_and_the_project_are_deferred(
    scene: Scene, words: tuple[str, ...], scope: str
) -> None:
    drop(scene, "H.1.1")
    drop(scene, "H.1.2", SESSION)
    scene.done("vacuum")
    value = scene.done("vacuum", "defer", *words, "--json").json["defer"]
    assert (value["scope"], value["name"]) == (scope, "H" if scope == "track" else "repo")
    assert value["settled"] >= 2
    assert resolutions(scene, "H.1.1") == [("dead_claim", "deferred", "ada")]
    swept = told(scene, "--all")
    assert (swept["orphans"], swept["counts"]["deferred"]) == ([], 2)


@pytest.mark.parametrize("name", ["H", "repo"])
def test_what_is_deferred_as_a_whole_is_no_orphan_at_once_either(scene: Scene, name: str) -> None:
    """What the store alone can tell, in `vacuum --quick`, `orient` and `next`."""
    drop(scene)
    scene.done("vacuum", "defer", name)
    assert told(scene, "--quick")["orphans"] == []
    orient = scene.done("orient", "--json").json["orient"]
    assert orient["orphans"]["total"] == 0
    task = scene.done("next", "--json").json["task"]
    assert task is None or task["orphan"] is None


def test_a_deferral_has_a_day(scene: Scene) -> None:
    far = clock.text(ago(-400))[:10]
    before = clock.SystemClock().now_ms()
    for until, least, most in (
        ("30d", before + 30 * vacuum.DAY_MS, clock.SystemClock().now_ms() + 31 * vacuum.DAY_MS),
        (far, clock.parse(f"{far}T00:00:00Z"), clock.parse(f"{far}T00:00:00Z")),
        (f"{far}T12:00:00Z", clock.parse(f"{far}T12:00:00Z"), clock.parse(f"{far}T12:00:00Z")),
    ):
        scene.done("vacuum", "defer", "H.1.1", "--until", until)
        [row] = deferrals(scene)
        assert least <= clock.parse(row["until"]) <= most, until
    assert f"has time until {far} 12:00Z" in (
        scene.done("vacuum", "defer", "H.1.1", "--until", f"{far}T12:00:00Z").out
    )


@pytest.mark.parametrize(
    "until", ["2020-01-01", "2020-01-01T00:00:00Z", "2026-13-01", "soon", "-3d"]
)
def test_a_day_that_is_none_or_has_passed_is_refused(scene: Scene, until: str) -> None:
    error = refused(scene, "defer", "H.1.1", f"--until={until}")
    assert (error["exit"], error["code"]) == (2, "usage")
    if until.startswith("2020"):
        assert error["hint"] == "Give a day to come, or a while from now: --until 30d."


def test_what_is_over_has_no_time(scene: Scene) -> None:
    scene.done("vacuum", "defer", OWN)
    tick(scene, "H.1.1")
    tick(scene, "H.1.2", "-")
    scene.done("claim", OWN)
    scene.done("finish", OWN)
    for task, state in (("H.1.1", "done"), ("H.1.2", "cancelled"), (OWN, "done")):
        error = refused(scene, "defer", task)
        assert (error["exit"], error["code"]) == (3, "not_allowed"), task
        assert f"is {state}, so there is nothing to defer." in error["message"], task
    scene.done("vacuum", "defer", OWN, "--end")


def test_a_reason_has_a_length_and_no_secrets(scene: Scene) -> None:
    assert refused(scene, "defer", "H.1.1", "--why", "a" * 1001)["exit"] == 2
    scene.done("vacuum", "defer", "H.1.1", "--why", "with ghp_" + "a1B2c3D4e5F6" * 3)
    [row] = deferrals(scene)
    assert row["why"].startswith("with ")
    assert "ghp_a1B2" not in row["why"]


def test_a_deferral_is_ended_by_hand(scene: Scene) -> None:
    drop(scene)
    scene.done("vacuum", "defer", "H.1.1")
    ended = scene.done("vacuum", "defer", "H.1.1", "--end").out
    assert ended == f"The deferral of {TASK} has ended.\n"
    assert names(told(scene)["orphans"]) == ["H.1.1"]
    [row] = deferrals(scene)
    assert (row["ended_at"] is not None, row["ended_why"]) == (True, "somebody said so")
    assert refused(scene, "defer", "H.1.1", "--end")["exit"] == 5


def test_a_deferral_ends_when_its_day_comes(scene: Scene) -> None:
    drop(scene)
    scene.done("vacuum", "defer", "H.1.1", "--until", "30d")
    assert told(scene)["orphans"] == []
    with opened(scene) as store:
        past = clock.text(ago(0))
        store.write("test", lambda transaction: transaction.rows(UNTIL, until=past))
    assert names(told(scene, "--quick")["orphans"]) == ["H.1.1"]
    assert names(told(scene)["orphans"]) == ["H.1.1"]
    [row] = deferrals(scene)
    assert row["ended_why"] == "its day has come"


def test_a_deferral_ends_when_somebody_touches_it(scene: Scene) -> None:
    drop(scene)
    scene.done("vacuum", "defer", "H.1.1")
    assert told(scene)["orphans"] == []
    drop(scene, session="s-9")
    assert names(told(scene, "--quick")["orphans"]) == ["H.1.1"]
    assert names(told(scene)["orphans"]) == ["H.1.1"]
    [row] = deferrals(scene)
    assert row["ended_why"] == "it was touched"


def test_a_commit_is_a_touch(scene: Scene) -> None:
    work(scene, "H.1.1", 9)
    drop(scene, "H.1.2")
    assert "H.1.1" in names(told(scene)["orphans"])
    scene.done("vacuum", "defer", "H.1.1")
    assert "H.1.1" not in names(told(scene)["orphans"])
    with opened(scene) as store:
        at = clock.text(ago(1))
        back = sql.Query("back", "", "UPDATE deferrals SET deferred_at = :at")
        store.write("test", lambda transaction: transaction.rows(back, at=at))
    told(scene)
    assert deferrals(scene)[0]["ended_at"] is None
    scene.commit("feat(H.1.1): Go on", "a.py", at_ms=ago(0.1))
    told(scene)
    [row] = deferrals(scene)
    assert row["ended_why"] == "it was touched"


def test_to_defer_what_is_no_track_or_another_project_is_an_error(scene: Scene) -> None:
    assert refused(scene, "defer", "Q", "--track")["exit"] == 5
    assert refused(scene, "defer", "other", "--project")["exit"] == 5


# Cancel


def on_a_terminal(scene: Scene, answer: str, *words: str) -> Ended:
    """Run a command that asks, and answer once it has asked."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tether", *words],
        cwd=scene.repo,
        env={**scene.environ, **PERSON, **BY_HAND, "NO_COLOR": "1"},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while b"[y/N]" not in shown and (chunk := os.read(ours, 65536)):
            shown += chunk
        os.write(ours, answer.encode() + b"\n")
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # how Linux says that the other end was closed
        pass
    out, _ = process.communicate()
    os.close(ours)
    return Ended(process.returncode, out.decode(), shown.decode())


def test_cancelling_asks_first(scene: Scene) -> None:
    drop(scene)
    scene.done("vacuum")
    before = everything(scene)
    ended = on_a_terminal(scene, "n", "vacuum", "cancel", "H.1.1")
    assert f"Cancel {TASK} (Build it)? [y/N]" in ended.err
    assert (ended.code != 0, "It was not confirmed. Nothing was changed." in ended.err) == (
        True,
        True,
    )
    assert everything(scene) == before
    ended = on_a_terminal(scene, "y", "vacuum", "cancel", "H.1.1")
    assert (ended.code, f"{TASK} is cancelled: {TRACK}." in ended.out) == (0, True)
    assert "- [-] H.1.1 Build it\n- [ ] H.1.2 Test it" in (scene.repo / TRACK).read_text()
    assert resolutions(scene) == [("dead_claim", "cancelled", "ada")]
    assert claim_of(scene).closed_at is not None
    assert told(scene, "--all")["orphans"] == []


def test_where_nobody_can_be_asked_it_must_be_said(scene: Scene) -> None:
    error = refused(scene, "cancel", "H.1.1")
    assert (error["exit"], error["hint"]) == (2, "Repeat it with --yes.")
    value = scene.done("vacuum", "cancel", "H.1.1", "--yes", "--json").json["cancel"]
    assert (value["task"], value["path"], value["settled"]) == (TASK, TRACK, [])


def test_a_cancelled_file_goes_to_the_archive(scene: Scene) -> None:
    drop(scene, OWN)
    scene.done("vacuum")
    value = scene.done("vacuum", "cancel", OWN, "--yes", "--why", "Too late", "--json").json
    path = value["cancel"]["path"]
    assert path.startswith("work/archive/")
    kept = (scene.repo / path).read_text()
    assert ("why: Too late" in kept, "by: ada" in kept) == (True, True)
    assert resolutions(scene, OWN) == [("dead_claim", "cancelled", "ada")]


def test_what_is_done_is_not_cancelled(scene: Scene) -> None:
    tick(scene, "H.1.1")
    assert refused(scene, "cancel", TASK, "--yes")["exit"] != 0
    scene.done("claim", OWN)
    scene.done("finish", OWN)
    assert refused(scene, "cancel", OWN, "--yes")["exit"] != 0


def test_agents_do_not_cancel(scene: Scene) -> None:
    drop(scene)
    scene.done("agent", "register", "--session", "s-3", "--name", "bo")
    for words in (("cancel", TASK), ("cancel", TASK, "--yes"), ("--cancel", TASK)):
        error = refused(scene, *words, who=agent("s-3"))
        assert error["code"] == "not_allowed", words
        assert "Only a person decides" in error["message"]


def test_a_setting_lets_agents_cancel(scene: Scene) -> None:
    drop(scene)
    drop(scene, OWN, SESSION)
    allowed = agent("s-3", TETHER_VACUUM_AGENTS_MAY_CANCEL="1")
    assert scene.done("vacuum", "cancel", TASK, who=allowed).code == 0
    assert scene.done("vacuum", "cancel", OWN, who=allowed).code == 0
    assert "- [-] H.1.1" in (scene.repo / TRACK).read_text()


def test_a_repository_cannot_let_agents_cancel(scene: Scene) -> None:
    """Whoever sends a pull request would decide it."""
    scene.write("tether.toml", "[vacuum]\nagents_may_cancel = 1\n")
    ended = scene.run("vacuum", "cancel", TASK, "--yes", "--json", who=agent("s-3"))
    assert ended.json["error"]["code"] == "config_forbidden"
    assert "- [ ] H.1.1" in (scene.repo / TRACK).read_text()


def test_what_a_living_agent_has_no_other_agent_closes(scene: Scene, process: Sleeper) -> None:
    """A person does, and the agent is told."""
    scene.commit("feat(H.1.1): done", "a.py", at_ms=ago(3))
    scene.done("vacuum")
    scene.done("claim", TASK, who=agent(TETHER_PID=str(process.pid)))
    allowed = agent("s-3", TETHER_VACUUM_AGENTS_MAY_CANCEL="1")
    scene.done("claim", "H.1.2", who=allowed)
    oid = scene.git("rev-parse", "HEAD", cwd=scene.repo)
    assert refused(scene, "cancel", TASK, "--yes", who=allowed)["exit"] == 4
    assert refused(scene, "complete", TASK, "--evidence", oid, who=allowed)["exit"] == 4
    scene.done("vacuum", "cancel", TASK, "--yes")
    assert claim_of(scene).outcome == "cancelled"
    inbox = scene.done("inbox", "--json", who=agent(TETHER_PID=str(process.pid))).json["messages"]
    assert any("ada has closed" in each["body"]["text"] for each in inbox)


def test_whose_claim_is_closed_is_said(scene: Scene, process: Sleeper) -> None:
    who = agent(TETHER_PID=str(process.pid), TETHER_AGENT="ben")
    for task in ("H.1.1", "H.1.2", OWN):
        scene.done("claim", task, who=who)
    page = scene.done("vacuum", "complete", "H.1.1").out
    assert page.split("\n")[1:] == ["ben had it and is told.", ""]
    for verb, task in (("cancel", "H.1.2"), ("complete", OWN)):
        more = ["--yes"] if verb == "cancel" else []
        assert scene.done("vacuum", verb, task, *more, "--json").json[verb]["told"] == ["ben"]
    inbox = scene.done("inbox", "--json", who=who).json["messages"]
    assert len(inbox) == 3
    again = scene.done("vacuum", "complete", "H.1.3", "--json").json["complete"]
    assert again["told"] == [], "nobody had it"


def test_who_is_gone_is_not_told(scene: Scene) -> None:
    drop(scene)
    assert "is told" not in scene.done("vacuum", "complete", "H.1.1").out


# Complete


def test_a_person_ticks_what_is_done(scene: Scene) -> None:
    oid = scene.commit("feat(H.1.2): done", "a.py", at_ms=ago(3))
    drop(scene)
    assert names(told(scene)["done_unmarked"]) == ["H.1.2"]
    value = scene.done("vacuum", "complete", "H.1.2", "--json").json["complete"]
    assert (value["task"], value["path"]) == ("track:H.1.2", TRACK)
    assert value["evidence"] == [oid], "what the sweep found"
    assert "- [x] H.1.2 Test it" in (scene.repo / TRACK).read_text()
    assert {each[1:] for each in resolutions(scene, "H.1.2")} == {("completed", "ada")}
    assert told(scene)["done_unmarked"] == []


def test_a_file_moves_with_its_evidence(scene: Scene) -> None:
    drop(scene, OWN)
    scene.done("vacuum")
    oid = scene.commit("Work", "a.py")
    words = ("--summary", "It stands", "--evidence", oid[:12], "--json")
    value = scene.done("vacuum", "complete", OWN, *words).json["complete"]
    assert (value["path"], value["evidence"]) == (f"work/done/{OWN}.yaml", [oid])
    kept = (scene.repo / value["path"]).read_text()
    assert ("status: done" in kept, "It stands" in kept, oid in kept) == (True, True, True)
    assert resolutions(scene, OWN) == [("dead_claim", "completed", "ada")]


def test_a_commit_that_is_not_there_is_no_evidence(scene: Scene) -> None:
    assert refused(scene, "complete", "H.1.1", "--evidence", "0" * 40)["exit"] != 0


def test_an_agent_without_evidence_is_refused(scene: Scene) -> None:
    oid = scene.git("rev-parse", "HEAD", cwd=scene.repo)
    who = agent("s-3")
    scene.done("agent", "register", "--session", "s-3", "--name", "bo")
    drop(scene)
    for words in ((), ("--evidence", oid)):
        error = refused(scene, "complete", TASK, *words, who=who)
        assert error["code"] == "not_allowed", words
    drop(scene, OWN, SESSION)
    assert refused(scene, "complete", OWN, "--evidence", oid, who=who)["exit"] != 0
    scene.done("vacuum", "adopt", TASK, who=who)
    scene.done("vacuum", "adopt", OWN, who=who)
    assert refused(scene, "complete", TASK, who=who)["code"] == "not_allowed"
    assert refused(scene, "complete", OWN, who=who)["exit"] != 0
    assert scene.done("vacuum", "complete", TASK, "--evidence", oid, who=who).code == 0
    assert scene.done("vacuum", "complete", OWN, "--evidence", oid, who=who).code == 0
    assert "- [x] H.1.1" in (scene.repo / TRACK).read_text()
    assert claim_of(scene).outcome == "done"


def test_what_a_sweep_has_shown_an_agent_may_mark(scene: Scene) -> None:
    oid = scene.commit("feat(H.1.2): done", "a.py", at_ms=ago(3))
    drop(scene)
    scene.done("vacuum")
    value = scene.done("vacuum", "complete", "H.1.2", "--json", who=agent("s-3")).json["complete"]
    assert value["evidence"] == [oid]
    with opened(scene) as store:
        found = reports.of_task(store, ids.TaskKey("track", "H.1.2"))
    assert {each.resolution for each in found} == {"completed"}


# On a terminal


def test_answers_fit_on_a_terminal(scene: Scene) -> None:
    scene.write(TRACK, "- [ ] H.1.1 " + "Build it, " * 15 + "\n- [ ] H.1.2 Test it\n")
    drop(scene)
    scene.done("handoff", "H.1.1", "--note", "Mind the roof, " + "and the walls, " * 20)
    for words in (("defer", "H.1.2", "--until", "30d"), ("adopt", "H.1.1"), ("complete", "H.1.2")):
        lines = scene.on_a_terminal("vacuum", *words, columns=80).splitlines()
        own = [line for line in lines if str(scene.repo) not in line]
        assert max(map(len, own)) <= 80, words
    whole = scene.done("vacuum", "adopt", "H.1.1").out.splitlines()
    assert max(map(len, whole)) > 300, "what is no terminal has no margin"
