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
