-- name: append
-- Write one event.
INSERT INTO events (id, at, type, actor, session, source, task, run, data)
VALUES (:id, tether_now(0), :type, :actor, :session, :source, :task, :run, :data);

-- name: after
-- Events that came after one, oldest first.
SELECT id, at, type, actor, session, source, task, run, data
FROM events
WHERE id > :after
  AND (CAST(:source AS TEXT) IS NULL OR source = :source)
  AND (CAST(:task AS TEXT) IS NULL OR task = :task)
  AND (CAST(:session AS TEXT) IS NULL OR session = :session)
ORDER BY id LIMIT :limit;

-- name: latest
-- The newest events, newest first.
SELECT id, at, type, actor, session, source, task, run, data
FROM events
WHERE (CAST(:source AS TEXT) IS NULL OR source = :source)
  AND (CAST(:task AS TEXT) IS NULL OR task = :task)
  AND (CAST(:session AS TEXT) IS NULL OR session = :session)
ORDER BY id DESC LIMIT :limit;

-- name: prune
-- Forget the oldest events of one type of chatter, a batch at a time.
DELETE FROM events
WHERE id IN (SELECT id FROM events WHERE type = :type ORDER BY id LIMIT :limit)
  AND at < (SELECT tether_now(:since_ms))
RETURNING id;

-- name: last_of
-- The newest event of one type, session and task.
SELECT id, at, type, actor, session, source, task, run, data
FROM events
WHERE source = :source AND task = :task AND session = :session AND type = :type
ORDER BY id DESC LIMIT 1;
