"""Which commits a merge credits to a task, on real histories; and what a claim depends on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import chronicles
from tests.chronicles import task_id
from tether.git import Oid
from tether.lineage.derive import unnamed

ONE, TWO, THREE = map(task_id, (1, 2, 3))
PULL = "Merge pull request #7 from anna"


class Workshop(chronicles.World):
    """Each commit adds a file of its own."""

    def add(self, message: str) -> Oid:
        name = f"part{self.seconds}"
        return self.change(message, **{name: f"def {name}():\n    return '{name}'\n"})

    def branch(self, name: str, start: str = "HEAD") -> None:
        self.git("checkout", "-q", "-b", name, start)

    def merge(self, branch: str, message: str, into: str = "main") -> None:
        self.git("checkout", "-q", into)
        self.seconds += 60
        self.git("merge", "-q", "--no-ff", "-m", message, branch)

    def credits(self) -> dict[str, set[str]]:
        """The tasks of each commit, and by what they are known."""
        self.bring(store_dir := self.index_dir())
        with contextlib.closing(self.connection(store_dir)) as connection:
            rows = connection.execute(
                "SELECT c.oid, n.key, t.how FROM commit_tasks AS t"
                " JOIN identity_commits AS c ON c.number = t.commit_no"
                " JOIN lineage_nodes AS n ON n.id = t.task"
            ).fetchall()
        found: dict[str, set[str]] = {}
        for oid, key, how in rows:
            found.setdefault(oid, set()).add(f"{how} {key.rpartition(':')[2]}")
        return found


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with contextlib.closing(Workshop(tmp_path.resolve())) as made:
        yield made


def test_a_branch_of_a_task_credits_what_names_nothing(shop: Workshop) -> None:
    shop.branch(f"{ONE}-bell")
    plain, own = shop.add("Begin the bell"), shop.add(f"{TWO}: by the way")
    shop.git("checkout", "-q", "main")
    beside = shop.add("Beside it")
    shop.merge(f"{ONE}-bell", f"{PULL}/{ONE}-bell\n\nA bell")
    found = shop.credits()
    assert found[plain] == {f"merge {ONE}"}
    assert found[own] == {f"named {TWO}"}
    assert beside not in found


def test_a_merge_into_the_branch_of_a_task_credits_nothing(shop: Workshop) -> None:
    shop.branch(f"{ONE}-bell")
    shop.add("Begin the bell")
    shop.git("checkout", "-q", "main")
    beside = shop.add("Beside it")
    shop.merge("main", f"Merge branch 'main' into {ONE}-bell", into=f"{ONE}-bell")
    assert beside not in shop.credits()


def test_a_release_of_many_tasks_is_work_on_none_of_them(shop: Workshop) -> None:
    """A real one brought in 328 commits of 216 tasks, and credited 582 files to its own."""
    shop.branch("agent-main")
    shop.add(f"{TWO}: a gong")
    plain = shop.add("Tidy up")
    shop.add(f"{THREE}: a horn")
    shop.merge("agent-main", f"{PULL}/agent-main\n\n[{ONE}] Promote agent-main to main")
    assert plain not in shop.credits()


def test_what_a_branch_took_in_from_elsewhere_is_not_work_on_its_task(shop: Workshop) -> None:
    shop.git("branch", "release")
    shop.branch(f"{ONE}-bell")
    own = shop.add("Begin the bell")
    shop.git("checkout", "-q", "main")
    beside = shop.add("Beside it")
    shop.merge("main", f"Merge branch 'main' into {ONE}-bell", into=f"{ONE}-bell")
    shop.merge(f"{ONE}-bell", f"Merge branch '{ONE}-bell' into release", into="release")
    found = shop.credits()
    assert found[own] == {f"merge {ONE}"}
    assert beside not in found


def test_branches_of_an_octopus_are_of_their_own_tasks(shop: Workshop) -> None:
    for task in (ONE, TWO):
        shop.branch(f"{task}-part", "main")
        shop.add("Begin a part")
    shop.git("checkout", "-q", "main")
    shop.add("Beside it")
    names = (f"{ONE}-part", f"{TWO}-part")
    oids = [shop.git("rev-parse", name) for name in names]
    shop.git("merge", "-q", "-m", f"Merge branches '{names[0]}' and '{names[1]}'", *names)
    found = shop.credits()
    assert [found.get(oid) for oid in oids] == [{f"merge {ONE}"}, {f"merge {TWO}"}]


# Claims


def test_what_names_no_task_changes_what_a_claim_may_mean(shop: Workshop) -> None:
    """Only commits of its time, or from an hour before on; and only those without a task."""
    shop.add("Begin")
    shop.bring(store_dir := shop.index_dir())
    begin, end = shop.now_ms() + 30_000, shop.now_ms() + 90_000
    spans = {
        "within": (begin, end),
        "soon after": (begin + 3_600_000, end + 3_600_000),
        "open": (begin, unnamed.ALWAYS),
        "before": (begin - 99_000, begin - 1),
        "long after": (begin + 3_700_000, end + 3_700_000),
    }

    def marks() -> dict[str, int]:
        with contextlib.closing(shop.connection(store_dir)) as connection:
            made = unnamed.Unnamed(connection)
            return {name: made.between(*each) for name, each in spans.items()}

    first = marks()
    shop.add(f"{ONE}: named")
    shop.seconds -= 60
    shop.bring(store_dir)
    assert marks() == first
    shop.add("Unnamed")
    shop.bring(store_dir)
    changed = {name for name, mark in marks().items() if mark != first[name]}
    assert changed == {"within", "soon after", "open"}
