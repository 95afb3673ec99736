"""Which feature an id of spec-kit is of."""

from __future__ import annotations

import pytest

from tether.evidence import model
from tether.evidence.history import features


@pytest.mark.parametrize(
    ("branch", "feature"),
    [
        ("001-login", "001-login"),
        ("origin/012-photo-albums", "012-photo-albums"),
        ("20261101-120000-login", "20261101-120000-login"),
        ("main", ""),
        ("fix/1-thing", ""),
        ("001-", ""),
        ("", ""),
    ],
)
def test_a_branch_is_called_like_its_feature(branch: str, feature: str) -> None:
    assert features.of_branch(branch) == feature


@pytest.mark.parametrize(
    ("subject", "paths", "is_merge", "feature"),
    [
        ("T012 Log in", ["src/a.py", "specs/001-login/tasks.md"], False, "001-login"),
        ("T012", ["specs/001-login/tasks.md", "specs/001-login/plan.md"], False, "001-login"),
        ("T012", [".specify/specs/001-login/tasks.md"], False, "001-login"),
        ("T012", ["specs/001-login/tasks.md", "specs/002-out/tasks.md"], False, ""),
        ("T012", ["src/a.py", "docs/specs/001-login/tasks.md"], False, ""),
        ("Merge branch '001-login': T012", [], True, "001-login"),
        ("Merge pull request #4 from team/001-login", [], True, "001-login"),
        ("Merge branches '001-login' and '002-out'", [], True, ""),
        ("T012 after 001-login", [], False, ""),
    ],
)
def test_a_commit_is_of_the_feature_that_it_changes(
    subject: str, paths: list[str], is_merge: bool, feature: str
) -> None:
    assert features.of_commit(subject, paths, is_merge=is_merge) == feature


def test_only_short_ids_of_spec_kit_are_made_whole() -> None:
    assert features.placed("speckit", "T012", "001-login") == "001-login.T012"
    assert features.placed("speckit", "T012", "") == "T012"
    assert features.placed("speckit", "002-out.T012", "001-login") == "002-out.T012"
    assert features.placed("track", "H.1", "001-login") == "H.1"


def test_what_a_record_shows_is_of_the_branch_that_it_names() -> None:
    plain = model.Activity("claude:transcript", "file:x", "r", "", model.WORKED, "said")
    found = [
        plain._replace(task="T012", task_source="speckit"),
        plain._replace(task="H.1", task_source="track"),
        plain,
    ]
    told = [each.task for each in features.all_placed(found, "001-login")]
    assert told == ["001-login.T012", "H.1", ""]
    assert features.all_placed(found, "main") == found
    assert features.all_placed(found, None) == found
