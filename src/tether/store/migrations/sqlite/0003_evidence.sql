-- min_reader: 1

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
