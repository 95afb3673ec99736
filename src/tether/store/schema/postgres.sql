-- The whole schema as it is now: what a new store is made from. The migrations add up to it.

CREATE TABLE meta (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);

CREATE TABLE counters (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);

INSERT INTO counters (name, value) VALUES ('events', 0);

CREATE TABLE events (
    id BIGINT NOT NULL PRIMARY KEY,
    at TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C",
    source TEXT COLLATE "C",
    task TEXT COLLATE "C",
    run TEXT COLLATE "C",
    data TEXT COLLATE "C" NOT NULL
);

CREATE INDEX events_by_task ON events (source, task, id) WHERE task IS NOT NULL;
CREATE INDEX events_by_session ON events (session, id) WHERE session IS NOT NULL;
CREATE INDEX events_by_run ON events (run, id) WHERE run IS NOT NULL;
CREATE INDEX events_by_type ON events (type, id);

-- The database's clock in our one format: decisions across hosts use no host's own clock.
CREATE FUNCTION tether_now(offset_ms BIGINT) RETURNS TEXT LANGUAGE sql VOLATILE AS $$
    SELECT to_char(
        clock_timestamp() AT TIME ZONE 'UTC' + offset_ms * INTERVAL '1 millisecond',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
    )
$$;

INSERT INTO counters (name, value) VALUES ('heartbeats', 0), ('messages', 0), ('conflicts', 0);

CREATE TABLE agents (
    session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    agent_name TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    parent_id TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'idle', 'ended', 'stale')),
    host_name TEXT COLLATE "C" NOT NULL,
    host_id TEXT COLLATE "C",
    boot_id TEXT COLLATE "C",
    pid_namespace TEXT COLLATE "C",
    pid BIGINT,
    start_ticks BIGINT,
    source TEXT COLLATE "C",
    task TEXT COLLATE "C",
    progress TEXT COLLATE "C",
    progress_at TEXT COLLATE "C",
    worktree TEXT COLLATE "C",
    branch TEXT COLLATE "C",
    head TEXT COLLATE "C",
    transcript TEXT COLLATE "C",
    started_at TEXT COLLATE "C" NOT NULL,
    last_beat_at TEXT COLLATE "C" NOT NULL,
    last_seen_at TEXT COLLATE "C" NOT NULL,
    lease_until TEXT COLLATE "C" NOT NULL,
    ended_at TEXT COLLATE "C",
    beat_boot_id TEXT COLLATE "C" NOT NULL,
    beat_monotonic_ms BIGINT NOT NULL,
    inbox_from BIGINT NOT NULL,
    version BIGINT NOT NULL
);

CREATE INDEX agents_by_name ON agents (agent_name, started_at);
CREATE INDEX agents_by_parent ON agents (parent_id) WHERE parent_id IS NOT NULL;
-- By status alone: a beat must not have to move an entry.
CREATE INDEX agents_here ON agents (status) WHERE status IN ('active', 'idle');

CREATE TABLE heartbeats (
    id BIGINT NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES agents (session_id),
    at TEXT COLLATE "C" NOT NULL,
    progress TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C",
    task TEXT COLLATE "C"
);

CREATE INDEX heartbeats_by_session ON heartbeats (session_id, id);

CREATE TABLE claims (
    source TEXT COLLATE "C" NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES agents (session_id),
    agent_name TEXT COLLATE "C" NOT NULL,
    claimed_at TEXT COLLATE "C" NOT NULL,
    lease_until TEXT COLLATE "C" NOT NULL,
    closed_at TEXT COLLATE "C",
    outcome TEXT COLLATE "C",
    closed_by TEXT COLLATE "C",
    worktree TEXT COLLATE "C",
    branch TEXT COLLATE "C",
    head TEXT COLLATE "C",
    checkpoint TEXT COLLATE "C",
    checkpoint_at TEXT COLLATE "C",
    transcript TEXT COLLATE "C",
    PRIMARY KEY (source, task, epoch)
);

-- At most one open claim of a task: who has it is decided here and nowhere else.
CREATE UNIQUE INDEX claims_open ON claims (source, task) WHERE closed_at IS NULL;
CREATE INDEX claims_by_session ON claims (session_id, closed_at);

CREATE TABLE reservations (
    source TEXT COLLATE "C" NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    pattern TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (source, task, epoch, pattern),
    FOREIGN KEY (source, task, epoch) REFERENCES claims (source, task, epoch)
);

CREATE TABLE conflicts (
    id BIGINT NOT NULL PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('paths', 'work')),
    source TEXT COLLATE "C" NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES agents (session_id),
    other_source TEXT COLLATE "C" NOT NULL,
    other_task TEXT COLLATE "C" NOT NULL,
    other_session_id TEXT COLLATE "C" NOT NULL REFERENCES agents (session_id),
    detail TEXT COLLATE "C" NOT NULL,
    raised_at TEXT COLLATE "C" NOT NULL,
    resolved_at TEXT COLLATE "C",
    resolution TEXT COLLATE "C"
);

CREATE UNIQUE INDEX conflicts_open ON conflicts
    (kind, source, task, session_id, other_source, other_task, other_session_id)
    WHERE resolved_at IS NULL;

CREATE TABLE messages (
    id BIGINT NOT NULL PRIMARY KEY,
    at TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    priority BIGINT NOT NULL CHECK (priority BETWEEN 0 AND 3),
    sender TEXT COLLATE "C" NOT NULL,
    sender_session TEXT COLLATE "C",
    to_session TEXT COLLATE "C",
    to_name TEXT COLLATE "C",
    source TEXT COLLATE "C",
    task TEXT COLLATE "C",
    body TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C"
);

CREATE INDEX messages_to_session ON messages (to_session, id) WHERE to_session IS NOT NULL;
CREATE INDEX messages_to_name ON messages (to_name, id) WHERE to_name IS NOT NULL;
CREATE INDEX messages_to_all ON messages (id) WHERE to_session IS NULL AND to_name IS NULL;
CREATE INDEX messages_sent ON messages (sender_session, id);

CREATE TABLE receipts (
    message_id BIGINT NOT NULL REFERENCES messages (id),
    session_id TEXT COLLATE "C" NOT NULL,
    delivered_at TEXT COLLATE "C" NOT NULL,
    read_at TEXT COLLATE "C",
    PRIMARY KEY (message_id, session_id)
);

-- The same clock as a number: the first epoch of a task.
CREATE FUNCTION tether_now_ms() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT
$$;

CREATE TABLE activities (
    source TEXT COLLATE "C" NOT NULL,
    record TEXT COLLATE "C" NOT NULL,
    task_source TEXT COLLATE "C" NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('worked', 'stated', 'mentioned', 'listed')),
    what TEXT COLLATE "C" NOT NULL,
    at TEXT COLLATE "C",
    session TEXT COLLATE "C" NOT NULL,
    host_id TEXT COLLATE "C" NOT NULL,
    file TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    excerpt TEXT COLLATE "C" NOT NULL,
    files TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (source, record, task_source, task, kind, what)
);

CREATE INDEX activities_by_task ON activities (task, task_source) WHERE task <> '';
CREATE INDEX activities_by_session ON activities (session, at) WHERE task = '';
CREATE INDEX activities_by_file ON activities (host_id, file);

CREATE TABLE transcripts (
    host_id TEXT COLLATE "C" NOT NULL,
    file TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    reader TEXT COLLATE "C" NOT NULL,
    anchor TEXT COLLATE "C" NOT NULL,
    read_to BIGINT NOT NULL,
    facts TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (host_id, file)
);

CREATE INDEX transcripts_by_session ON transcripts (session);

INSERT INTO counters (name, value)
VALUES ('vacuum_reports', 0), ('vacuum_sweeps', 0), ('deferrals', 0);

CREATE TABLE vacuum_sweeps (
    id BIGINT NOT NULL PRIMARY KEY,
    sweep_type TEXT COLLATE "C" NOT NULL CHECK (sweep_type IN ('quick', 'standard', 'deep')),
    started_at TEXT COLLATE "C" NOT NULL,
    finished_at TEXT COLLATE "C",
    swept_by TEXT COLLATE "C" NOT NULL,
    host_id TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    unchecked BIGINT NOT NULL,
    counts TEXT COLLATE "C" NOT NULL
);

CREATE TABLE vacuum_reports (
    id BIGINT NOT NULL PRIMARY KEY,
    sweep_type TEXT COLLATE "C" NOT NULL CHECK (sweep_type IN ('quick', 'standard', 'deep')),
    created_at TEXT COLLATE "C" NOT NULL,
    last_seen_at TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    orphan_type TEXT COLLATE "C" NOT NULL,
    grade TEXT COLLATE "C" NOT NULL CHECK (grade IN ('certain', 'suspect')),
    percent BIGINT NOT NULL CHECK (percent BETWEEN 0 AND 100),
    last_activity TEXT COLLATE "C",
    last_session_id TEXT COLLATE "C",
    track TEXT COLLATE "C",
    project TEXT COLLATE "C" NOT NULL,
    evidence TEXT COLLATE "C" NOT NULL,
    resolution TEXT COLLATE "C" CHECK (
        resolution IN ('adopted', 'completed', 'deferred', 'cancelled', 'cleared')
    ),
    resolved_at TEXT COLLATE "C",
    resolved_by TEXT COLLATE "C"
);

CREATE INDEX idx_vacuum_task ON vacuum_reports (task_id);
CREATE INDEX idx_vacuum_orphan ON vacuum_reports (orphan_type);
CREATE INDEX idx_vacuum_unresolved ON vacuum_reports (resolution) WHERE resolution IS NULL;
-- One open row for each task and type: a finding that is seen again is the same one.
CREATE UNIQUE INDEX vacuum_reports_open ON vacuum_reports (source, task_id, orphan_type)
WHERE resolution IS NULL;

CREATE TABLE deferrals (
    id BIGINT NOT NULL PRIMARY KEY,
    scope TEXT COLLATE "C" NOT NULL CHECK (scope IN ('task', 'track', 'project')),
    source TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    deferred_at TEXT COLLATE "C" NOT NULL,
    deferred_by TEXT COLLATE "C" NOT NULL,
    until TEXT COLLATE "C",
    why TEXT COLLATE "C" NOT NULL,
    ended_at TEXT COLLATE "C",
    ended_why TEXT COLLATE "C"
);

CREATE UNIQUE INDEX deferrals_open ON deferrals (scope, source, name) WHERE ended_at IS NULL;

CREATE TABLE lineage_feedback (
    subject TEXT COLLATE "C" NOT NULL,
    edge_type TEXT COLLATE "C" NOT NULL,
    object TEXT COLLATE "C" NOT NULL,
    deriver TEXT COLLATE "C" NOT NULL,
    verdict TEXT COLLATE "C" NOT NULL CHECK (verdict IN ('right', 'wrong')),
    judged_at TEXT COLLATE "C" NOT NULL,
    judged_by TEXT COLLATE "C" NOT NULL,
    why TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (subject, edge_type, object, deriver)
);

CREATE TABLE lineage_usage (
    day TEXT COLLATE "C" NOT NULL,
    what TEXT COLLATE "C" NOT NULL,
    times BIGINT NOT NULL,
    PRIMARY KEY (day, what)
);
