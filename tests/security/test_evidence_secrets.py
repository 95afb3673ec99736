"""No secret that somebody says, runs, prints, logs or commits gets into the index or the store.

The files are searched byte by byte, for any ten characters in a row of a secret's random end.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault import site as sites
from tests.fault.site import Git, Site
from tests.security.test_redaction import SAMPLES, pem
from tether import index, redaction
from tether.evidence import mentions
from tether.store import sqlite

# One of each kind, written as it stands in a text.
KINDS = list({name: (name, value, secret) for name, value, secret in reversed(SAMPLES)}.values())


@pytest.fixture
def site(tmp_path: Path, git: Git) -> Site:
    return sites.make(tmp_path, git)


def left(site: Site) -> list[str]:
    """The kinds of secrets of which something is in our files."""
    store = site.witness()._store
    store.ensure_writable()
    site.look()
    site.look()
    found: set[str] = set()
    for name in (index.FILE_NAME, sqlite.FILE_NAME):
        content = (site.own / name).read_bytes().decode("latin-1")
        assert "H.1.2" in content
        found |= {content[at : at + 10] for at in range(len(content))}
    return sorted(
        {name for name, _, secret in SAMPLES if any(map(found.__contains__, ends(secret)))}
    )


def ends(secret: str) -> Iterator[str]:
    # What ends a private key is no secret.
    secret = secret.rpartition("-----END")[0] or secret
    last = secret[-200:] if len(secret) > 200 else secret[-24:]
    return (last[at : at + 10] for at in range(len(last) - 9))


def say_everything(site: Site) -> None:
    talk = site.talk()
    for number, (_, value, _) in enumerate(SAMPLES):
        task = f"H.1.{1 + number % 3}"
        talk.add(
            talk.prompt(f"Use {value} for {task}"),
            talk.said(f"For {task}:\n{value}\n"),
            talk.said(f"{value} {task} {value}"),
        )


def do_everything(site: Site) -> None:
    """In what tools are given, and in what they give back."""
    talk = site.talk(sites.OTHER)
    for number, (_, value, _) in enumerate(KINDS):
        task = f"H.1.{1 + number % 3}"
        todo = {"content": f"{task}: {value}", "status": "in_progress"}
        talk.add(
            talk.tool("Bash", command=f"git commit -m '{value}'", description=f"{task}: {value}"),
            talk.tool("Bash", command=f"{task} {value}", description="Run it"),
            talk.tool("TodoWrite", todos=[todo]),
            talk.tool("TaskCreate", subject=f"{task}: {value}", description=value),
            talk.tool("Agent", description=f"{task}: {value}", prompt=value),
            talk.result(f"{task} {value}"),
            talk.result(f"{value} failed for {task}", is_error=True),
            talk.said(f"The end of {task}", gitBranch=value),
            talk.said(value),
            talk.prompt(f"[{value}] {task}", customTitle=value),
        )
    talk.add(json.dumps({"type": "custom-title", "customTitle": KINDS[0][1]}) + "\n")


def log_everything(site: Site) -> None:
    place = site.home / ".coditect-data/session-logs/projects/REPO/machine"
    place.mkdir(parents=True)
    for number, (_, value, _) in enumerate(KINDS):
        task = f"H.1.{1 + number % 3}"
        (place / f"SESSION-LOG-2026-{1 + number // 28:02}-{1 + number % 28:02}.md").write_text(
            f"## 2026-11-01T08:00:00Z - Session Entry\n**Session ID:** `{value}`\n"
            f"**Focus:** {task} {value}\n\n### 2026-11-01T08:10:00Z - {task} {value}\n"
            f"- **Issue:** {value} {task}\n- **Files Modified:** `{value}`\n"
        )


def message_everything(site: Site) -> None:
    place = site.home / ".coditect-data/context-storage"
    place.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(place / "messaging.db")) as database:
        database.execute(
            "CREATE TABLE session_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, sender_id TEXT,"
            " message_type TEXT, payload TEXT, created_at TEXT)"
        )
        database.execute(
            "CREATE TABLE task_claims (task_id TEXT, session_id TEXT, claimed_at TEXT)"
        )
        for number, (_, value, _) in enumerate(KINDS):
            task = f"H.1.{1 + number % 3}"
            payload = json.dumps({"task_id": task, "note": value})
            at = "2026-11-01 08:00:00"
            row = (value, "started", payload, at)
            database.execute("INSERT INTO session_messages VALUES (NULL, ?, ?, ?, ?)", row)
            database.execute("INSERT INTO task_claims VALUES (?, ?, ?)", (task, value, at))
        database.commit()


def commit_everything(site: Site, git: Git) -> None:
    for number, (_, value, _) in enumerate(KINDS):
        task = f"H.1.{1 + number % 3}"
        words = ("commit", "-q", "--allow-empty", "-m", f"feat({task}): {value}", "-m", value)
        git(*words, cwd=site.repo)
        git("commit", "-q", "--allow-empty", "-m", f"chore: {value}", "-m", f"{task} {value}",
            cwd=site.repo)  # fmt: skip


def test_no_secret_that_is_said_is_kept(site: Site) -> None:
    say_everything(site)
    assert left(site) == []


def test_no_secret_that_a_tool_gets_or_prints_is_kept(site: Site) -> None:
    do_everything(site)
    assert left(site) == []


def test_no_secret_that_is_logged_is_kept(site: Site) -> None:
    log_everything(site)
    message_everything(site)
    assert left(site) == []


def test_no_secret_that_is_committed_is_kept(site: Site, git: Git) -> None:
    commit_everything(site, git)
    talk = site.talk()
    talk.add(talk.said("H.1.2"))
    assert left(site) == []


def test_no_secret_in_the_path_of_a_file_is_kept(site: Site, git: Git) -> None:
    talk = site.talk()
    talk.add(talk.said("H.1.2"))
    for _, value, _ in KINDS:
        path = f"/x/{value.strip()}/a.py".replace("\n", " ")
        talk.add(talk.tool("Edit", file_path=path, old_string="a"))
        talk.add(talk.tool("Write", file_path=path, description="H.1.2: Write", content="a"))
    for name, _, secret in KINDS:
        if name in ("aws key id", "github ghp", "npm", "openai", "stripe secret"):
            (site.repo / secret).write_text("a")
    git("add", "-A", cwd=site.repo)
    git("commit", "-qm", "feat(H.1.2): Add them", cwd=site.repo)
    assert left(site) == []


def test_without_redaction_they_are_found(
    site: Site, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    monkeypatch.setattr(redaction, "redact", lambda value, *_: value)
    say_everything(site)
    do_everything(site)
    log_everything(site)
    commit_everything(site, git)
    assert len(left(site)) >= 0.9 * len(KINDS)


def test_every_kind_of_secret_is_planted() -> None:
    assert len(KINDS) > 60
    assert {name for name, _, _ in KINDS} == {name for name, _, _ in SAMPLES}


def test_no_line_of_a_key_is_left_wherever_an_excerpt_ends() -> None:
    for gap in ("\n", "\r\n", "\n    ", "\n> ", "\n+", "\n  12→", ""):
        key = pem(gap, "RSA ", gap)
        lines = [line for line in key.split("\n")[1:-1] if line] or [key[40:-40]]
        for before in range(0, 600, 3):
            said = mentions.excerpt(f"H.1.2 {'x ' * (before // 2)}{key}", 0, "H.1.2")
            assert not any(line.strip()[-64:][:8] in said for line in lines), (gap, before)
