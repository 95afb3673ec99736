"""What the store keeps of transcripts, on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests import agency, trails
from tests.agency import begin, spot
from tether import host, ids, workspace
from tether.agents import claims
from tether.evidence import model, witness
from tether.store import port, postgres, sql, sqlite, transfer

TASK = ids.TaskKey("track", "H.1.1")
KEPT = sql.Query("kept", "", "SELECT * FROM activities ORDER BY place, record, task")
TRANSCRIPTS = sql.Query("transcripts", "", "SELECT * FROM transcripts ORDER BY host_id, file")
PUT = sql.Query("put", "", "INSERT INTO meta (key, value) VALUES (:key, :value)")
GET = sql.Query("get", "", "SELECT key, value FROM meta WHERE key LIKE 'test.%' ORDER BY key")
Ask = Callable[..., witness.Witness]


@pytest.fixture(params=["sqlite", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(request.param, tmp_path, request))


@pytest.fixture
def store(opener: agency.OpenStore) -> port.Store:
    """A store that is there, with a session that may claim."""
    store = opener()
    begin(store, trails.SESSION)
    return store


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def talk(repo: Path) -> trails.Transcript:
    return trails.Transcript(repo)


@pytest.fixture
def file(repo: Path, home: Path) -> Path:
    """Where the transcript is to be written."""
    return trails.claude_file(home, repo)


@pytest.fixture
def ask(repo: Path, home: Path, store: port.Store, tmp_path: Path) -> Ask:
    """A witness of the repository; one with another index knows only what it reads."""

    def call(index: str = "index", **how: Any) -> witness.Witness:
        place = tmp_path / index
        place.mkdir(exist_ok=True)
        return trails.witness_of(repo, home, how.pop("store", store), store_dir=place, **how)

    return call


def add(file: Path, *lines: str) -> None:
    with file.open("a") as out:
        out.writelines(lines)


def excerpts(store: port.Store) -> list[str]:
    return [row["excerpt"] for row in store.rows(KEPT)]


def told(found: witness.Witness, key: ids.TaskKey = TASK) -> list[model.Activity]:
    activities = found.timeline(key).activities
    return [each for each in activities if each.source == "claude:transcript"]


# Keeping


def test_what_was_kept_is_kept_once(
    store: port.Store, ask: Ask, file: Path, talk: trails.Transcript
) -> None:
    add(file, talk.said("H.1.1 is next."), talk.said("Nothing of note."))
    first = told(ask())
    rows = store.rows(KEPT)
    assert ask().timeline(TASK).activities
    ask("another index").timeline(TASK)
    assert store.rows(KEPT) == rows
    [row] = rows
    assert row | {"record": ""} == {
        "source": "claude:transcript", "record": "", "task_source": "track", "task": "H.1.1",
        "kind": "mentioned", "what": "said", "at": "2026-11-01T00:00:00.000Z",
        "session": trails.SESSION, "host_id": host.here().host_id, "file": str(file),
        "place": first[0].pointer.replace(str(file), ""), "excerpt": "H.1.1 is next.", "files": "",
    }  # fmt: skip


def test_a_copy_of_a_transcript_adds_nothing(
    store: port.Store, ask: Ask, file: Path, talk: trails.Transcript
) -> None:
    add(file, talk.said("H.1.1 is next."))
    shutil.copy(file, file.with_name("1c6b2e0f-1111-4222-8333-444455556666.jsonl"))
    assert len(told(ask())) == 1
    assert len(store.rows(KEPT)) == 1
    assert len(store.rows(TRANSCRIPTS)) == 2


def test_a_file_that_grows_adds_what_is_new(
    store: port.Store, ask: Ask, file: Path, talk: trails.Transcript
) -> None:
    add(file, talk.said("H.1.1 is next."))
    ask().timeline(TASK)
    [before] = store.rows(TRANSCRIPTS)
    add(file, talk.said("H.1.1 goes on."))
    found = ask()
    found.timeline(TASK)
    assert found.looked.kept == 1
    assert sorted(excerpts(store)) == ["H.1.1 goes on.", "H.1.1 is next."]
    [after] = store.rows(TRANSCRIPTS)
    assert (before["read_to"], after["read_to"]) < (after["read_to"], file.stat().st_size + 1)
    again = ask()
    again.timeline(TASK)
    assert again.looked.kept == 0


def test_a_file_that_was_replaced_keeps_what_it_had(
    store: port.Store, ask: Ask, file: Path, talk: trails.Transcript
) -> None:
    add(file, talk.said("H.1.1 was first."), talk.said("Nothing of note, at some length."))
    ask().timeline(TASK)
    file.unlink()
    add(file, talk.said("H.1.1 is new."))
    assert [each.text for each in told(ask())] == ["H.1.1 was first.", "H.1.1 is new."]
    assert sorted(excerpts(store)) == ["H.1.1 is new.", "H.1.1 was first."]


def test_a_file_that_is_gone_is_still_told(
    store: port.Store, ask: Ask, file: Path, talk: trails.Transcript
) -> None:
    taken = claims.take(store, spot(), trails.SESSION, TASK)
    assert isinstance(taken, claims.Claimed)
    later = taken.claim.claimed_at
    add(file, talk.said("H.1.1 is next.", timestamp=later))
    edit = talk.tool("Edit", file_path="/house.py", old_string="a", new_string="b")
    add(file, edit.replace("2026-11-01T00:00:01.000Z", later))
    before = ask().timeline(TASK)
    assert [each.what for each in told(ask())] == ["said", "edited"]
    file.unlink()
    for index in ("index", "another index"):
        after = ask(index).timeline(TASK)
        assert after.activities == before.activities
        assert [each.session for each in after.sessions] == [trails.SESSION]


def test_another_reader_replaces_what_it_can_read_again(
    store: port.Store, ask: Ask, file: Path, talk: trails.Transcript
) -> None:
    add(file, talk.said("H.1.1 and PROJ-7."))
    gone = file.with_name("1c6b2e0f-1111-4222-8333-444455556666.jsonl")
    other = trails.Transcript(talk.cwd, gone.stem)
    add(gone, other.said("H.1.1 and PROJ-8."))
    ask(templates=("PROJ-#",)).timeline(TASK)
    assert {row["task"] for row in store.rows(KEPT)} == {"H.1.1", "PROJ-7", "PROJ-8"}
    gone.unlink()
    ask().timeline(TASK)
    assert {row["task"] for row in store.rows(KEPT)} == {"H.1.1", "PROJ-8"}
    assert len(told(ask())) == 2
    ask(templates=("PROJ-#",)).timeline(TASK)
    assert {row["task"] for row in store.rows(KEPT)} == {"H.1.1", "PROJ-7", "PROJ-8"}


def test_pointers_alone_are_kept_where_that_is_wanted(
    store: port.Store, ask: Ask, file: Path, talk: trails.Transcript
) -> None:
    add(file, talk.said("H.1.1 is a mystery."), talk.prompt("Why H.1.1?"))
    [said, asked] = told(ask(keeps_excerpts=False))
    assert excerpts(store) == ["", ""]
    [transcript] = store.rows(TRANSCRIPTS)
    assert "mystery" not in transcript["facts"]
    file.unlink()
    kept = told(ask(keeps_excerpts=False))
    assert kept == [said._replace(text=""), asked._replace(text="")]


def test_halves_of_characters_and_zeros_do_no_harm(
    store: port.Store, ask: Ask, file: Path, talk: trails.Transcript
) -> None:
    add(file, talk.said("H.1.1 \ud83d and \x00 are odd."))
    [said] = told(ask())
    assert said.text.startswith("H.1.1")
    [row] = store.rows(KEPT)
    assert "\x00" not in row["excerpt"]


@pytest.mark.parametrize("target", ["sqlite", "postgres"])
def test_what_is_kept_goes_with_an_export(
    store: port.Store,
    ask: Ask,
    file: Path,
    talk: trails.Transcript,
    target: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    add(file, talk.said("H.1.1 is next."))
    before = told(ask())
    lines: list[bytes] = []
    transfer.export(store, None, lines.append)
    (tmp_path / "other").mkdir()
    other = agency.opener_of(target, tmp_path / "other", request)()
    transfer.import_(other, lambda: lines)
    assert other.rows(KEPT) == store.rows(KEPT)
    assert other.rows(TRANSCRIPTS) == store.rows(TRANSCRIPTS)
    file.unlink()
    assert told(ask("new index", store=other)) == before
    again: list[bytes] = []
    transfer.export(other, None, again.append)
    assert again == lines
    other.close()


# A store that cannot be written


def test_a_store_that_is_not_there_is_not_made(
    repo: Path, home: Path, opener: agency.OpenStore, file: Path, talk: trails.Transcript
) -> None:
    store = opener()
    add(file, talk.said("H.1.1 is next."))
    found = trails.witness_of(repo, home, store)
    assert len(told(found)) == 1
    assert not store.exists()


def test_a_busy_store_is_a_problem_and_no_obstacle(
    tmp_path: Path, repo: Path, home: Path, file: Path, talk: trails.Transcript
) -> None:
    place = workspace.Workspace(None, str(tmp_path), str(tmp_path), str(tmp_path / "tether"))
    holder = sqlite.SqliteStore(place, wait_seconds=5)
    hasty = sqlite.SqliteStore(place, wait_seconds=0.05)
    holder.ensure_writable()
    add(file, talk.said("H.1.1 is next."))

    def work(_: port.Transaction) -> None:
        found = trails.witness_of(repo, home, hasty)
        assert len(told(found)) == 1
        [problem] = found.looked.problems
        assert problem.path == "the store"

    holder.write("test", work)
    found = trails.witness_of(repo, home, hasty)
    assert len(told(found)) == 1
    assert found.looked.problems == ()
    assert len(holder.rows(KEPT)) == 1
    holder.close()
    hasty.close()


def test_a_role_that_may_only_read_reads(
    postgres_url: str, repo: Path, home: Path, file: Path, talk: trails.Transcript
) -> None:
    name = ids.WorkspaceId.generate()
    owner = postgres.PostgresStore(postgres_url, name, wait_seconds=5)
    owner.ensure_writable()
    begin(owner, "s1")
    schema, role = f"tether_{name}", f"reader_{name}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    url = postgres_url.replace("postgres:@", f"{role}:@")
    reader = postgres.PostgresStore(url, name, wait_seconds=5)
    add(file, talk.said("H.1.1 is next."))
    found = trails.witness_of(repo, home, reader)
    assert len(told(found)) == 1
    assert [each.path for each in found.looked.problems] == ["the store"]
    owner.close()
    reader.close()


# Many rows at once


def put(store: port.Store, *keys: str | None) -> None:
    rows = [{"key": key, "value": str(number)} for number, key in enumerate(keys)]
    store.write("test", lambda transaction: transaction.many(PUT, rows))


def test_many_rows_are_written_in_order(store: port.Store) -> None:
    put(store, *(f"test.{number:04}" for number in range(2500)))
    found = store.rows(GET)
    assert [row["value"] for row in found] == [str(number) for number in range(2500)]
    put(store)
    assert len(store.rows(GET)) == 2500


def test_many_rows_may_come_one_by_one(store: port.Store) -> None:
    rows = ({"key": f"test.{number}", "value": "x"} for number in range(3))
    store.write("test", lambda transaction: transaction.many(PUT, rows))
    assert len(store.rows(GET)) == 3


@pytest.mark.parametrize("bad", ["test.1", None])
def test_one_refused_row_takes_all_back(store: port.Store, bad: str | None) -> None:
    with pytest.raises(port.RowRefused):
        put(store, "test.1", "test.2", bad, "test.3")
    assert store.rows(GET) == []
    put(store, "test.1")
    assert len(store.rows(GET)) == 1, "the store goes on"


def test_a_failure_after_many_rows_takes_them_back(store: port.Store) -> None:
    def work(transaction: port.Transaction) -> None:
        transaction.many(PUT, [{"key": "test.1", "value": "x"}])
        raise KeyError

    with pytest.raises(KeyError):
        store.write("test", work)
    assert store.rows(GET) == []


def test_the_lists_that_have_had_a_task_are_told(
    store: port.Store, ask: Ask, file: Path, talk: trails.Transcript
) -> None:
    add(file, talk.said("H.1.1 is next."))
    ask().timeline(TASK)
    file.unlink()
    claims.take(store, spot(), trails.SESSION, ids.TaskKey("jira", "H.1.1"))
    found = ask("another index")
    assert found.told_of(["H.1.1", "H.1"]) == [ids.TaskKey("jira", "H.1.1"), TASK]
    assert found.told_of(["H.1"]) == []
