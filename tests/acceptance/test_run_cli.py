"""`tether run` with real workers: working through a plan, and everything that may come between."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import agency, running
from tests.conftest import Tether
from tests.scenes import Git

AGENT = {"TETHER_SESSION": "agent-1", "TETHER_KIND": "claude"}
ONE_FAILURE = {"TETHER_RUN_FAILURE_LIMIT": "1"}
DIAMOND: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}


@pytest.fixture
def place(repo: Path, environ: dict[str, str], tether: Tether) -> Iterator[running.Place]:
    """A repository with a plan of one task."""
    place = running.Place(repo, environ, tether)
    place.plan({"a": []})
    yield place
    place.close()


@pytest.fixture
def diamond(place: running.Place) -> running.Place:
    """The same with four tasks: `a` before `b` and `c`, these before `d`."""
    place.plan(DIAMOND)
    return place


# Working through a plan


def test_every_task_is_done_once_and_after_what_it_waits_for(diamond: running.Place) -> None:
    ended = diamond.start()
    assert ended.code == 0, ended
    assert "Run plan is complete: 4 of 4 tasks completed." in ended.out
    started = diamond.started()
    assert sorted(started) == ["a", "b", "c", "d"]
    assert (started[0], started[-1]) == ("a", "d")
    found = Counter(each["type"] for each in diamond.events())
    assert found["developer_dispatched"] == found["task_complete"] == 4
    assert found["session_start"] == found["workflow_complete"] == 1
    [dispatched] = [e for e in diamond.events("developer_dispatched") if e["task"] == "d"]
    assert set(dispatched["data"]) == {"task_id", "agent_id", "blocked_by", "resumed"}
    assert dispatched["data"]["blocked_by"] == ["b", "c"]
    [prompt] = diamond.prompts("d")
    assert prompt.startswith("Task: d Make d\nWork: make out/d\nAcceptance Criteria:\n")
    assert "\nBlocked By: b, c\n" in prompt
    assert "Resume Context" not in prompt


def test_each_worker_was_a_child_of_the_coordinator_with_a_claim(place: running.Place) -> None:
    place.start()
    coordinator = {each["session"] for each in place.events("session_start")}
    agents = place.done("agent", "list", "--all", "--json").json["agents"]
    children = [each for each in agents if each["parent_id"] in coordinator]
    assert len(children) == 2  # a worker and an auditor
    assert {each["status"] for each in agents} == {"ended"}
    taken = place.done("claims", "--all", "--json").json["claims"]
    assert sorted(each["outcome"] for each in taken) == ["done", "released"]


def test_no_more_than_the_slots_are_at_work(place: running.Place) -> None:
    place.plan({name: [] for name in "abcde"})
    let_go = [place.hold(name) for name in "abcde"]
    process = place.begin("start", "plan.md", "--slots", "2", "--json")
    found = place.until(lambda run: run["counts"]["in_progress"] == 2)
    assert found["counts"]["available"] == 3
    for each in let_go:
        each()
    ended = running.ended(process)
    assert ended.code == 0, ended
    assert ended.json["run"]["counts"]["completed"] == 5


def test_tasks_that_change_the_same_files_are_not_worked_on_at_once(place: running.Place) -> None:
    tasks = [running.task(name, more="**Files**: src/**\n") for name in "ab"]
    (place.top / "plan.md").write_text("# Plan\n\n" + "\n".join(tasks))
    let_go = place.hold("a"), place.hold("b")
    process = place.begin()
    found = place.until(lambda run: run["checkpoints"])
    assert (found["counts"]["in_progress"], found["counts"]["available"]) == (1, 1)
    for each in let_go:
        each()
    assert running.ended(process).code == 0
    assert place.status()["counts"]["completed"] == 2


def test_the_prompt_may_be_an_argument_and_no_shell_sees_it(place: running.Place) -> None:
    plan = place.top / "plan.md"
    plan.write_text(plan.read_text().replace("make out/a", 'make "$(touch pwned)"; out/a'))
    script = place.script("arg", '#!/bin/sh\nmkdir out; printf %s "$1" > out/a\n')
    ended = place.start("--worker", f"{script} {{prompt}}")
    assert ended.code == 0, ended
    assert "touch pwned" in (place.top / "out" / "a").read_text()
    assert not (place.top / "pwned").exists()


def test_a_dry_run_changes_nothing(diamond: running.Place) -> None:
    ended = diamond.start("--dry-run")
    assert "Would work through 4 tasks" in ended.out
    assert not diamond.directory.exists()


# What goes wrong


def test_a_worker_that_gives_up_is_followed_by_one_that_knows_why(place: running.Place) -> None:
    place.fails("a")
    assert place.start().code == 0
    first, second = place.prompts("a")
    assert "Required Fixes" not in first
    assert "Required Fixes" in second
    assert "| cannot do a" in second
    assert "| ===" not in second, "what the wrapper writes around it is nobody's reason"
    assert "Previous Progress: Review existing work" in second
    assert [e["data"]["resumed"] for e in place.events("developer_dispatched")] == [False, True]


def test_after_the_last_failure_a_person_decides_and_the_rest_goes_on(
    diamond: running.Place,
) -> None:
    diamond.fails("b")
    process = diamond.begin(env=ONE_FAILURE)
    found = diamond.until(lambda run: run["counts"]["completed"] == 2 and run["failed_tasks"])
    assert found["failed_tasks"] == {"b": "its worker gave up once"}
    [question] = running.open_questions(found)
    assert question["options"] == ["retry", "skip", "complete"]
    shown = diamond.done("run", "status").out
    assert f"QUESTION {question['id']} about b: " in shown
    assert "failed: b: its worker gave up once" in shown
    diamond.done("run", "answer", "b", "Use the back door.")
    ended = running.ended(process)
    assert ended.code == 0, ended
    assert "\nA person answered: Use the back door.\n" in diamond.prompts("b")[-1]
    assert diamond.done("run", "list").out == "plan  complete  4 of 4 tasks completed\n"


def test_a_run_without_a_task_that_was_left_out_fails_and_can_be_tried_again(
    place: running.Place,
) -> None:
    place.plan({"a": [], "b": ["a"]})
    place.fails("a")
    process = place.begin(env=ONE_FAILURE)
    place.until(running.open_questions)
    place.done("run", "answer", "a", "skip")
    ended = running.ended(process)
    assert ended.code == 1
    assert "Run plan failed: 0 of 2 tasks completed." in ended.out
    assert "tether run status" in ended.err
    assert "failed: a: a person left it out" in place.done("run", "status").out
    assert len(place.events("workflow_failed")) == 1
    again = place.resume()
    assert again.code == 0, again
    assert place.status()["state"] == "complete"


def test_a_person_calls_a_task_complete_and_is_told_by_a_command_of_theirs(
    place: running.Place,
) -> None:
    notices = place.desk / "notices"
    notify = place.script("notify", f"#!/bin/sh\ncat >> {notices}\n")
    place.fails("a")
    process = place.begin(env={**ONE_FAILURE, "TETHER_NOTIFY_COMMAND": str(notify)})
    place.until(running.open_questions)
    place.done("run", "answer", "complete")
    assert running.ended(process).code == 0
    assert place.status()["task_commits"]["a"]["evidence_summary"] == "a person called it complete"
    running.until(lambda: len(notices.read_text().splitlines()) == 2)
    told = [json.loads(line) for line in notices.read_text().splitlines()]
    assert {each["what"] for each in told} == {"failure", "end"}
    assert {each["run"] for each in told} == {"plan"}


def test_a_question_of_a_worker_holds_up_only_what_depends_on_it(diamond: running.Place) -> None:
    diamond.asks("b")
    process = diamond.begin()
    found = diamond.until(
        lambda run: (
            running.open_questions(run)
            and run["counts"]["completed"] == 2
            and not run["active_agents"]
        )
    )
    assert (found["completed_tasks"], found["available_tasks"]) == (["a", "c"], ["b"])
    diamond.done("run", "answer", "red")
    assert running.ended(process).code == 0
    assert "\nA person answered: red\n" in diamond.prompts("b")[-1]


def test_an_agent_does_not_answer_for_a_person(place: running.Place) -> None:
    place.done("run", "start", "plan.md", env=AGENT)
    place.done("run", "ask", "--task", "a", "Which?", env=AGENT)
    assert place.call("run", "answer", "retry", env=AGENT).code == 3
    assert len(running.open_questions(place.status())) == 1


def test_a_result_that_does_not_pass_is_done_again(place: running.Place) -> None:
    command = "test -f out/a -a -e twice || (touch twice; echo missing; false)"
    (place.top / "plan.md").write_text("# Plan\n\n" + running.task("a", command=command))
    assert place.start().code == 0
    [failed] = place.events("auditor_fail")
    assert failed["data"]["failures"] == "criterion 1 ended with status 1"
    assert "missing" in failed["data"]["required_fixes"]
    assert "| missing" in place.prompts("a")[-1]


def test_an_auditor_of_its_own_must_pass_it_too(place: running.Place) -> None:
    auditor = place.script(
        "auditor",
        '#!/bin/sh\ncd "$(dirname "$0")"; cat > audited\n'
        "[ -e again ] || { touch again; echo too short; exit 1; }\n",
    )
    assert place.start("--auditor", str(auditor)).code == 0
    [failed] = place.events("auditor_fail")
    assert "too short" in failed["data"]["required_fixes"]
    assert "Another agent says that this task is done" in (place.desk / "audited").read_text()
    [completed] = place.events("task_complete")
    assert completed["data"]["evidence_summary"] == "1 command succeeded, the auditor passed it"


def test_criteria_are_run_as_they_stood_at_the_start(place: running.Place) -> None:
    """A worker that edits the plan cannot make its own work pass."""
    cheat = place.script("cheat", "#!/bin/sh\nsed -i 's/test -f out.a/true/' plan.md\n")
    process = place.begin("start", "plan.md", "--worker", str(cheat))
    found = place.until(running.open_questions)
    assert found["counts"]["completed"] == 0
    [question] = running.open_questions(found)
    assert "criteria of a have changed" in question["question"]
    assert question["options"] == ["accept", "keep"]
    process.send_signal(signal.SIGTERM)
    assert running.ended(process).code == 0
    assert place.status()["counts"]["completed"] == 0


# A plan that changes


def test_a_task_that_is_added_waits_until_a_person_has_seen_what_it_runs(
    place: running.Place,
) -> None:
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["checkpoints"])
    place.plan({"a": [], "b": [], "c": []})
    found = place.until(lambda run: len(running.open_questions(run)) == 2)
    assert (found["total_tasks"], found["counts"]["in_progress"]) == (3, 1)
    assert [each["options"] for each in running.open_questions(found)] == [["accept", "skip"]] * 2
    assert "this would be run: test -f out/b." in running.open_questions(found)[0]["question"]
    place.done("run", "answer", "b", "accept")
    place.until(lambda run: "b" in run["completed_tasks"])
    place.done("run", "answer", "c", "skip")
    let_go()
    ended = running.ended(process)
    assert ended.code == 1, "without what was left out it is not complete"
    assert "The plan has changed: new: b, c" in ended.err
    [changed] = place.events("plan_changed")
    assert changed["data"]["added"] == ["b", "c"]
    assert sorted(place.started()) == ["a", "b"]


def test_a_plan_that_is_broken_meanwhile_stays_as_it_was(place: running.Place) -> None:
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["checkpoints"])
    good = (place.top / "plan.md").read_text()
    place.plan({"a": ["a"]})
    # A line of the plan's own is no event: the next one brings it into the log for people.
    place.done("run", "checkpoint", "--task", "a", "nearly")
    running.until(lambda: "stays as it was" in place.journal())
    (place.top / "plan.md").write_text(good)
    let_go()
    assert running.ended(process).code == 0
    assert place.events("plan_changed") == []


# Stopping and going on


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_is_saved_and_goes_on(place: running.Place, number: int) -> None:
    place.plan({"a": [], "b": ["a"]})
    let_go = place.hold("b")
    process = place.begin()
    place.until(lambda run: run["checkpoints"].get("b"))
    process.send_signal(number)
    ended = running.ended(process)
    assert ended.code == 0
    assert "SESSION PAUSED - User stop" in ended.err
    assert "In progress: 1 tasks" in ended.err
    assert place.status()["state"] == "paused"
    let_go()
    again = place.resume()
    assert again.code == 0, again
    assert "SESSION RESUMED" in again.err
    types = [each["type"] for each in place.events()]
    resumed = types.index("session_resume")
    # What was completed is looked at again before anything new begins.
    assert types[resumed:].index("task_reverified") < types[resumed:].index("developer_dispatched")
    assert "| half of b" in place.prompts("b")[-1]
    assert place.status()["session_resume_count"] == 1


def test_pausing_from_another_terminal_leaves_nobody_at_work(place: running.Place) -> None:
    """Nor anybody of whom others would think that they died."""
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["checkpoints"])
    assert "pauses it" in place.done("run", "pause").out
    assert running.ended(process).code == 0
    agents = place.done("agent", "list", "--all", "--json").json["agents"]
    assert {each["status"] for each in agents} == {"ended"}
    [claim] = place.done("claims", "--all", "--json").json["claims"]
    assert claim["outcome"] == "released"
    assert "is paused since" in place.done("run", "pause").out
    let_go()
    again = place.start()
    assert again.code == 0, again
    assert "SESSION RESUMED" in again.err
    assert place.status()["state"] == "complete"


def test_what_is_complete_stays_so(place: running.Place) -> None:
    assert place.start().code == 0
    before = place.events()
    ended = place.resume()
    assert ended.code == 3
    assert "Run plan is complete. Nothing was changed." in ended.err
    assert place.call("run", "pause").code == 3
    assert place.events() == before
    assert place.start().code == 0, "the plan may be worked through once more"
    assert place.done("run", "list").out == (
        "plan  complete  1 of 1 tasks completed\nplan-2  complete  1 of 1 tasks completed\n"
    )


def test_an_error_saves_and_ends_with_1_and_the_run_goes_on(place: running.Place) -> None:
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["checkpoints"])
    agents = place.directory / "agents"
    agents.rename(place.directory / "aside")
    agents.write_text("a file where a directory should be")
    ended = running.ended(process)
    assert ended.code == 1
    assert "SESSION PAUSED - System error" in ended.err
    agents.unlink()
    (place.directory / "aside").rename(agents)
    let_go()
    assert place.resume().code == 0
    assert place.status()["counts"]["completed"] == 1


def test_a_low_limit_pauses_and_the_reset_resumes(place: running.Place) -> None:
    usage = place.script(
        "usage",
        '#!/bin/sh\ncd "$(dirname "$0")"\n'
        'if [ -e seen ]; then echo \'{"remaining": 90, "resets_at": null}\'; exit; fi\n'
        'touch seen; echo "utilisation: 95%"; echo "remaining: 5%"\n'
        'echo "resets_at: $(date -u +%Y-%m-%dT%H:%M:%SZ)"\n',
    )
    quick = {"TETHER_RUN_RESUME_MINUTES": "0", "TETHER_RUN_USAGE_SECONDS": "1"}
    ended = place.start("--usage", str(usage), env=quick)
    assert ended.code == 0, ended
    assert "SESSION PAUSED - Usage limit" in ended.err
    assert "Session remaining: 5%" in ended.err
    assert "SESSION RESUMED - Reset complete" in ended.err
    [paused] = place.events("session_pause")
    assert paused["data"]["reason"] == "usage_limit"
    assert paused["data"]["remaining_percent"] == 5


def test_a_usage_command_that_fails_is_told_once_and_stops_nothing(place: running.Place) -> None:
    ended = place.start("--usage", "false", env={"TETHER_RUN_USAGE_SECONDS": "1"})
    assert ended.code == 0
    assert ended.err.count("The usage limit is unknown") == 1


# Dying


def test_a_worker_outlives_its_coordinator_and_is_taken_over(place: running.Place) -> None:
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["checkpoints"])
    running.kill(process)
    assert place.status()["state"] == "left"
    again = place.begin("resume")
    place.until(lambda run: run["state"] == "running")
    let_go()
    ended = running.ended(again)
    assert ended.code == 0, ended
    assert "COORDINATOR RECOVERY" in ended.err
    assert "Taken over: 1" in ended.err
    assert place.started() == ["a"]


def test_a_worker_that_died_is_put_back_once_with_its_checkpoint(place: running.Place) -> None:
    let_go = place.hold("a")
    process = place.begin()
    found = place.until(lambda run: run["checkpoints"])
    [agent_id] = found["active_agents"]
    start = json.loads((place.directory / "agents" / agent_id / "start.json").read_text())
    running.kill(process)
    os.kill(start["pid"], signal.SIGKILL)
    let_go()
    once = place.done("run", "recover", "--json").json
    assert [each["task_id"] for each in once["recovery"]["orphaned"]] == ["a"]
    assert once["run"]["available_tasks"] == ["a"]
    twice = place.done("run", "recover", "--json").json
    assert twice["recovery"]["orphaned"] == []
    assert twice["run"]["last_applied_event"] == once["run"]["last_applied_event"]
    [orphaned] = place.events("orphan_agent_detected")
    assert orphaned["data"] == {"agent_id": agent_id, "task_id": "a", "type": "developer"}
    assert place.resume().code == 0
    assert "| half of a" in place.prompts("a")[-1]


def test_start_recovers_by_itself_and_a_damaged_snapshot_loses_nothing(
    place: running.Place,
) -> None:
    place.plan({"a": [], "b": ["a"]})
    let_go = place.hold("b")
    process = place.begin()
    place.until(lambda run: run["checkpoints"].get("b"))
    running.kill(process)
    let_go()
    for name in ("state.json", "state.previous.json"):
        (place.directory / name).write_bytes(b"\0" * 100)
    ended = place.start()
    assert ended.code == 0, ended
    assert "COORDINATOR RECOVERY" in ended.err
    assert "Set aside: state.corrupted." in ended.err
    assert "Progress: 1/2 tasks complete" in ended.err
    assert len(list(place.directory.glob("state*.corrupted.*"))) == 2
    assert sorted(place.started()) == ["a", "b"]


def test_a_run_has_one_coordinator(place: running.Place) -> None:
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["counts"]["in_progress"])
    second = place.start()
    assert second.code == 4
    assert "has a coordinator already" in second.err
    let_go()
    assert running.ended(process).code == 0


def test_what_the_disk_says_against_the_run_is_shown(place: running.Place) -> None:
    plan = place.top / "plan.md"
    plan.write_text("# Plan\n\n" + running.task("a", more="**Files**: out/a\n"))
    assert place.start().code == 0
    (place.top / "out" / "a").unlink()
    assert place.status()["contradictions"] == ["a is completed, but out/a is not here"]
    assert "contradiction: a is completed" in place.done("run", "status").out


def test_how_a_run_was_started_may_be_lost_and_is_said_again(place: running.Place) -> None:
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["checkpoints"])
    running.kill(process)
    (place.directory / "options.json").unlink()
    lost = place.call("run", "resume")
    assert lost.code == 3
    assert "How plan was started is lost. Nothing was changed." in lost.err
    let_go()
    assert place.resume("--worker", str(place.worker)).code == 0


# Branches


def test_a_branch_starts_with_what_it_depends_on(diamond: running.Place, git: Git) -> None:
    ended = diamond.start("--worktrees", env={"COMMITS": "1"})
    assert ended.code == 0, ended
    assert "To merge: tether/plan/d." in ended.out
    files = git("ls-tree", "-r", "--name-only", "tether/plan/d", cwd=diamond.top).split()
    assert [each for each in files if each.startswith("out/")] == [f"out/{n}" for n in "abcd"]
    assert git("branch", "--show-current", cwd=diamond.top) == "main"
    assert not (diamond.top / "out").exists()
    assert git("status", "--porcelain", cwd=diamond.top) == "?? plan.md"
    assert diamond.status()["base"] == git("rev-parse", "main", cwd=diamond.top)
    assert diamond.status()["contradictions"] == []


def test_a_conflict_of_branches_is_a_question(diamond: running.Place, git: Git) -> None:
    process = diamond.begin("start", "plan.md", "--worktrees", env={"COMMITS": "1", "SAME": "1"})
    found = diamond.until(running.open_questions)
    [question] = running.open_questions(found)
    assert question["task_id"] == "d"
    assert "same.txt" in question["question"]
    checkout = diamond.top / ".tether" / "worktrees" / "plan" / "c"
    git("merge", "-q", "-X", "ours", "-m", "both", "tether/plan/b", cwd=checkout)
    diamond.done("run", "answer", "retry")
    assert running.ended(process).code == 0


def test_work_that_is_not_committed_does_not_pass(place: running.Place) -> None:
    process = place.begin("start", "plan.md", "--worktrees", env=ONE_FAILURE)
    place.until(running.open_questions)
    process.send_signal(signal.SIGTERM)
    running.ended(process)
    [first] = place.events("developer_incomplete")
    assert first["data"]["blocker"] == "Commit what you changed; not committed: out/a"


def test_branches_need_a_commit_to_start_from(place: running.Place, git: Git) -> None:
    git("checkout", "-q", "--orphan", "empty", cwd=place.top)
    ended = place.start("--worktrees")
    assert ended.code == 3
    assert "There is no commit yet that branches could start from" in ended.err
    assert "There is no run here yet" in place.done("run", "list").out


# The workspace's own tasks


def test_tasks_of_the_workspace_are_finished_in_their_files(place: running.Place) -> None:
    first = place.done("task", "new", "First", "--json").json["task"]["id"]
    second = place.done("task", "new", "Second", "--depends-on", first, "--json").json["task"]["id"]
    ended = running.ended(place.begin("start", "--from", "work"))
    assert ended.code == 0, ended
    for task_id in (first, second):
        shown = place.done("task", "show", task_id, "--json").json["task"]
        assert shown["state"] == "done"
    assert place.started() == [first, second]
    assert place.done("run", "list").out.startswith("run-work  complete")


def test_a_task_that_somebody_else_has_is_not_given_out(place: running.Place) -> None:
    mine = place.done("task", "new", "Mine", "--json").json["task"]["id"]
    other = place.done("task", "new", "Other", "--json").json["task"]["id"]
    place.done("claim", mine)
    process = place.begin("start", "--from", "work")
    found = place.until(lambda run: run["counts"]["completed"] == 1)
    assert found["completed_tasks"] == [other]
    process.send_signal(signal.SIGTERM)
    assert running.ended(process).code == 0
    place.done("finish", mine)
    ended = place.resume()
    assert ended.code == 0, ended
    assert place.started() == [other]


# Compaction, and a coordinator that is an agent


def test_compactions_say_what_the_seed_says(diamond: running.Place) -> None:
    diamond.done("run", "start", "plan.md", env=AGENT)
    before = diamond.done("run", "compact", "--context-remaining", "8", env=AGENT).out
    assert before.startswith("AUTO-COMPACTION #1 - Context at 8%\n\nState persisted to: ")
    assert diamond.status()["state"] == "compacting"
    after = diamond.done("run", "resume", "--once", env=AGENT).out
    assert after.startswith("RESUMED - Compaction #1 complete\n\nCompleted: 0/4 tasks\n")
    diamond.done("run", "compact", "--context-remaining", "7", env=AGENT)
    again = diamond.done("run", "resume", "--once", env=AGENT).out
    assert again.startswith("FULL PLAN RELOAD - Compaction #2\n\nPlan: plan.md\nTotal tasks: 4\n")
    assert "RESUMED - Compaction #2 complete (full plan reload)" in again
    assert "Blocked graph rebuilt: 4 relationships" in again
    complete = [each["data"] for each in diamond.events("compaction_complete")]
    assert complete == [
        {"compaction_number": 1, "full_reload": False},
        {"compaction_number": 2, "full_reload": True},
    ]


def test_nothing_is_given_out_during_a_compaction(place: running.Place) -> None:
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["checkpoints"])
    place.done("run", "compact", "--context-remaining", "8")
    let_go()
    place.until(lambda run: run["counts"]["pending_audit"] == 1)
    assert place.events("auditor_dispatched") == []
    place.done("run", "resume", "--once")
    assert running.ended(process).code == 0


def test_a_compaction_without_need_is_not_made(place: running.Place) -> None:
    place.done("run", "start", "plan.md", env=AGENT)
    said = place.done("run", "compact", "--if-needed", "--context-remaining", "11", env=AGENT).out
    assert said == "Context left: 11%. There is no need to compact.\n"
    worker = {**AGENT, "TETHER_TASK": "a"}
    assert "A worker of the run may compact" in place.done("run", "compact", env=worker).out
    assert place.events("compaction_start") == []
    place.done("run", "compact", "--if-needed", "--context-remaining", "10", env=AGENT)
    assert len(place.events("compaction_start")) == 1
    said = place.done("run", "resume", "--once", env=worker).out
    assert "This is a worker of the run" in said
    assert place.events("compaction_complete") == []


def test_an_agent_coordinates_a_run_itself(place: running.Place) -> None:
    place.plan({"a": [], "b": ["a"]})
    assert "You coordinate it" in place.done("run", "start", "plan.md", env=AGENT).out
    shown = place.done("run", "status").out
    assert shown.startswith("Run plan is by hand.")
    assert "\navailable: a\n" in shown
    assigned = place.done("run", "assign", "a", env=AGENT).out
    assert assigned.startswith("Task: a Make a\n")
    early = place.call("run", "done", "a", env=AGENT)
    assert early.code == 1
    assert place.call("run", "assign", "b", env=AGENT).code == 3
    place.done("run", "assign", "a", env=AGENT)
    place.done("run", "checkpoint", "--task", "a", "half of it", env=AGENT)
    place.done("run", "compact", "--context-remaining", "5", env=AGENT)
    memory = place.done("run", "resume", "--once", env=AGENT).out
    assert "Restoring: 1 in-progress tasks" in memory
    assert "| half of it" in memory
    (place.top / "out").mkdir()
    for name in ("a", "b"):
        (place.top / "out" / name).touch()
    place.done("run", "done", "a", env=AGENT)
    place.done("run", "assign", "b", env=AGENT)
    place.done("run", "give-up", "b", "too hard", env=AGENT)
    place.done("run", "assign", "b", env=AGENT)
    place.done("run", "done", "b", env=AGENT)
    assert place.status()["state"] == "complete"


def test_what_an_agent_asks_has_options_of_its_own(place: running.Place) -> None:
    """Also about a task that nobody works on: `skip` is a word, and leaves nothing out."""
    place.done("run", "start", "plan.md", env=AGENT)
    place.done("run", "ask", "--task", "a", "Slow tests?", "--option", "skip", env=AGENT)
    place.done("run", "answer", "skip")
    found = place.status()
    assert (found["guidance"], found["available_tasks"]) == ({"a": "skip"}, ["a"])
    assert "\nA person answered: skip\n" in place.done("run", "assign", "a", env=AGENT).out


def test_a_checkpoint_of_what_nobody_works_on_is_refused(place: running.Place) -> None:
    place.done("run", "start", "plan.md", env=AGENT)
    assert place.call("run", "checkpoint", "--task", "a", "half of it", env=AGENT).code == 3


def test_an_agent_is_told_to_commit_what_its_helper_made(place: running.Place) -> None:
    place.done("run", "start", "plan.md", "--worktrees", env=AGENT)
    assigned = place.done("run", "assign", "a", "--json", env=AGENT).json["assignment"]
    out = Path(assigned["directory"], "out")
    out.mkdir()
    (out / "a").touch()
    ended = place.call("run", "done", "a", env=AGENT)
    assert ended.code == 1, ended
    assert "Commit what you changed; not committed: out/a" in ended.out


def test_what_an_agent_had_completed_is_looked_at_again_after_a_pause(
    place: running.Place,
) -> None:
    place.plan({"a": [], "b": ["a"]})
    place.done("run", "start", "plan.md", env=AGENT)
    (place.top / "out").mkdir()
    (place.top / "out" / "a").touch()
    place.done("run", "assign", "a", env=AGENT)
    place.done("run", "done", "a", env=AGENT)
    place.done("run", "pause")
    assert place.call("run", "assign", "b", env=AGENT).code == 3
    (place.top / "out" / "a").unlink()
    said = place.done("run", "resume", "--once", env=AGENT).out
    assert said.startswith("SESSION RESUMED")
    assert "a does not pass any more" in said
    assert "Give out with `tether run assign`: a" in said
    found = place.status()
    assert (found["available_tasks"], found["pending_validation"]) == (["a"], [])
    assert list(found["blocked_tasks"]) == ["b"]


def test_the_helpers_of_an_agent_live_as_long_as_it_does(place: running.Place) -> None:
    process = agency.sleeper()
    mine = {**AGENT, "TETHER_PID": str(process.pid)}
    try:
        place.done("run", "start", "plan.md", env=mine)
        place.done("run", "assign", "a", env=mine)
        held = place.done("run", "resume", "--once", "--json", env=mine).json["run"]
        assert held["counts"]["in_progress"] == 1
    finally:
        agency.end(process)
    again = {"TETHER_SESSION": "agent-2", "TETHER_KIND": "claude"}
    left = place.done("run", "resume", "--once", env=again).out
    assert "Orphaned agents: 1" in left
    assert "Give out with `tether run assign`: a" in left


# What is wrong with what is said


def test_a_plan_with_mistakes_is_not_started(place: running.Place) -> None:
    place.plan({"a": ["b"], "b": ["a"]})
    ended = place.start()
    assert ended.code == 1
    assert "line" in ended.err
    assert not place.directory.exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "start", "nowhere.md"], 5, ""),
        (["run", "start", "plan.md", "--worker", "a 'b"], 2, "quote"),
        (["run", "start", "plan.md", "--worker", "no-such-agent -p"], 2, "'no-such-agent'"),
        (["run", "start", "plan.md", "--worker", "./plan.md"], 2, "no program './plan.md'"),
        (["run", "status"], 5, "There is no run here yet"),
        (["run", "status", "--run", "../x"], 2, "name of a run"),
        (["run", "resume", "--run", "other"], 5, "There is no run other"),
        (["run", "stauts"], 2, "tether run status"),
        (["run", "answer", "yes"], 5, ""),
    ],
)
def test_mistakes_are_explained(
    place: running.Place, words: list[str], code: int, said: str
) -> None:
    ended = place.call(*words)
    assert ended.code == code, ended
    assert said in ended.err
    assert not place.directory.exists()


# Several machines


def test_a_run_on_postgresql_has_one_coordinator_among_all_machines(
    place: running.Place, postgres_url: str, tmp_path: Path
) -> None:
    place.environ["TETHER_STORE_URL"] = postgres_url
    place.call("init", "--yes")
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["counts"]["in_progress"])
    # Another machine has another store directory, and the same database.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    second = place.start(env={"TETHER_STORE_DIR": str(elsewhere)})
    assert second.code == 4, second
    assert "held from another machine" in second.err
    let_go()
    assert running.ended(process).code == 0
    assert place.status()["counts"]["completed"] == 1


# What others see, and what workers may not


def test_a_task_of_a_run_is_not_called_orphaned(place: running.Place) -> None:
    """Whoever resumes the run looks after it; nobody else can take it up."""
    place.hold("a")
    process = place.begin()
    found = place.until(lambda run: run["checkpoints"].get("a"))
    [agent_id] = found["active_agents"]
    start = json.loads((place.directory / "agents" / agent_id / "start.json").read_text())
    running.kill(process)
    os.kill(start["pid"], signal.SIGKILL)
    place.done("sweep", "--threshold", "0")
    assert "Orphaned Tasks: 0" in place.done("vacuum", "--quick").out
    assert "rphan" not in place.done("orient").out


def test_a_worker_does_not_answer_however_it_hides(place: running.Place) -> None:
    script = place.script(
        "liar",
        "#!/bin/sh\ntether run ask 'may I?' --option yes\n"
        'env -i PATH="$PATH" HOME="$HOME" tether run answer yes'
        ' && touch "$(dirname "$0")/answered"\n'
        "exit 1\n",
    )
    process = place.begin("start", "plan.md", "--worker", str(script))
    found = place.until(lambda run: run["pending_divine_questions"] and not run["active_agents"])
    assert found["pending_divine_questions"][0]["response"] is None
    assert not (place.desk / "answered").exists()
    process.send_signal(signal.SIGTERM)
    assert running.ended(process).code == 0


def test_nothing_of_a_task_is_run_in_the_checkout_of_the_user(place: running.Place) -> None:
    """Also not when its worker has gone to another branch."""
    (place.top / "plan.md").write_text("# Plan\n\n" + running.task("a", command="touch audited"))
    script = place.script(
        "wanderer",
        "#!/bin/sh\ngit checkout -q -b elsewhere; echo x > x; git add x; git commit -qm x\n",
    )
    process = place.begin("start", "plan.md", "--worker", str(script), "--worktrees")
    found = place.until(lambda run: list(run["pending_divine_questions"]))
    [question] = found["pending_divine_questions"]
    assert "stands on elsewhere instead of its own branch" in question["question"]
    assert not (place.top / "audited").exists()
    process.send_signal(signal.SIGTERM)
    assert running.ended(process).code == 0


def test_what_was_completed_by_other_criteria_is_looked_at_again(diamond: running.Place) -> None:
    let_go = diamond.hold("b")
    process = diamond.begin()
    diamond.until(lambda run: run["counts"]["completed"] == 2)
    plan = diamond.top / "plan.md"
    plan.write_text(plan.read_text().replace("test -f out/a", "test -f out/a -a -f out/new"))
    diamond.until(lambda run: run["pending_divine_questions"])
    diamond.done("run", "answer", "a", "accept")
    diamond.until(lambda run: "a" not in run["completed_tasks"])
    (diamond.top / "out" / "new").touch()
    let_go()
    assert running.ended(process).code == 0
    assert next(e["data"]["task_id"] for e in diamond.events("auditor_fail")) == "a"


def test_the_log_for_people_goes_on_where_it_was(place: running.Place) -> None:
    let_go = place.hold("a")
    process = place.begin()
    place.until(lambda run: run["counts"]["in_progress"])
    process.send_signal(signal.SIGTERM)
    running.ended(process)
    assert "paused: user_stop" in place.journal()
    let_go()
    assert place.resume().code == 0
    assert place.journal().count("a is given out") == 2
