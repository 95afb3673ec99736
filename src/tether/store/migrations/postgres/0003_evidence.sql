-- min_reader: 1

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
