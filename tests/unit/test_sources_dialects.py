"""The dialects of checkboxes beside tracks, and what a path alone tells of a list."""

from __future__ import annotations

import re

import pytest

from tether import ids
from tether.tasks.sources import checkboxes, dialects, history, model


def parse(name: str, path: str, content: str) -> model.Listing:
    listing = checkboxes.parse(content, dialects.CHECKBOXES[name], path)
    assert history.states_in(path, content) == {i.id: i.state for i in listing.items}
    assert all(ids.TaskId.is_valid(i.id) for i in listing.items)
    return listing


SPECKIT = """\
# Tasks: Login

## Phase 1: Setup

- [x] T001 Create the project per plan
- [X] **T002** [P] Add linting

## Phase 3: User Story 1

- [ ] T012 [P] [US1] Create User in src/models/user.py
- [ ] T013 [US1] Wire it
  - [x] by hand
- [ ] without a number

Phase 3 depends on T001 (- [ ] T099 is not a box).
"""


def test_spec_kit() -> None:
    listing = parse("speckit", "specs/001-login/tasks.md", SPECKIT)
    assert [(i.id, i.state, i.text, i.section) for i in listing.items] == [
        ("001-login.T001", "done", "Create the project per plan", "Phase 1: Setup"),
        ("001-login.T002", "done", "Add linting", "Phase 1: Setup"),
        ("001-login.T012", "new", "Create User in src/models/user.py", "Phase 3: User Story 1"),
        ("001-login.T013", "new", "Wire it", "Phase 3: User Story 1"),
    ]
    assert {i.track for i in listing.items} == {"001-login"}
    assert listing.items[3].parts_total == 1
    assert [(p.section, p.done, p.total) for p in listing.progress] == [
        ("", 2, 5),
        ("Phase 1: Setup", 2, 2),
        ("Phase 3: User Story 1", 0, 3),
    ]


KIRO = """\
# Implementation Plan

- [-] 1. Set up the structure
  - Create directories
  - _Requirements: 1.1, 1.2_
  - [x] 1.1 Define the interfaces
    - [x] in TypeScript
  - [ ]* 1.2 Write property tests
    - **Property 1: it holds**
- [~] 2. Checkpoint
- [ ] 3 retries are enough
- [x] 10.2.1 Deep
"""


def test_kiro() -> None:
    listing = parse("kiro", ".kiro/specs/auth/tasks.md", KIRO)
    assert [(i.id, i.state, i.text, i.parent) for i in listing.items] == [
        ("auth.1", "in_progress", "Set up the structure", ""),
        ("auth.1.1", "done", "Define the interfaces", "auth.1"),
        ("auth.1.2", "new", "Write property tests", "auth.1"),
        ("auth.2", "new", "Checkpoint", ""),
        ("auth.10.2.1", "done", "Deep", ""),
    ]
    assert listing.problems == ()
    assert (listing.items[1].parts_done, listing.items[1].parts_total) == (1, 1)


OPENSPEC = """\
## 1. Implementation
- [x] 1.1 Create the schema
- [ ] 1.2 Serve it
## 2. Tests
- [ ] 2.1 Cover it
"""


def test_openspec_and_its_archive() -> None:
    listing = parse("openspec", "openspec/changes/add-auth/tasks.md", OPENSPEC)
    assert [(i.id, i.state) for i in listing.items] == [
        ("add-auth.1.1", "done"),
        ("add-auth.1.2", "new"),
        ("add-auth.2.1", "new"),
    ]
    archived = "openspec/changes/archive/2026-01-31-add-auth/tasks.md"
    assert [i.id for i in parse("openspec", archived, OPENSPEC).items] == [
        i.id for i in listing.items
    ]


CONDUCTOR = """\
# Plan: Auth

## Phase 1: Setup [checkpoint: d9f9c5d]

- [x] Task: Read the spec [abc1234]
- [~] Task: Write tests
    - [x] Sub-task one
    - [ ] Sub-task two
- [ ] Task: Run the gates

## Phase 2

- [ ] Task: Run the gates
- [ ] No prefix
"""


def test_conductor_tasks_have_stable_keys() -> None:
    path = "conductor/tracks/auth_20260101/plan.md"
    listing = parse("conductor", path, CONDUCTOR)
    assert [(i.state, i.text, i.parts_done, i.parts_total) for i in listing.items] == [
        ("done", "Read the spec", 0, 0),
        ("in_progress", "Write tests", 1, 2),
        ("new", "Run the gates", 0, 0),
        ("new", "Run the gates", 0, 0),
        ("new", "No prefix", 0, 0),
    ]
    keys = [i.id for i in listing.items]
    assert all(re.fullmatch(r"auth_20260101\.[0-9a-f]{8}(-2)?", key) for key in keys)
    assert keys[3] == keys[2] + "-2"


@pytest.mark.parametrize(
    "written",
    [
        "- [x] Task: Write tests",
        "- [x] Task: Write  TESTS [abc1234]",
        "* [~] write tests (abc1234)",
        "- [ ] Task: Write tests 5dc331d",
        "- [x] Task: Write tests [checkpoint: abc1234]",
        "1. [ ] Write\ttests <!-- files: a.py -->",
    ],
)
def test_a_conductor_key_does_not_depend_on_mark_case_blanks_and_commit(written: str) -> None:
    path = "conductor/tracks/auth/plan.md"
    [plain] = parse("conductor", path, "- [ ] Write tests\n").items
    [other] = parse("conductor", path, written + "\n").items
    assert other.id == plain.id


def test_a_conductor_key_is_the_same_tomorrow() -> None:
    [item] = parse("conductor", "conductor/plan.md", "- [ ] Write tests\n").items
    assert item.id == "plan.fcfd1f51"


# Names that do not fit


@pytest.mark.parametrize(
    "feature",
    ["login", "001-login", "v1.2_x", "a" * 40, "a" * 41, "a" * 255, "con", "ünïcode", "a b", "-x",
     "日本語", "x" * 39 + " ", "a" * 200 + "b", ".hidden", "nul.1"],
)  # fmt: skip
@pytest.mark.parametrize("number", ["1.", "9999.9999.9999.9999"])
def test_every_feature_makes_valid_ids(feature: str, number: str) -> None:
    path = f".kiro/specs/{feature}/tasks.md"
    [item] = parse("kiro", path, f"- [ ] {number} text\n").items
    assert item.track == feature
    again = parse("kiro", path, f"- [ ] {number} text\n").items[0]
    assert item.id == again.id


def test_names_that_fit_stay_and_others_stay_apart() -> None:
    assert dialects.slug("001-login") == "001-login"
    names = ["a" * 50, "a" * 51, "a b", "a-b", "a  b", "con", "日", "本"]
    slugs = [dialects.slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all(len(slug) <= 40 for slug in slugs)


# By path alone


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("internal/project/plans/pilot-tracks/TRACK-A-BACKEND.md", "track"),
        ("plans/tracks/track-aa-legal.md", "track"),
        ("TRACK-H.md", "track"),
        ("docs/plans/Track-B-ui.md", "track"),
        ("plans/MASTER-TRACK-INDEX.md", ""),
        ("plans/TRACK-INDEX.md", ""),
        ("plans/track-template.md", ""),
        ("plans/TRACK-INDEXING.md", "track"),
        ("plans/soundtrack-a.md", ""),
        ("plans/TRACK-A.txt", ""),
        ("node_modules/x/TRACK-A.md", ""),
        (".git/TRACK-A.md", ""),
        (".venv/lib/TRACK-A.md", ""),
        ("a/b/c/d/e/f/g/h/TRACK-A.md", "track"),
        ("a/b/c/d/e/f/g/h/i/TRACK-A.md", ""),
        ("specs/001-login/tasks.md", "speckit"),
        (".specify/specs/001-login/tasks.md", "speckit"),
        ("specs/tasks.md", ""),
        ("specs/a/b/tasks.md", ""),
        ("x/specs/a/tasks.md", ""),
        (".kiro/specs/auth/tasks.md", "kiro"),
        (".kiro/specs/auth/design.md", ""),
        ("openspec/changes/add/tasks.md", "openspec"),
        ("openspec/changes/archive/tasks.md", ""),
        ("openspec/changes/archive/2026-01-01-add/tasks.md", "openspec"),
        ("conductor/tracks/auth/plan.md", "conductor"),
        ("conductor/plan.md", "conductor"),
        ("conductor/tracks.md", ""),
        ("backlog/tasks/task-1 - A.md", "backlog"),
        ("backlog/completed/task-1 - A.md", "backlog"),
        ("backlog/archive/tasks/task-1 - A.md", "backlog"),
        ("backlog/drafts/draft-1 - A.md", ""),
        ("backlog/docs/doc-1.md", ""),
        (".beads/issues.jsonl", "beads"),
        (".beads/beads.jsonl", "beads"),
        (".beads/interactions.jsonl", ""),
        ("work/inbox/T1.yaml", ""),
        ("", ""),
    ],
)
def test_a_path_tells_its_list(path: str, source: str) -> None:
    assert history.source_of(path) == source
    assert dialects.dialect_of(path) == (source or None)


@pytest.mark.parametrize(
    ("name", "path", "about"),
    [
        ("track", "plans/TRACK-H-FRAMEWORK.md", "H"),
        ("track", "plans/track-ab-x.md", "AB"),
        ("track", "plans/track-legal.md", "legal"),
        ("track", "TRACK-H.md", "H"),
        ("conductor", "conductor/plan.md", "plan"),
        ("conductor", "conductor/archive/auth/plan.md", "auth"),
        ("openspec", "openspec/changes/2026-01-01-x/tasks.md", "2026-01-01-x"),
        ("openspec", "openspec/changes/archive/2026-01-01-x/tasks.md", "x"),
    ],
)
def test_a_path_tells_what_a_list_is_about(name: str, path: str, about: str) -> None:
    assert dialects.subject(name, path) == about


def test_what_is_no_list_has_no_states() -> None:
    assert history.states_in("README.md", "- [ ] A.1.1 a\n") == {}
