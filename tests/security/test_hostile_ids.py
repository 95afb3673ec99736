"""Whatever somebody puts in an id's place, it is refused, unseen and without a trace."""

from __future__ import annotations

import os
import re
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Tether
from tether import errors, ids
from tether.cli import main
from tether.store import events

TRAVERSAL = [
    ".", "..", "...", "../x", "../../x", "../../../../etc/passwd", "..\\x", "..\\..\\x", "a/../b",
    "a/..", "./a", "a/./b", "/etc/passwd", "/", "//", "//server/share", "\\\\server\\share", "\\",
    "C:\\x", "C:x", "c:/x", "file:///etc/passwd", "~", "~/x", "~root/.ssh", "a/b", "a\\b", "a/",
    "/a", "..;/x", "....//x", "..%2fx", "%2e%2e%2fx", "%2e%2e/x", "..%252fx", "%2e", "%00", "%0a",
    "..%c0%afx", "..%ef%bc%8fx", ".git", ".git/config", ".gitkeep", ".ssh", ".env", "..a", ".-a",
    "a.", "a..", "a. ",
]  # fmt: skip
CONTROL = [
    "\0", "a\0", "\0a", "a\0b", "T-1\0.yaml", "\n", "a\n", "\na", "a\nb", "T-1\n", "T-1\r",
    "T-1\r\n", "a\rb", "a\tb", "\t", "a\x0bb", "a\x0cb", "a\x08", "a\x07", "a\x7f", "a\x80",
    "a\x85", "a\x9b31m", "\x01", "\x1a", "\x1b", "\x1b[31mred", "\x1b[2J\x1b[H", "a\x1b[0m",
    "\x1b]0;owned\x07", "\x1b]8;;http://evil.test\x1b\\x", "\x1b]52;c;cm0=\x07", "\x1bP1$r\x1b\\",
    "\x1b_G\x1b\\", "\x1bc", "\x1b[?1049h", "\x1b[6n", "\x9d0;x\x9c", "\x90q\x9c", "a\x1c", "a\x1d",
    "a\x1e", "a\x1f", "a\u2028b", "a\u2029b", "T-1\u2028", "T-1\x85",
]  # fmt: skip
UNICODE = [
    "\u202eT-1", "T\u202d-1", "\u2066T-1\u2069", "T-1\u200e", "T-1\u200f", "T\u061c-1", "T-1\u200b",
    "T\u200c1", "T\u200d1", "\u2060T-1", "\ufeffT-1", "T\u00ad1", "T\u034f1", "T-1\ufe0f",
    "T\U000e0041", "T\U000e0001", "\u0661", "T-\u0661", "\u0967", "\u09e7", "T-\uff11", "\uff34-1",
    "\uff0e\uff0e\uff0fx", "\u2024\u2024/x", "T\u20101", "T\u20111", "T\u20131", "T\u22121",
    "T\ufe631", "T\uff0d1", "T\uff3f1", "T\u2215x", "T\u2044x", "T\u29f8x", "\u0422-1", "\u03a4-1",
    "\u0430gent", "\u217c", "\u01c0", "T-\u00b2", "T-\u2460", "\U0001d7ce", "\U0001d413-1",
    "K\u0301", "\u212a", "\u017f", "\u0131", "\u0130", "\u00df", "\u00e9", "\U0001f600",
    "T-1\U0001f3fd", "a\u0300" * 20, "\ud800", "T-\udcff", "\udc80\udcff", "\ufdd0", "\uffff",
    "\ufffd", "\u00a0", "T\u00a01", "\u3000", "T-1\u3000", "\u1680", "\u2003T",
]  # fmt: skip
QUOTES = [
    "'", '"', "`", "''", "' OR '1'='1", "' OR 1=1 --", "'; DROP TABLE events; --",
    '"; DROP TABLE events; --', "1; DELETE FROM events", "1 UNION SELECT * FROM meta", "T-1' --",
    "T-1'/*", "*/", "/**/", "1=1", "a'b", "%", "_", "T%", "%s", "%(task)s", "%n", ":task", "?",
    "$1", "{0}", "{task}", "{{7*7}}", "${HOME}", "#{x}", "\\'", "\\x00", "\\n", "\\u0000", "NULL;",
    "x'00'", "E'\\x41'", "$$x$$", "<script>alert(1)</script>", "<img src=x>", "&lt;", "&#0;", "]]>",
    "<!--", "!!python/object:os.system", "&anchor", "*alias", "a: b", "- a", "# a", "[a]", "{a}",
    "|", ">", "a,b", "a;b", "=cmd|'/C calc'!A0", "+1", "@x", "=1+1",
]  # fmt: skip
SHELL = [
    "$(id)", "`id`", "a;id", "a|id", "a&id", "a&&id", "a||id", "a>x", "a<x", "$HOME", "$IFS", "a b",
    " a", "a ", "a  b", "!x", "^x", "*", "?", "[a-z]", "a*", "{a,b}", "~+", "a=b", "FOO=bar",
    "a(b)", "\\a", "a\\", "a#b", "--", "-", "-x", "--help", "--version", "--json", "--yes",
    "--limit=3", "-rf", "-C", "--exec=id", "-oProxy", "--upload-pack=id", "-c", "--output=/etc/x",
    "@-", "@file", "HEAD~1", "a^{tree}", "a@{1}", ":a", "a:b", "refs/heads/x", "a..b/c", "origin/x",
    "javascript:x", "http://evil.test", "git@evil.test:x", "ext::id",
]  # fmt: skip
DEVICES = [
    "con", "CON", "prn", "aux", "nul", "NUL", "com1", "COM9", "lpt1", "LPT9", "nul.txt", "con.yaml",
    "Aux.a.b", "com1.", "CONIN$", "COM\u00b9", "NUL:", "nul ",
]  # fmt: skip
LONG = [
    "a" * 129, "a" * 1000, "a" * 65_536, "a" * 1_000_000, "-" * 1000, "." * 1000, "../" * 1000,
    "a\n" * 1000, "\U0001f600" * 500, " " * 1000,
]  # fmt: skip
HOSTILE = list(dict.fromkeys([*TRAVERSAL, *CONTROL, *UNICODE, *QUOTES, *SHELL, *DEVICES, *LONG]))
TYPES = [ids.TaskId, ids.AgentName, ids.SessionId, ids.NodeId, ids.WorkspaceId]


def label(value: str) -> str:
    return f"{ascii(value)[:24]}-{len(value)}"


def fits_the_system(value: str) -> bool:
    """Can it be in an environment at all?"""
    try:
        return b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def fits_toml(value: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in value)


def in_toml(value: str) -> str:
    """The value as a string in TOML, so that nothing of it is the file's own."""
    return '"' + "".join(f"\\U{ord(char):08x}" for char in value) + '"'


def assert_clean(shown: str, value: str) -> None:
    """Neither the hostile text nor any control character is in what is shown."""
    assert "Traceback" not in shown
    assert "TETHER_DEBUG" not in shown  # how an error that nobody expected ends
    for char in shown:
        assert char == "\n" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
    if len(value) >= 4:
        assert value not in shown


def tree(path: Path) -> dict[str, bytes | None]:
    return {
        str(each.relative_to(path)): each.read_bytes() if each.is_file() else None
        for each in sorted(path.rglob("*"))
    }


@pytest.fixture
def call(
    tmp_path: Path,
    environ: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str]]:
    """The command line in this process, in a new repository; (exit code, everything shown)."""
    here = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(here)], env=environ, check=True)
    for name in [name for name in os.environ if name.startswith(("TETHER_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", environ["HOME"])

    def run(*words: str, **variables: str) -> tuple[int, str]:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        code = main.main(["-C", str(here), *words])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def test_there_are_hundreds_of_hostile_texts() -> None:
    assert len(HOSTILE) >= 200


@pytest.mark.parametrize("value", ["", *HOSTILE], ids=label)
def test_no_type_of_id_takes_it(value: str) -> None:
    for kind in TYPES:
        with pytest.raises(errors.InvalidId) as caught:
            kind(value)
        assert_clean(caught.value.message + caught.value.hint, value)


def is_key(value: str) -> bool:
    source, colon, task = value.partition(":")
    return bool(colon) and ids.SourceName.is_valid(source) and ids.TaskId.is_valid(task)


@pytest.mark.parametrize("value", ["", *HOSTILE], ids=label)
def test_nobody_claims_registers_or_writes_under_it(
    value: str, tmp_path: Path, call: Callable[..., tuple[int, str]]
) -> None:
    before = tree(tmp_path)
    tasks = (
        []
        if is_key(value)
        else [["claim", "--", value], ["release", "--", value], ["beat", "--task", value]]
    )
    for words in (
        *tasks,
        ["agent", "register", f"--session={value}"],
        ["agent", "register", "--session", "s1", f"--name={value}"],
        ["agent", "register", "--session", "s1", f"--parent={value}"],
        ["agent", "end", f"--session={value}"],
        ["claim", "T1", f"--session={value}"],
    ):
        code, shown = call(*words)
        assert code == errors.InvalidId.exit_code
        assert_clean(shown, value)
    code, shown = call("send", "--", value, "hello")
    assert code in (errors.InvalidId.exit_code, errors.NotFound.exit_code)
    assert_clean(shown, value)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("value", ["", *HOSTILE], ids=label)
def test_events_are_not_looked_up_by_it(
    value: str, tmp_path: Path, call: Callable[..., tuple[int, str]]
) -> None:
    before = tree(tmp_path)
    # `source:id` is how a task of another source is called.
    tasks = [] if is_key(value) else [["--task", value], [f"--task={value}"]]
    for words in (*tasks, ["--session", value], [f"--session={value}", "--json"]):
        code, shown = call("events", *words)
        assert code == errors.InvalidId.exit_code
        assert_clean(shown, value)
        assert "is not a valid" in shown
    assert tree(tmp_path) == before


@pytest.mark.parametrize("value", [v for v in HOSTILE if fits_the_system(v)], ids=label)
def test_an_agent_of_that_name_changes_nothing(
    value: str, tmp_path: Path, call: Callable[..., tuple[int, str]]
) -> None:
    before = tree(tmp_path)
    code, shown = call("init", "--yes", TETHER_AGENT=value)
    assert code == errors.InvalidId.exit_code
    assert "not a valid agent name" in shown
    assert_clean(shown, value)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("value", [v for v in HOSTILE if fits_toml(v)], ids=label)
def test_a_tracked_workspace_id_like_that_is_a_config_error(
    value: str, tmp_path: Path, call: Callable[..., tuple[int, str]]
) -> None:
    (tmp_path / "repo" / "tether.toml").write_text(f"workspace_id = {in_toml(value)}\n")
    before = tree(tmp_path)
    for words in (["events"], ["init", "--yes"], ["init", "--yes", "--json"]):
        code, shown = call(*words)
        assert code == errors.ConfigError.exit_code
        assert "tether.toml" in shown
        assert_clean(shown, value)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("value", [v for v in HOSTILE if fits_the_system(v)], ids=label)
def test_a_workspace_id_like_that_in_the_environment_is_a_config_error(
    value: str, tmp_path: Path, call: Callable[..., tuple[int, str]]
) -> None:
    before = tree(tmp_path)
    for words in (["events"], ["init", "--yes"]):
        code, shown = call(*words, TETHER_WORKSPACE_ID=value)
        assert code == errors.ConfigError.exit_code
        assert "TETHER_WORKSPACE_ID" in shown
        assert_clean(shown, value)
    assert tree(tmp_path) == before


PROCESS = [
    "../../../../etc/passwd", "T-1\n", "\x1b[2J\x1b]0;owned\x07", "\u202eT-1",
    "'; DROP TABLE events; --", "$(id)", "--help", "T-\udcff", "nul.txt", "a" * 100_000, "T-\u0661",
    "%2e%2e%2fx",
]  # fmt: skip


@pytest.mark.parametrize("value", PROCESS, ids=label)
def test_a_real_process_refuses_it_too(
    value: str, repo: Path, tmp_path: Path, tether: Tether
) -> None:
    before = tree(tmp_path)
    ended = tether("events", "--task", value, cwd=repo)
    assert ended.code == errors.InvalidId.exit_code
    assert ended.out == ""
    assert_clean(ended.err, value)
    ended = tether("events", "--json", "--session", value, cwd=repo)
    assert (ended.code, ended.json["error"]["code"]) == (2, "invalid_id")
    assert_clean(ended.out + ended.err, value)
    ended = tether("init", "--yes", cwd=repo, env={"TETHER_AGENT": value})
    assert ended.code == errors.InvalidId.exit_code
    assert_clean(ended.out + ended.err, value)
    ended = tether("events", cwd=repo, env={"TETHER_WORKSPACE_ID": value})
    assert ended.code == errors.ConfigError.exit_code
    assert_clean(ended.out + ended.err, value)
    assert tree(tmp_path) == before


# Controls


def test_control_a_good_name_passes_every_entry(call: Callable[..., tuple[int, str]]) -> None:
    code, _ = call("init", "--yes", TETHER_AGENT="claude-1f3a", TETHER_WORKSPACE_ID="abcdefgh12")
    assert code == 0
    code, shown = call("events", "--json")
    assert code == 0
    assert events.WORKSPACE_INITIALISED.name in shown
    assert '"actor": "claude-1f3a"' in shown
    for option in ("--task", "--session"):
        assert call("events", option, "T-1")[0] == 0


def test_control_what_is_easily_written_instead_takes_some_of_them() -> None:
    naive = re.compile(r"^[A-Za-z0-9][\w.-]{0,63}$")
    taken = [value for value in HOSTILE if naive.match(value)]
    assert "T-1\n" in taken
    assert "T-\u0661" in taken
    assert "nul.txt" in taken


def test_control_a_message_that_repeats_the_value_is_noticed() -> None:
    for value in ("\x1b[2J", "a\u202eb", "'; DROP TABLE events; --"):
        with pytest.raises(AssertionError):
            assert_clean(f"This is not a valid task id: {value}", value)
