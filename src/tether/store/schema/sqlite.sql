-- The whole schema as it is now: what a new store is made from. The migrations add up to it.

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;

INSERT INTO counters (name, value) VALUES ('events', 0);

CREATE TABLE events (
    id INTEGER NOT NULL PRIMARY KEY,
    at TEXT NOT NULL,
    type TEXT NOT NULL,
    actor TEXT NOT NULL,
    session TEXT,
    source TEXT,
    task TEXT,
    run TEXT,
    data TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_task ON events (source, task, id) WHERE task IS NOT NULL;
CREATE INDEX events_by_session ON events (session, id) WHERE session IS NOT NULL;
CREATE INDEX events_by_run ON events (run, id) WHERE run IS NOT NULL;
CREATE INDEX events_by_type ON events (type, id);

INSERT INTO counters (name, value) VALUES ('heartbeats', 0), ('messages', 0), ('conflicts', 0);

CREATE TABLE agents (
    session_id TEXT NOT NULL PRIMARY KEY,
    agent_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    parent_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('active', 'idle', 'ended', 'stale')),
    host_name TEXT NOT NULL,
    host_id TEXT,
    boot_id TEXT,
    pid_namespace TEXT,
    pid INTEGER,
    start_ticks INTEGER,
    source TEXT,
    task TEXT,
    progress TEXT,
    progress_at TEXT,
    worktree TEXT,
    branch TEXT,
    head TEXT,
    transcript TEXT,
    started_at TEXT NOT NULL,
    last_beat_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    lease_until TEXT NOT NULL,
    ended_at TEXT,
    beat_boot_id TEXT NOT NULL,
    beat_monotonic_ms INTEGER NOT NULL,
    inbox_from INTEGER NOT NULL,
    version INTEGER NOT NULL
) STRICT;

CREATE INDEX agents_by_name ON agents (agent_name, started_at);
CREATE INDEX agents_by_parent ON agents (parent_id) WHERE parent_id IS NOT NULL;
-- By status alone: a beat must not have to move an entry.
CREATE INDEX agents_here ON agents (status) WHERE status IN ('active', 'idle');

CREATE TABLE heartbeats (
    id INTEGER NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES agents (session_id),
    at TEXT NOT NULL,
    progress TEXT NOT NULL,
    source TEXT,
    task TEXT
) STRICT;

CREATE INDEX heartbeats_by_session ON heartbeats (session_id, id);

CREATE TABLE claims (
    source TEXT NOT NULL,
    task TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    session_id TEXT NOT NULL REFERENCES agents (session_id),
    agent_name TEXT NOT NULL,
    claimed_at TEXT NOT NULL,
    lease_until TEXT NOT NULL,
    closed_at TEXT,
    outcome TEXT,
    closed_by TEXT,
    worktree TEXT,
    branch TEXT,
    head TEXT,
    checkpoint TEXT,
    checkpoint_at TEXT,
    transcript TEXT,
    PRIMARY KEY (source, task, epoch)
) STRICT;

-- At most one open claim of a task: who has it is decided here and nowhere else.
CREATE UNIQUE INDEX claims_open ON claims (source, task) WHERE closed_at IS NULL;
CREATE INDEX claims_by_session ON claims (session_id, closed_at);

CREATE TABLE reservations (
    source TEXT NOT NULL,
    task TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    pattern TEXT NOT NULL,
    PRIMARY KEY (source, task, epoch, pattern),
    FOREIGN KEY (source, task, epoch) REFERENCES claims (source, task, epoch)
) STRICT;

CREATE TABLE conflicts (
    id INTEGER NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('paths', 'work')),
    source TEXT NOT NULL,
    task TEXT NOT NULL,
    session_id TEXT NOT NULL REFERENCES agents (session_id),
    other_source TEXT NOT NULL,
    other_task TEXT NOT NULL,
    other_session_id TEXT NOT NULL REFERENCES agents (session_id),
    detail TEXT NOT NULL,
    raised_at TEXT NOT NULL,
    resolved_at TEXT,
    resolution TEXT
) STRICT;

CREATE UNIQUE INDEX conflicts_open ON conflicts
    (kind, source, task, session_id, other_source, other_task, other_session_id)
    WHERE resolved_at IS NULL;

CREATE TABLE messages (
    id INTEGER NOT NULL PRIMARY KEY,
    at TEXT NOT NULL,
    type TEXT NOT NULL,
    priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
    sender TEXT NOT NULL,
    sender_session TEXT,
    to_session TEXT,
    to_name TEXT,
    source TEXT,
    task TEXT,
    body TEXT NOT NULL,
    expires_at TEXT
) STRICT;

CREATE INDEX messages_to_session ON messages (to_session, id) WHERE to_session IS NOT NULL;
CREATE INDEX messages_to_name ON messages (to_name, id) WHERE to_name IS NOT NULL;
CREATE INDEX messages_to_all ON messages (id) WHERE to_session IS NULL AND to_name IS NULL;
CREATE INDEX messages_sent ON messages (sender_session, id);

CREATE TABLE receipts (
    message_id INTEGER NOT NULL REFERENCES messages (id),
    session_id TEXT NOT NULL,
    delivered_at TEXT NOT NULL,
    read_at TEXT,
    PRIMARY KEY (message_id, session_id)
) STRICT;

CREATE TABLE activities (
    source TEXT NOT NULL,
    record TEXT NOT NULL,
    task_source TEXT NOT NULL,
    task TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('worked', 'stated', 'mentioned', 'listed')),
    what TEXT NOT NULL,
    at TEXT,
    session TEXT NOT NULL,
    host_id TEXT NOT NULL,
    file TEXT NOT NULL,
    place TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    files TEXT NOT NULL,
    PRIMARY KEY (source, record, task_source, task, kind, what)
) STRICT;

CREATE INDEX activities_by_task ON activities (task, task_source) WHERE task <> '';
CREATE INDEX activities_by_session ON activities (session, at) WHERE task = '';
CREATE INDEX activities_by_file ON activities (host_id, file);

CREATE TABLE transcripts (
    host_id TEXT NOT NULL,
    file TEXT NOT NULL,
    source TEXT NOT NULL,
    session TEXT NOT NULL,
    reader TEXT NOT NULL,
    anchor TEXT NOT NULL,
    read_to INTEGER NOT NULL,
    facts TEXT NOT NULL,
    PRIMARY KEY (host_id, file)
) STRICT;

CREATE INDEX transcripts_by_session ON transcripts (session);

INSERT INTO counters (name, value)
VALUES ('vacuum_reports', 0), ('vacuum_sweeps', 0), ('deferrals', 0);

CREATE TABLE vacuum_sweeps (
    id INTEGER NOT NULL PRIMARY KEY,
    sweep_type TEXT NOT NULL CHECK (sweep_type IN ('quick', 'standard', 'deep')),
    started_at TEXT NOT NULL,
    finished_at TEXT,
    swept_by TEXT NOT NULL,
    host_id TEXT NOT NULL,
    project TEXT NOT NULL,
    unchecked INTEGER NOT NULL,
    counts TEXT NOT NULL
) STRICT;

CREATE TABLE vacuum_reports (
    id INTEGER NOT NULL PRIMARY KEY,
    sweep_type TEXT NOT NULL CHECK (sweep_type IN ('quick', 'standard', 'deep')),
    created_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    source TEXT NOT NULL,
    task_id TEXT NOT NULL,
    orphan_type TEXT NOT NULL,
    grade TEXT NOT NULL CHECK (grade IN ('certain', 'suspect')),
    percent INTEGER NOT NULL CHECK (percent BETWEEN 0 AND 100),
    last_activity TEXT,
    last_session_id TEXT,
    track TEXT,
    project TEXT NOT NULL,
    evidence TEXT NOT NULL,
    resolution TEXT CHECK (
        resolution IN ('adopted', 'completed', 'deferred', 'cancelled', 'cleared')
    ),
    resolved_at TEXT,
    resolved_by TEXT
) STRICT;

CREATE INDEX idx_vacuum_task ON vacuum_reports (task_id);
CREATE INDEX idx_vacuum_orphan ON vacuum_reports (orphan_type);
CREATE INDEX idx_vacuum_unresolved ON vacuum_reports (resolution) WHERE resolution IS NULL;
-- One open row for each task and type: a finding that is seen again is the same one.
CREATE UNIQUE INDEX vacuum_reports_open ON vacuum_reports (source, task_id, orphan_type)
WHERE resolution IS NULL;

CREATE TABLE deferrals (
    id INTEGER NOT NULL PRIMARY KEY,
    scope TEXT NOT NULL CHECK (scope IN ('task', 'track', 'project')),
    source TEXT NOT NULL,
    name TEXT NOT NULL,
    deferred_at TEXT NOT NULL,
    deferred_by TEXT NOT NULL,
    until TEXT,
    why TEXT NOT NULL,
    ended_at TEXT,
    ended_why TEXT
) STRICT;

CREATE UNIQUE INDEX deferrals_open ON deferrals (scope, source, name) WHERE ended_at IS NULL;

CREATE TABLE lineage_feedback (
    subject TEXT NOT NULL,
    edge_type TEXT NOT NULL,
    object TEXT NOT NULL,
    deriver TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('right', 'wrong')),
    judged_at TEXT NOT NULL,
    judged_by TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (subject, edge_type, object, deriver)
) STRICT;

CREATE TABLE lineage_usage (
    day TEXT NOT NULL,
    what TEXT NOT NULL,
    times INTEGER NOT NULL,
    PRIMARY KEY (day, what)
) STRICT;
