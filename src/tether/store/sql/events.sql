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
  AND (CAST(:run AS TEXT) IS NULL OR run = :run)
ORDER BY id LIMIT :limit;

-- name: latest
-- The newest events, newest first.
SELECT id, at, type, actor, session, source, task, run, data
FROM events
WHERE (CAST(:source AS TEXT) IS NULL OR source = :source)
  AND (CAST(:task AS TEXT) IS NULL OR task = :task)
  AND (CAST(:session AS TEXT) IS NULL OR session = :session)
  AND (CAST(:run AS TEXT) IS NULL OR run = :run)
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

-- name: of_run
-- What a run did after an event, oldest first: by its own index, because a run may be one of many.
SELECT id, at, type, actor, session, source, task, run, data
FROM events
WHERE run = :run AND id > :after
ORDER BY id LIMIT :limit;

-- name: runs
-- The runs that there are, with their first and last event, newest last.
SELECT run, MIN(id) AS first_id, MAX(id) AS last_id
FROM events WHERE run IS NOT NULL GROUP BY run ORDER BY MAX(id);

-- name: taken_over
-- Whether another coordinator began to write a run after an event.
SELECT id FROM events
WHERE run = :run AND id > :after AND session <> :session
  AND type IN ('session_start', 'session_resume', 'coordinator_recovered')
LIMIT 1;

-- name: has_event
-- Whether a run has an event: of another log than it was, one of the same number has another time.
SELECT id FROM events WHERE id = :id AND run = :run AND at = :at;

-- name: endings
-- Where runs ended or were taken up again: by the index of types, because there are few of these.
SELECT run, type FROM events
WHERE type IN ('workflow_complete', 'workflow_failed', 'session_resume') ORDER BY id;
