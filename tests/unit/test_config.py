"""Which setting counts, what may stand where, and when the cache is believed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.parts import need
from tether import __version__, config, errors, ids, workspace

Git = Callable[..., str]


class Sources:
    """The four places of settings of one repository."""

    def __init__(self, repo: Path, home: Path) -> None:
        self.repo = repo
        self.tracked = repo / "tether.toml"
        self.user = home / ".config" / "tether" / "config.toml"
        self.environ = {"HOME": str(home)}
        self.place = workspace.find(str(repo))
        self.local = Path(self.place.store_dir) / "local.toml"
        self.cache = Path(self.place.store_dir) / "cache" / "settings.main.json"
        for path in (self.user, self.local):
            path.parent.mkdir(parents=True)

    def load(self) -> config.Settings:
        return config.load(self.place, self.environ)

    def wait_seconds(self) -> tuple[int, str]:
        """The setting that these tests mostly look at, and where it came from."""
        settings = self.load()
        return settings.integer("store.wait_seconds"), settings.origins["store.wait_seconds"]

    def plant(self, **changes: object) -> None:
        """A cache that says 77 and is right in everything else, but for `changes`."""
        self.cache.unlink(missing_ok=True)
        settings = self.load().replacing("store.wait_seconds", 77, "planted")
        stamps = [stamp_of(path) for path in config.places(self.place, self.environ).values()]
        record = {"version": __version__, "stamps": stamps, **settings._asdict(), **changes}
        self.cache.parent.mkdir(exist_ok=True)
        self.cache.write_text(json.dumps(record))


def stamp_of(path: str) -> list[object]:
    if not os.path.exists(path):
        return [path]
    found = os.stat(path)
    return [path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


@pytest.fixture
def sources(repo: Path, environ: dict[str, str]) -> Sources:
    return Sources(repo, Path(environ["HOME"]))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose clock is a minute ahead of its files: none of them is fresh."""
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + 60 * 10**9)


def seconds(n: int) -> str:
    return f"[store]\nwait_seconds = {n}\n"


def deep(opening: str, closing: str, depth: int = 10_000) -> str:
    return "a = " + opening * depth + closing * depth + "\n"


# Which one counts


def test_without_files_every_setting_has_its_default(sources: Sources) -> None:
    settings = sources.load()
    assert settings.values == {setting.name: setting.default for setting in config.SETTINGS}
    assert set(settings.origins.values()) == {"default"}
    assert settings.warnings == ()
    assert settings.workspace_id is None


def test_later_sources_win(sources: Sources) -> None:
    assert sources.wait_seconds() == (10, "default")
    sources.tracked.write_text(seconds(21))
    assert sources.wait_seconds() == (21, "tether.toml")
    sources.user.write_text(seconds(22))
    assert sources.wait_seconds() == (22, "user config")
    sources.local.write_text(seconds(23))
    assert sources.wait_seconds() == (23, "local.toml")
    sources.environ["TETHER_STORE_WAIT_SECONDS"] = "24"
    assert sources.wait_seconds() == (24, "TETHER_STORE_WAIT_SECONDS")


def test_a_source_that_says_nothing_of_a_setting_leaves_it(sources: Sources) -> None:
    sources.tracked.write_text('workspace_id = "abcdefgh12"\n' + seconds(21))
    sources.user.write_text('[store]\nurl = "postgresql://host/db"\n')
    sources.local.write_text(seconds(23))
    settings = sources.load()
    assert settings.workspace_id == "abcdefgh12"
    assert settings.text("store.url") == "postgresql://host/db"
    told = {name: origin for name, origin in settings.origins.items() if origin != "default"}
    assert told == {
        "workspace_id": "tether.toml",
        "store.url": "user config",
        "store.wait_seconds": "local.toml",
    }


def test_an_empty_variable_counts_as_none(sources: Sources) -> None:
    sources.tracked.write_text(seconds(21))
    sources.environ["TETHER_STORE_WAIT_SECONDS"] = ""
    assert sources.wait_seconds() == (21, "tether.toml")


def test_the_user_file_follows_the_xdg_directory(sources: Sources, tmp_path: Path) -> None:
    (tmp_path / "xdg" / "tether").mkdir(parents=True)
    (tmp_path / "xdg" / "tether" / "config.toml").write_text(seconds(31))
    sources.user.write_text(seconds(32))
    sources.environ["XDG_CONFIG_HOME"] = str(tmp_path / "xdg")
    assert sources.wait_seconds() == (31, "user config")


def test_a_bare_repository_has_no_tracked_file(tmp_path: Path, git: Git) -> None:
    git("init", "-q", "--bare", "bare.git", cwd=tmp_path)
    place = workspace.find(str(tmp_path / "bare.git"))
    (tmp_path / "bare.git" / "tether.toml").write_text(seconds(21))
    assert "tether.toml" not in config.places(place, {})
    assert config.load(place, {"HOME": str(tmp_path)}).integer("store.wait_seconds") == 10


def test_the_names_in_the_environment_are_those_of_the_settings() -> None:
    assert [setting.variable for setting in config.SETTINGS][:3] == [
        "TETHER_WORKSPACE_ID",
        "TETHER_STORE_URL",
        "TETHER_STORE_WAIT_SECONDS",
    ]


def test_the_line_that_init_writes_is_read(sources: Sources) -> None:
    made = ids.WorkspaceId.generate()
    sources.tracked.write_bytes(config.with_workspace_id(b"", made))
    assert sources.load().workspace_id == made


# Unknown names


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("[store]\nwait_second = 3", "'store.wait_second'; did you mean store.wait_seconds?"),
        ('workspaceid = "x"', "'workspaceid'; did you mean workspace_id?"),
        ("colour = 3", "'colour'."),
    ],
)
def test_an_unknown_name_is_a_warning_with_a_suggestion(
    sources: Sources, line: str, warning: str
) -> None:
    sources.tracked.write_text(line + "\n")
    assert sources.load().warnings == (f"tether.toml: there is no setting {warning}",)


def test_every_source_warns_for_itself(sources: Sources) -> None:
    for path in (sources.tracked, sources.user, sources.local):
        path.write_text("colour = 1\n")
    labels = [warning.partition(":")[0] for warning in sources.load().warnings]
    assert labels == ["tether.toml", "user config", "local.toml"]


HOSTILE_KEYS = [
    "\\u001b[2J\\u001b]0;owned\\u0007", "\\u009b31m", "a\\nb: forged", "\\r\\nforged",
    "\\u202egnol", "\\u200b\\u200b", "\\u0000", "\\U000E0041", "x" * 5000,
    "'; DROP TABLE events; --", "",
]  # fmt: skip


@pytest.mark.parametrize("key", HOSTILE_KEYS, ids=lambda key: ascii(key[:20]))
def test_a_hostile_name_is_cleaned_in_its_warning(sources: Sources, key: str) -> None:
    sources.tracked.write_text(f'"{key}" = 1\n')
    [warning] = sources.load().warnings
    assert warning.isprintable()
    assert len(warning) < 150
    assert "\u202e" not in warning
    assert "\u200b" not in warning


def test_a_hostile_forbidden_name_is_cleaned_in_its_error(sources: Sources) -> None:
    sources.tracked.write_text('["\\u001b[2J\\n\\u202e"]\nurl = "x"\n')
    with pytest.raises(errors.ConfigForbidden) as caught:
        sources.load()
    assert caught.value.message.isprintable()
    assert "\u202e" not in caught.value.message


# Wrong values


@pytest.mark.parametrize(
    "value", ['"ten"', "1.5", "true", "[1]", "2026-11-15", '"-1"', '"1_0"', '"٣"']
)
def test_a_number_must_be_a_whole_number(sources: Sources, value: str) -> None:
    sources.tracked.write_text(f"[store]\nwait_seconds = {value}\n")
    with pytest.raises(
        errors.ConfigError, match=r"tether.toml: store.wait_seconds must be a whole"
    ):
        sources.load()


@pytest.mark.parametrize("value", [0, 601, -1, 10**18])
def test_a_number_must_be_in_its_range(sources: Sources, value: int) -> None:
    sources.local.write_text(seconds(value))
    with pytest.raises(errors.ConfigError, match=r"local.toml: .* must be from 1 to 600"):
        sources.load()


@pytest.mark.parametrize("value", [1, 600])
def test_the_ends_of_a_range_are_in_it(sources: Sources, value: int) -> None:
    sources.local.write_text(seconds(value))
    assert sources.wait_seconds() == (value, "local.toml")


@pytest.mark.parametrize("value", ["0", "601", "ten", "1.5", "-1", "９", "1" * 100_000])
def test_the_environment_is_checked_too(sources: Sources, value: str) -> None:
    sources.environ["TETHER_STORE_WAIT_SECONDS"] = value
    with pytest.raises(errors.ConfigError, match="TETHER_STORE_WAIT_SECONDS: ") as caught:
        sources.load()
    assert len(caught.value.message) < 120


@pytest.mark.parametrize("value", ["1", "true", "[]", "1.5", "2026-11-15"])
def test_text_must_be_text(sources: Sources, value: str) -> None:
    sources.tracked.write_text(f"workspace_id = {value}\n")
    with pytest.raises(errors.ConfigError, match="workspace_id must be text"):
        sources.load()


@pytest.mark.parametrize("value", ["short", "UPPERCASE1", "../../../x", "a" * 41])
def test_a_workspace_id_must_be_one(sources: Sources, value: str) -> None:
    sources.tracked.write_text(f'workspace_id = "{value}"\n')
    with pytest.raises(errors.ConfigError, match="8 to 40 small letters") as caught:
        sources.load()
    assert value not in caught.value.message


@pytest.mark.parametrize(
    "value", ["sqlite:///x", "host=db", "/var/run", "https://x", "Postgresql://x"]
)
def test_a_store_url_is_that_of_postgresql(sources: Sources, value: str) -> None:
    sources.environ["TETHER_STORE_URL"] = value
    with pytest.raises(errors.ConfigError, match="must start with postgresql://"):
        sources.load()


def test_a_wrong_url_is_not_repeated(sources: Sources) -> None:
    sources.environ["TETHER_STORE_URL"] = "mysql://bob:hunter22@host/db"
    with pytest.raises(errors.ConfigError) as caught:
        sources.load()
    assert "hunter22" not in caught.value.message


# Files that are no settings


def test_text_that_is_not_utf_8_is_said_to_be_so(sources: Sources) -> None:
    sources.tracked.write_bytes(b'workspace_id = "\xff\xfe"\n')
    with pytest.raises(errors.ConfigError, match=r"tether.toml is not UTF-8 text"):
        sources.load()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a = 1\nb = \n", 2),
        ("a = 1\n\na = 2\n", 3),
        ("[store\n", 1),
        ("a = 1\n\x1b[2J = 2\n", 2),
        ("<<<<<<< HEAD\n", 1),
    ],
)
def test_invalid_toml_is_told_with_its_line(sources: Sources, content: str, line: int) -> None:
    sources.tracked.write_text(content)
    with pytest.raises(errors.ConfigError, match=rf"not valid TOML: .*line {line}\b") as caught:
        sources.load()
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("value", ["1" * 5000, "-" + "9" * 60_000, "0x" + "f" * 60_000])
def test_a_number_of_thousands_of_digits_is_a_mistake_in_the_file(
    sources: Sources, value: str
) -> None:
    sources.tracked.write_text(f"[store]\nwait_seconds = {value}\n")
    with pytest.raises(errors.ConfigError):
        sources.load()


def test_a_file_that_is_too_large_is_left_alone(sources: Sources) -> None:
    sources.tracked.write_text("#" * 64 * 1024 + "\n")
    with pytest.raises(errors.FileTooLarge):
        sources.load()
    sources.tracked.write_text("#" * (64 * 1024 - 1) + "\n")
    assert sources.load().warnings == ()


@pytest.mark.parametrize(
    "content",
    [
        deep("[", "]"),
        deep("{a=", "1}"),
        deep("{a=[", "1]}", 5_000),
        "[" + ".".join(["a"] * 10_000) + "]\nb = 1\n",
        ".".join(["a"] * 5_000) + " = 1\n",
        "[[" + ".".join(["a"] * 10_000) + "]]\nb = 1\n",
    ],
    ids=["arrays", "tables", "both", "header", "key", "array of tables"],
)
def test_ten_thousand_levels_are_a_config_error(sources: Sources, content: str) -> None:
    sources.tracked.write_text(content)
    with pytest.raises(errors.ConfigError):
        sources.load()


def test_nesting_that_is_not_absurd_is_only_unknown(sources: Sources) -> None:
    sources.tracked.write_text("a.b.c.d.e = 1\n")
    assert sources.load().warnings == ("tether.toml: there is no setting 'a.b.c.d.e'.",)


_LOAD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
from tether import config, errors, workspace
try:
    config.load(workspace.find(sys.argv[1]), {"HOME": "/nonexistent"})
except errors.ConfigError as error:
    print(error.code)
"""


def test_a_tracked_file_cannot_keep_a_command_busy(sources: Sources) -> None:
    """Whoever can push a branch writes it; tomllib needs a time quadratic in a key's parts."""
    sources.tracked.write_text(".".join(["a"] * 32_000) + " = 1\n")
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, str(sources.repo)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "config_invalid\n")


def test_a_tracked_file_cannot_flood_the_terminal(sources: Sources) -> None:
    sources.tracked.write_text("".join(f"k{n} = 1\n" for n in range(5_000)))
    assert 1 <= len(sources.load().warnings) <= 100


# Links


def test_a_link_as_the_tracked_file_is_refused(sources: Sources, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text(seconds(21))
    sources.tracked.symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(errors.LinkRefused):
        sources.load()


def test_a_dangling_link_as_the_tracked_file_is_refused(sources: Sources) -> None:
    sources.tracked.symlink_to("nowhere")
    with pytest.raises(errors.LinkRefused):
        sources.load()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["directory", "pipe"])
def test_what_is_no_file_is_not_read(sources: Sources, make: Callable[[Path], None]) -> None:
    make(sources.tracked)
    with pytest.raises(errors.FileError):
        sources.load()


def test_the_users_own_files_may_be_links(sources: Sources, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text(seconds(41))
    sources.user.symlink_to(tmp_path / "dotfiles.toml")
    assert sources.wait_seconds() == (41, "user config")
    (tmp_path / "local-elsewhere.toml").write_text(seconds(42))
    sources.local.symlink_to(tmp_path / "local-elsewhere.toml")
    assert sources.wait_seconds() == (42, "local.toml")


# What a tracked file may not say


@pytest.mark.parametrize(
    "content",
    [
        '[store]\nurl = "postgresql://evil.test/db"\n',
        'store.url = "postgresql://evil.test/db"\n',
        'store = {url = "postgresql://evil.test/db"}\n',
        '"store.url" = "postgresql://evil.test/db"\n',
        'url = "https://evil.test"\n',
        'command = "curl evil.test"\n',
        'worker = ["sh", "-c", "x"]\n',
        'notify = "x"\n',
        'auditor = "x"\n',
        'usage = "x"\n',
        '[coordinator]\nworker = "x"\n',
        '[coordinator.run]\nnotify = "x"\n',
        '[no.such.section]\ncommand = "x"\n',
        '[a.b.c.d]\nurl = "x"\n',
        'a = {b = {command = "x"}}\n',
        '[[hooks]]\ncommand = "x"\n',
        '[hooks]\nall = [{command = "x"}]\n',
        '[[a]]\n[[a.b]]\nworker = "x"\n',
        "[store]\nurl = 5\n",
        '[store]\nurl = ""\n',
    ],
)
def test_a_tracked_file_may_not_connect_or_run(sources: Sources, content: str) -> None:
    sources.tracked.write_text(content)
    with pytest.raises(errors.ConfigForbidden) as caught:
        sources.load()
    assert caught.value.exit_code == 1
    assert "evil.test" not in caught.value.message


def test_the_users_own_files_may_connect(sources: Sources) -> None:
    for path, url in ((sources.user, "postgresql://a/x"), (sources.local, "postgres://b/y")):
        path.write_text(f'[store]\nurl = "{url}"\n')
        assert sources.load().text("store.url") == url
    sources.environ["TETHER_STORE_URL"] = "postgresql://c/z"
    assert sources.load().text("store.url") == "postgresql://c/z"


def test_nothing_of_a_forbidden_file_is_used_or_cached(sources: Sources, later: None) -> None:
    sources.tracked.write_text(seconds(21) + 'url = "postgresql://evil.test/db"\n')
    for _ in range(2):
        with pytest.raises(errors.ConfigForbidden):
            sources.load()
    assert not sources.cache.exists()


# The cache


def test_settings_are_cached(sources: Sources, later: None) -> None:
    sources.tracked.write_text(seconds(21))
    assert sources.wait_seconds() == (21, "tether.toml")
    record = json.loads(sources.cache.read_text())
    assert record["version"] == __version__
    assert record["values"]["store.wait_seconds"] == 21


def test_settings_without_files_are_cached(sources: Sources) -> None:
    sources.load()
    assert sources.cache.exists()


def test_the_cache_is_believed_when_nothing_changed(sources: Sources) -> None:
    sources.tracked.write_text(seconds(21))
    sources.plant()
    assert sources.wait_seconds() == (77, "planted")


def test_warnings_come_from_the_cache_too(sources: Sources, later: None) -> None:
    sources.tracked.write_text("colour = 1\n")
    first = sources.load()
    assert sources.cache.exists()
    assert sources.load() == first
    assert len(first.warnings) == 1


def test_the_environment_wins_over_the_cache_and_is_not_in_it(
    sources: Sources, later: None
) -> None:
    sources.environ["TETHER_STORE_WAIT_SECONDS"] = "24"
    assert sources.wait_seconds() == (24, "TETHER_STORE_WAIT_SECONDS")
    del sources.environ["TETHER_STORE_WAIT_SECONDS"]
    assert sources.wait_seconds() == (10, "default")


@pytest.mark.parametrize("name", ["tracked", "user", "local"])
def test_a_source_that_appears_or_goes_is_noticed(sources: Sources, name: str) -> None:
    path: Path = getattr(sources, name)
    sources.plant()
    assert sources.wait_seconds()[0] == 77
    path.write_text(seconds(31))
    assert sources.wait_seconds()[0] == 31
    sources.plant()
    assert sources.wait_seconds()[0] == 77
    path.unlink()
    assert sources.wait_seconds()[0] == 10


@pytest.mark.parametrize("name", ["tracked", "user", "local"])
def test_a_source_that_changes_is_noticed(sources: Sources, name: str) -> None:
    path: Path = getattr(sources, name)
    path.write_text(seconds(31))
    sources.plant()
    path.write_text(seconds(132))
    assert sources.wait_seconds()[0] == 132


def test_a_change_that_hides_in_its_size_and_time_is_noticed(sources: Sources) -> None:
    sources.tracked.write_text(seconds(31))
    before = os.stat(sources.tracked)
    sources.plant()
    (sources.repo / "new").write_text(seconds(32))
    os.replace(sources.repo / "new", sources.tracked)
    os.utime(sources.tracked, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(sources.tracked).st_size == before.st_size
    assert sources.wait_seconds()[0] == 32


def test_a_link_of_the_user_that_is_turned_is_noticed(sources: Sources, tmp_path: Path) -> None:
    for n in (31, 32):
        (tmp_path / f"{n}.toml").write_text(seconds(n))
    sources.user.symlink_to(tmp_path / "31.toml")
    sources.plant()
    assert sources.wait_seconds()[0] == 77
    sources.user.unlink()
    sources.user.symlink_to(tmp_path / "32.toml")
    assert sources.wait_seconds()[0] == 32


def test_another_home_has_other_settings(sources: Sources, tmp_path: Path) -> None:
    sources.plant()
    (tmp_path / "guest").mkdir()
    sources.environ["HOME"] = str(tmp_path / "guest")
    assert sources.wait_seconds() == (10, "default")


def test_the_cache_of_another_version_is_not_believed(sources: Sources) -> None:
    sources.plant(version="0.0.0")
    assert sources.wait_seconds() == (10, "default")


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"null", b"[]", b"7", b'"x"', b"\xff\xfe\0", b"{}", b"[" * 200_000, b"{" * 200_000,
     b'{"version": 1}', b'{"version": "' + __version__.encode() + b'"}'],
    ids=lambda damage: repr(damage[:12]),
)  # fmt: skip
def test_a_damaged_cache_counts_as_none(sources: Sources, damage: bytes) -> None:
    sources.tracked.write_text(seconds(21))
    sources.cache.parent.mkdir()
    sources.cache.write_bytes(damage)
    assert sources.wait_seconds() == (21, "tether.toml")


def test_half_a_cache_counts_as_none(sources: Sources) -> None:
    sources.plant()
    whole = sources.cache.read_bytes()
    for length in range(0, len(whole) - 1, 40):
        sources.cache.write_bytes(whole[:length])
        assert sources.wait_seconds() == (10, "default")


@pytest.mark.parametrize(
    "changes",
    [
        {"values": {}},
        {"values": []},
        {"values": None},
        {"values": {"workspace_id": "", "store.url": "", "store.wait_seconds": "soon"}},
        {"values": {"workspace_id": "../../x", "store.url": "", "store.wait_seconds": 10}},
        {"origins": []},
        {"origins": {}},
        {"warnings": None},
        {"warnings": 5},
    ],
    ids=repr,
)
def test_a_cache_of_another_shape_counts_as_none(
    sources: Sources, changes: dict[str, object]
) -> None:
    sources.plant(**changes)
    assert sources.wait_seconds() == (10, "default")
    assert sources.load().workspace_id is None


@pytest.mark.parametrize("kind", ["directory", "link", "file in its directory's place"])
def test_what_stands_in_the_caches_place_does_no_harm(
    sources: Sources, tmp_path: Path, later: None, kind: str
) -> None:
    sources.tracked.write_text(seconds(21))
    victim = tmp_path / "victim"
    victim.write_text("precious")
    if kind == "directory":
        sources.cache.mkdir(parents=True)
    elif kind == "link":
        sources.cache.parent.mkdir()
        sources.cache.symlink_to(victim)
    else:
        sources.cache.parent.write_text("")
    assert sources.wait_seconds() == (21, "tether.toml")
    assert victim.read_text() == "precious"


def test_a_read_only_store_directory_is_fine(sources: Sources, later: None) -> None:
    sources.tracked.write_text(seconds(21))
    if os.geteuid():
        sources.local.parent.chmod(0o500)
        place = sources.place
    else:
        # Root may write everywhere but where the kernel itself says no.
        need(os.path.isdir("/sys/kernel"), "a directory that nobody may write (/sys)")
        place = sources.place._replace(store_dir="/sys/kernel")
    settings = config.load(place, sources.environ)
    assert settings.integer("store.wait_seconds") == 21
    assert not os.path.exists(os.path.join(place.store_dir, "cache"))


def test_without_a_store_directory_none_is_made(sources: Sources, later: None) -> None:
    shutil.rmtree(sources.place.store_dir)
    assert sources.wait_seconds() == (10, "default")
    assert not os.path.exists(sources.place.store_dir)


def test_a_file_that_was_just_written_is_not_cached(sources: Sources) -> None:
    sources.tracked.write_text(seconds(21))
    # Whatever its own time says: that may be set, the time of the last change may not.
    os.utime(sources.tracked, (10**9, 10**9))
    assert sources.wait_seconds() == (21, "tether.toml")
    assert not sources.cache.exists()


def test_a_file_from_the_future_is_not_cached(sources: Sources, later: None) -> None:
    sources.tracked.write_text(seconds(21))
    os.utime(sources.tracked, (4 * 10**9, 4 * 10**9))
    sources.load()
    assert not sources.cache.exists()


def test_each_worktree_has_its_own_cache(sources: Sources, git: Git, later: None) -> None:
    sources.tracked.write_text(seconds(21))
    git("worktree", "add", "-q", "../linked", cwd=sources.repo)
    linked = workspace.find(str(sources.repo.parent / "linked"))
    (sources.repo.parent / "linked" / "tether.toml").write_text(seconds(51))
    for _ in range(2):
        assert sources.wait_seconds() == (21, "tether.toml")
        assert config.load(linked, sources.environ).integer("store.wait_seconds") == 51
    assert sorted(path.name for path in sources.cache.parent.iterdir()) == [
        "settings.main.json",
        "settings.worktree-linked.json",
    ]


def test_a_worktree_that_is_called_main_is_not_taken_for_the_main_one(
    sources: Sources, git: Git, later: None
) -> None:
    git("worktree", "add", "-q", "-b", "other", "../elsewhere/main", cwd=sources.repo)
    linked = workspace.find(str(sources.repo.parent / "elsewhere" / "main"))
    sources.tracked.write_text(seconds(21))
    assert sources.wait_seconds()[0] == 21
    assert config.load(linked, sources.environ).integer("store.wait_seconds") == 10
    assert sources.wait_seconds()[0] == 21


# Adding the workspace id


@pytest.mark.parametrize(
    "content",
    [
        "",
        "# A comment without an end",
        "[store]\nwait_seconds = 5",
        "  [store]\n  wait_seconds = 5\n",
        "# Ours\r\n\r\n[store]\r\nwait_seconds = 5\r\n",
        "x = [\n[1, 2],\n]\n",
        's = """\n[a]\n"""\n',
        '# workspace_id = "commented"\n[store]\nworkspace_id = "elsewhere"\n',
    ],
)
def test_a_workspace_id_is_added_to_any_file(content: str) -> None:
    made = ids.WorkspaceId.generate()
    changed = config.with_workspace_id(content.encode(), made).decode()
    assert tomllib.loads(changed) == {**tomllib.loads(content), "workspace_id": made}
    assert changed.replace(f'workspace_id = "{made}"', "").split() == content.split()


def test_a_url_is_not_cached_where_others_can_read_it(sources: Sources) -> None:
    sources.user.write_text('[store]\nurl = "postgresql://ada:hunter2secret@db/x"\n')
    sources.user.chmod(0o600)
    long_ago = time.time() - 3600
    os.utime(sources.user, (long_ago, long_ago))
    sources.cache.parent.mkdir(exist_ok=True)
    sources.cache.write_text("hunter2secret, from an older Tether")
    assert "hunter2secret" in sources.load().text("store.url")
    assert not sources.cache.exists()
