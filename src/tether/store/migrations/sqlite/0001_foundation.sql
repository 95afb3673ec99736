-- min_reader: 1

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
