"""What a transcript of Claude Code says of a limit that was reached."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tether import ids
from tether.coordinator.gauges import model
from tether.evidence.transcripts import claude_records

SOURCE = "claude:transcript"
# The refusal is what a session that waits for its limit has written last.
TAIL_BYTES = 256 * 1024
_SYNTHETIC = "<synthetic>"


def transcript(bases: Iterable[str], session: ids.SessionId) -> str | None:
    """Where the transcript of a session is, in whichever directory it was started."""
    for base in bases:
        try:
            with os.scandir(os.path.join(base, "projects")) as projects:
                paths = [os.path.join(each.path, f"{session}.jsonl") for each in projects]
        except OSError:
            continue
        found = next(filter(os.path.isfile, paths), None)
        if found is not None:
            return found
    return None


def usage_limit(lines: Iterable[bytes]) -> model.Usage | None:
    """The limit at which a session stands; `lines` come last one first.

    None if the model has answered since: then there was something left again.
    """
    for raw in lines:
        record = claude_records.decode(raw)
        if isinstance(record, str) or record.type != "assistant":
            continue
        resets_at = claude_records.limit(record)
        if resets_at is not None:
            at = model.moment(record.timestamp)
            return model.Usage(0.0, 100.0, model.moment(resets_at), SOURCE, at)
        if not _is_of_claude_code(record):
            return None
    return None


def _is_of_claude_code(record: claude_records.Record) -> bool:
    """Was this written in the model's place: a failed request, an interruption?"""
    is_synthetic = record.message is not None and record.message.model == _SYNTHETIC
    return is_synthetic or record.is_api_error_message is True
