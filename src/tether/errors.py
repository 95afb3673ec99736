"""The errors that Tether raises on purpose, and how each one ends a program.

TetherError                   failed               1
├── UsageError                usage                2
│   └── InvalidId             invalid_id           2
├── NotAllowed                not_allowed          3
│   ├── ConfirmationNeeded    confirmation_needed  3
│   └── Declined              declined             3
├── Taken                     taken                4
│   └── RefMoved              ref_moved            4  retryable
├── NotFound                  not_found            5
│   ├── NotARepository        not_a_repository     5
│   └── RevisionNotFound      revision_not_found   5
│       └── NoCommits         no_commits           5
├── FindingsFound             findings             6
├── ConfigError               config_invalid       1
│   └── ConfigForbidden       config_forbidden     1
├── FileError                 file_failed          1
│   ├── OutsideRoot           outside_root         1
│   ├── LinkRefused           link_refused         1
│   ├── AlreadyThere          already_there        1
│   ├── NotWritable           not_writable         1
│   ├── FileTooLarge          file_too_large       1
│   ├── DiskFull              disk_full            1  retryable
│   └── LockBusy              lock_busy            1  retryable
├── GitError                  git_failed           1
│   ├── GitMissing            git_missing          1
│   └── GitRefusedOwner       git_refused_owner    1
├── StoreError                store_failed         1
│   ├── StoreBusy             store_busy           1  retryable
│   ├── StoreReadOnly         store_read_only      1
│   ├── StoreCorrupt          store_corrupt        1
│   ├── StoreForeign          store_foreign        1
│   ├── StoreOfAnother        store_of_another     1
│   ├── StoreForbidden        store_forbidden      1
│   ├── StoreTooNew           store_too_new        1
│   ├── StoreNotEmpty         store_not_empty      1
│   ├── StoreUnreachable      store_unreachable    1  retryable
│   ├── StoreUncertain        store_uncertain      1
│   └── ExportInvalid         export_invalid       1
├── TaskError                 task_failed          1
│   ├── TaskUnreadable        task_unreadable      1
│   └── TaskUneditable        task_uneditable      1
├── LineageError              lineage_failed       1
├── PlatformUnsupported       platform_unsupported 1
└── ExtraMissing              extra_missing        1

The columns are the code in the JSON envelope, the exit code, and whether the same call may succeed
later. A class's docstring is its default message. Messages say what happened and what is still
true; hints name one safe next step. Neither quotes untrusted text or a destructive command.
"""

from __future__ import annotations

from tether.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class TetherError(Exception):
    """Tether could not do this."""

    code = "failed"
    exit_code = 1
    retryable = False
    hint = ""

    def __init__(
        self, message: str = "", *, hint: str = "", details: Mapping[str, object] | None = None
    ) -> None:
        # What programs may want to know on top, in the JSON envelope beside the message.
        self.details = dict(details or {})
        # Without docstrings (python -OO) the code has to do.
        self.message = message or (type(self).__doc__ or f"Failed: {self.code}.").strip()
        if hint:
            self.hint = hint
        super().__init__(self.message)


class UsageError(TetherError):
    """The command was not understood. Nothing was changed."""

    code = "usage"
    exit_code = 2
    hint = "Run `tether --help` to see the commands."


class InvalidId(UsageError):
    """This is not a valid id. Nothing was changed."""

    code = "invalid_id"
    hint = "Use letters, digits, '.', '_' and '-', starting with a letter or digit."


class NotAllowed(TetherError):
    """A rule does not allow this. Nothing was changed."""

    code = "not_allowed"
    exit_code = 3


class ConfirmationNeeded(NotAllowed):
    """This changes something and nobody could be asked. Nothing was changed."""

    code = "confirmation_needed"
    hint = "Add --dry-run to see what it would do, or --yes to do it."


class Declined(NotAllowed):
    """You did not say yes. Nothing was changed."""

    code = "declined"


class Taken(TetherError):
    """Somebody else was first. Nothing was changed."""

    code = "taken"
    exit_code = 4


class RefMoved(Taken):
    """The branch moved while the commit was being made. Nothing was changed."""

    code = "ref_moved"
    retryable = True
    hint = "Read the branch again and repeat the command."


class NotFound(TetherError):
    """There is no such thing here."""

    code = "not_found"
    exit_code = 5


class NotARepository(NotFound):
    """This directory is not inside a Git repository."""

    code = "not_a_repository"
    hint = "Change into a repository, or make one with `git init`."


class RevisionNotFound(NotFound):
    """Git knows no such revision here."""

    code = "revision_not_found"
    hint = "List what there is with `git log --oneline --all`."


class NoCommits(RevisionNotFound):
    """The branch that is checked out has no commits yet."""

    code = "no_commits"
    hint = "Commit something first, or name a commit of another branch."


class FindingsFound(TetherError):
    """There are findings of the kind that this call was asked to fail on."""

    code = "findings"
    exit_code = 6


class ConfigError(TetherError):
    """A setting cannot be used as it is written."""

    code = "config_invalid"
    hint = "Correct the setting, then run `tether doctor`."


class ConfigForbidden(ConfigError):
    """A tracked file may not name a connection or a command. It was not used."""

    code = "config_forbidden"
    hint = "Move the setting to local.toml in the store directory, or to the environment."


class FileError(TetherError):
    """A file could not be read or written. Its old content is unchanged."""

    code = "file_failed"


class OutsideRoot(FileError):
    """The path leads outside the directory it must stay in. Nothing was read or written."""

    code = "outside_root"


class LinkRefused(FileError):
    """A symbolic link stands where a file or directory was expected. It was not followed."""

    code = "link_refused"
    hint = "Replace the link by a real file or directory."


class AlreadyThere(FileError):
    """There is already a file of that name. It was not replaced."""

    code = "already_there"
    hint = "Choose another name, or move that file away first."


class NotWritable(FileError):
    """This place may be read but not written. Nothing was changed."""

    code = "not_writable"
    hint = "Allow this process to write there, or choose another place."


class FileTooLarge(FileError):
    """The file is larger than Tether reads of its kind. It was left alone."""

    code = "file_too_large"


class DiskFull(FileError):
    """There is no room left on the disk. The old content is unchanged."""

    code = "disk_full"
    retryable = True
    hint = "Free some space, then repeat the command."


class LockBusy(FileError):
    """Another process holds the lock. Nothing was changed."""

    code = "lock_busy"
    retryable = True
    hint = "Wait for the holder to finish, then repeat the command."


class GitError(TetherError):
    """Git ended with an error. Tether changed nothing."""

    code = "git_failed"
    hint = "Run `tether doctor` to see how Git is found and what it says."


class GitMissing(GitError):
    """Git was not found on the PATH."""

    code = "git_missing"
    hint = "Install Git 2.36 or newer."


class GitRefusedOwner(GitError):
    """Git does not read this repository because another user owns it."""

    code = "git_refused_owner"
    hint = "If you trust its owner, add it to safe.directory in your own Git configuration."


class StoreError(TetherError):
    """The store could not do this."""

    code = "store_failed"
    hint = "Run `tether doctor` to see the state of the store."


class StoreBusy(StoreError):
    """Another process is writing to the store. Nothing was changed."""

    code = "store_busy"
    retryable = True
    hint = "Repeat the command; if it stays busy, look at the process that holds the store."


class StoreReadOnly(StoreError):
    """The store can be read but not written from here. Nothing was changed."""

    code = "store_read_only"
    hint = (
        "Allow this process to write to the store directory, set TETHER_STORE_DIR to one that it"
        " can write, or use PostgreSQL with TETHER_STORE_URL."
    )


class StoreCorrupt(StoreError):
    """The store's file is damaged. It was left as it is."""

    code = "store_corrupt"
    hint = (
        "Save what can be read with `tether export -o rescue.jsonl`; then"
        " `tether doctor --set-aside-store` moves the file away and a new store can begin."
    )


class StoreForeign(StoreError):
    """The file in the store's place is not a Tether store. It was left as it is."""

    code = "store_foreign"
    hint = "Move it away, or set TETHER_STORE_DIR to another directory."


class StoreOfAnother(StoreError):
    """The store belongs to another workspace than this repository. It was left as it is."""

    code = "store_of_another"
    hint = (
        "Set TETHER_STORE_DIR to a directory of this repository alone, or bring back the"
        " workspace_id that tether.toml had."
    )


class StoreForbidden(StoreError):
    """The store may not be read from here. Nothing was changed."""

    code = "store_forbidden"
    hint = "Ask for the right to read it; in PostgreSQL: USAGE on the schema, SELECT on its tables."


class StoreTooNew(StoreError):
    """The store was written by a newer Tether that this one cannot read. It was left as it is."""

    code = "store_too_new"
    hint = "Upgrade Tether on this machine."


class StoreNotEmpty(StoreError):
    """The store already has content, so nothing was imported into it."""

    code = "store_not_empty"
    hint = "Import into a new store: set TETHER_STORE_DIR or TETHER_STORE_URL to an empty one."


class StoreUnreachable(StoreError):
    """The database does not answer. Nothing was changed."""

    code = "store_unreachable"
    retryable = True
    hint = "Check that the server in TETHER_STORE_URL runs, then repeat the command."


class StoreUncertain(StoreError):
    """The database went away while it was saving, and cannot say whether it did."""

    code = "store_uncertain"
    hint = "Look at `tether events` before you repeat the command."


class ExportInvalid(StoreError):
    """This is not a whole export of a Tether store. Nothing was imported."""

    code = "export_invalid"
    hint = "Make the export again with `tether export`."


class TaskError(TetherError):
    """A task's file stands in the way. Nothing was changed."""

    code = "task_failed"


class TaskUnreadable(TaskError):
    """The task's file cannot be read. Nothing was changed."""

    code = "task_unreadable"
    hint = "See what is wrong with it with `tether validate`."


class TaskUneditable(TaskError):
    """The task's file is written in a way that cannot be edited safely. Nothing was changed."""

    code = "task_uneditable"
    hint = "Write its fields as plain lines, `name: value`, then repeat the command."


class LineageError(TetherError):
    """The symbols of the code could not be looked for. Nothing was changed."""

    code = "lineage_failed"


class PlatformUnsupported(TetherError):
    """Tether does not run safely on this platform or file system."""

    code = "platform_unsupported"


class ExtraMissing(TetherError):
    """This needs an optional part of Tether that is not installed."""

    code = "extra_missing"
