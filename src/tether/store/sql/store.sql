-- name: meta
-- What the store says of itself.
SELECT key, value FROM meta ORDER BY key;

-- name: set_meta
-- Say something of the store.
INSERT INTO meta (key, value) VALUES (:key, :value)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: count_up
-- Take the next ids of a counter: last in a transaction, so that ids are in commit order.
UPDATE counters SET value = value + :amount WHERE name = :name RETURNING value;

-- name: counted
-- How far a counter has come: every row up to there is committed.
SELECT value FROM counters WHERE name = :name;

-- name: now
-- The time by the store's own clock.
SELECT tether_now(0) AS now;

-- name: uncounted
-- A row that its counter has not reached: its id would be given out again.
SELECT counters.name FROM counters JOIN (
    SELECT 'events' AS name, max(id) AS last FROM events
    UNION ALL SELECT 'heartbeats', max(id) FROM heartbeats
    UNION ALL SELECT 'messages', max(id) FROM messages
    UNION ALL SELECT 'conflicts', max(id) FROM conflicts
) AS used ON used.name = counters.name
WHERE used.last > counters.value;
