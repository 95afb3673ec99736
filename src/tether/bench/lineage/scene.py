"""A scratch copy of a repository, to measure lineage on: the repository itself is only read.

It borrows the objects and has the files of HEAD that are here: contents may be missing in a partial
clone. Its store is its own, and so is its home, so nothing of the user's reaches it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping

from tether import clock, config, git, host, ids, workspace
from tether.bench import processes, startup
from tether.evidence import places, witness
from tether.git import Git, Oid
from tether.hints import NamedTuple
from tether.lineage import chronicler
from tether.lineage.derive import attribution, checkout
from tether.store import sqlite
from tether.tasks import workdir
from tether.tasks.sources import finding, patterns

BRANCH = "refs/heads/main"
IDENTITY = git.Identity("Grace", "grace@example.org")
_SETTINGS = "TETHER_EVIDENCE_IDS"
_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR")
_MAX_FILE_BYTES = 8 * 1024 * 1024


class Scene(NamedTuple):
    """Where something is measured. All of it is plain, because processes are told it too."""

    name: str
    """What the repository is called in figures: no directory of this machine."""
    ground: processes.Ground
    tip: Oid
    """The commit that stood at first."""

    @property
    def place(self) -> str:
        return self.ground.place

    @property
    def store_dir(self) -> str:
        return os.path.join(self.place, ".git", workspace.STORE_NAME)

    def tether(self, *words: str) -> startup.Cost:
        """What a command costs as a process. Whoever does not end well has failed."""
        return processes.run(self.ground, [*startup.console_script(), *words])


def make(directory: str, repository: str, templates: Iterable[str] = ()) -> Scene:
    """Copy a repository; `templates` are ids of tasks that its settings do not name."""
    source = Git(repository)
    tip = source.resolve("HEAD")
    place = os.path.join(directory, "repository")
    _borrow(source, place, tip)
    _fill(source, place, tip)
    own = _settings(source)
    if own is not None:
        with open(os.path.join(place, config.TRACKED_FILE), "wb") as file:
            file.write(own)
    scene = Scene(
        name_of(repository),
        processes.Ground(place, _environ(directory, tuple(templates)), 3600.0),
        tip,
    )
    scene.tether("init", "--yes")
    return scene


def name_of(repository: str) -> str:
    """`owner/name` if it stands in `owner+name/repo`, as those of the oracles do."""
    path = os.path.realpath(repository)
    parent, last = os.path.split(path.removesuffix("/.git"))
    above = os.path.basename(parent)
    return above.replace("+", "/", 1) if last == "repo" and "+" in above else last


def _borrow(source: Git, place: str, tip: Oid) -> None:
    """A new repository with one branch, which finds the objects where they are."""
    made = git.init(place, is_sha256=len(tip) == 64)
    common = source.runner.facts.common_directory
    own = os.path.join(place, ".git")
    with open(os.path.join(own, "objects", "info", "alternates"), "wb") as file:
        file.write(os.path.join(common, b"objects") + b"\n")
    if boundary := source.shallow():
        with open(os.path.join(own, "shallow"), "w", encoding="ascii") as file:
            file.writelines(f"{oid}\n" for oid in sorted(boundary))
    made.runner.call("update-ref", BRANCH, tip)


def _fill(source: Git, place: str, tip: Oid) -> None:
    """The files of a commit that are here: a checkout would die of the first that is not."""
    entries = [each for each in source.tree(tip) if each.mode.startswith("100")]
    blobs = source.blobs((each.oid for each in entries), max_bytes=_MAX_FILE_BYTES)
    top = os.path.realpath(place)
    for entry, blob in zip(entries, blobs, strict=True):
        path = os.path.join(top, entry.path)
        parts = entry.path.lower().split("/")
        if blob.data is None or not {"", ".", "..", ".git"}.isdisjoint(parts):
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(os.fsencode(path), "wb") as file:
            file.write(blob.data)


def _settings(source: Git) -> bytes | None:
    """The settings of the checkout, which need not be committed."""
    try:
        with open(source.directory / config.TRACKED_FILE, "rb") as file:
            return file.read(_MAX_FILE_BYTES)
    except OSError:
        return None


def _environ(directory: str, templates: tuple[str, ...]) -> dict[str, str]:
    home = os.path.join(directory, "home")
    os.makedirs(home, exist_ok=True)
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    said = {_SETTINGS: ",".join(templates)} if templates else {}
    return {**kept, **said, "HOME": home, "TETHER_AGENT": "grace"}


# Within a process


class Opened(NamedTuple):
    """What answers for a scene, within one process."""

    who: chronicler.Chronicler
    kinds: patterns.Kinds
    """Of ids that its settings and lists name."""


@contextlib.contextmanager
def opened(
    place: str, environ: Mapping[str, str], store_dir: str | None = None
) -> Iterator[Opened]:
    """Who keeps lineage for a scene, as the command line has it."""
    here = workspace.find(place, store_dir=store_dir)
    settings = config.load(here, environ)
    root = here.root or ""
    names = tuple(each.name for each in finding.detect(root))
    lists = finding.read(root, names)
    kinds = patterns.Kinds(
        (ids.OWN_SOURCE, *names),
        tuple(each for each in settings.text("evidence.ids").split(",") if each),
        lists.prefixes() if finding.choosing(names) else (),
    )
    with contextlib.closing(sqlite.SqliteStore(here, wait_seconds=10)) as store:
        seer = witness.Witness(
            here,
            store,
            places.Places(),
            kinds,
            work_root=settings.text("tasks.root"),
            host_id=host.here().host_id,
            keeps_excerpts=True,
        )
        repository = Git(place)

        def standing(commit: Oid) -> checkout.Here:
            work = workdir.of(root, settings)
            return checkout.Here(
                root, repository, commit, work, lists, seer.finder.find, seer.finder.stamp
            )

        sources = chronicler.Sources(
            place,
            here.store_dir,
            root,
            settings.text("tasks.root"),
            store,
            standing,
            lambda: attribution.Claims(store, seer.around()),
            lambda: seer.ask_history(lambda _: None),
            seer.roots,
        )
        who = chronicler.Chronicler(sources, clock.SystemClock())
        try:
            yield Opened(who, kinds)
        finally:
            who.close()
