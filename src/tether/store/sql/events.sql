-- name: append
-- Write one event.
INSERT INTO events (id, at, type, actor, session, source, task, run, data)
VALUES (:id, tether_now(0), :type, :actor, :session, :source, :task, :run, :data);

-- name: after
-- Events that came after one, oldest first.
SELECT id, at, type, actor, session, source, task, run, data
FROM events
WHERE id > :after
  AND (CAST(:task AS TEXT) IS NULL OR task = :task)
  AND (CAST(:session AS TEXT) IS NULL OR session = :session)
ORDER BY id LIMIT :limit;

-- name: latest
-- The newest events, newest first.
SELECT id, at, type, actor, session, source, task, run, data
FROM events
WHERE (CAST(:task AS TEXT) IS NULL OR task = :task)
  AND (CAST(:session AS TEXT) IS NULL OR session = :session)
ORDER BY id DESC LIMIT :limit;

-- name: uncounted
-- An event that the counter has not reached: its id would be given out again.
SELECT id FROM events
WHERE id > (SELECT value FROM counters WHERE name = 'events') LIMIT 1;
