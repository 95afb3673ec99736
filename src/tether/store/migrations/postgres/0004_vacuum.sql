-- min_reader: 1

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
