"""What the columns of CODITECT's tables are called, in all versions of them that are about.

Each thing that is wanted stands before all the names that it goes by; the first that a table has is
taken. None of its schemas is published whole.
"""

from __future__ import annotations

from tether.evidence.coditect import databases

_AT = ("created_at", "timestamp", "sent_at", "created", "ts")
_SESSION = ("session_id", "session", "claimed_by", "holder_id", "owner_id", "locked_by", "owner")
_CWD = ("cwd", "project_path", "project_root", "working_directory", "workspace")
_PROJECT = ("project_id", "project", "project_name")
PLACE = (*_CWD, *_PROJECT)
_TASK_ID = ("task_id", "task", "track_task_id")
MESSAGE: databases.Wanted = {
    "id": ("message_id", "uuid", "id"),
    "session": ("sender_id", "sender", "from_session_id", "from_session", *_SESSION),
    "type": ("message_type", "msg_type", "event_type", "type"),
    "channel": ("channel", "topic"),
    "body": ("payload", "content", "body", "message", "text", "data"),
    "at": _AT,
    "task": _TASK_ID,
    "cwd": _CWD,
    "project": _PROJECT,
}
CLAIM: databases.Wanted = {
    "task": (*_TASK_ID, "id"),
    "session": _SESSION,
    "at": ("claimed_at", "acquired_at", *_AT),
    "released": ("released_at", "completed_at", "ended_at"),
    "status": ("status", "state"),
    "changed": ("updated_at",),
    "pid": ("pid", "process_id"),
    "host": ("hostname", "host", "machine"),
    "cwd": _CWD,
    "project": _PROJECT,
}
LOCK: databases.Wanted = {
    "task": _TASK_ID,
    "session": _SESSION,
    "at": ("locked_at", "acquired_at", *_AT),
    "file": ("file_path", "path", "file"),
    "cwd": _CWD,
    "project": _PROJECT,
}
REGISTERED: databases.Wanted = {
    "session": ("session_id", "id", "session"),
    "uuid": ("session_uuid", "llm_session_id", "native_session_id", "uuid", "session_uid"),
    "cwd": _CWD,
    "project": _PROJECT,
    "pid": ("pid", "process_id"),
    "host": ("hostname", "host", "machine"),
    "started": ("started_at", "registered_at", *_AT),
    "last": ("last_heartbeat", "heartbeat_at", "last_heartbeat_at", "last_seen", "updated_at"),
    "status": ("status", "state"),
    "title": ("task_context", "task_description", "task_id", "context", "task"),
}

_OF_SESSION = ("session_id", "session", "session_uuid", "conversation_id")
SAID: databases.Wanted = {
    "id": ("hash", "content_hash", "message_id", "uuid", "id"),
    "content": ("content", "text", "body", "message"),
    "role": ("role", "message_type", "type"),
    "file": ("source_file", "source_path", "file"),
    "session": _OF_SESSION,
    "at": ("timestamp", "message_timestamp", "occurred_at", "created_at", "ts"),
    "cwd": _CWD,
    "project": _PROJECT,
}
TRACKED: databases.Wanted = {
    "task": ("task_id", "track_task_id", "id"),
    "status": ("status", "state"),
    "at": ("status_changed_at", "updated_at", "completed_at", "started_at", "created_at"),
    "session": (*_OF_SESSION, "claimed_by", "owner"),
    "title": ("title", "description", "name", "task_description"),
    "cwd": _CWD,
    "project": _PROJECT,
}
