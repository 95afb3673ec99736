-- min_reader: 1

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
