-- name: open_one
-- Two sessions are in each other's way, unless that is known already.
INSERT INTO conflicts (
    id, kind, source, task, session_id, other_source, other_task, other_session_id, detail, raised_at
)
VALUES (
    :id, :kind, :source, :task, :session_id, :other_source, :other_task, :other_session_id, :detail,
    tether_now(0)
)
ON CONFLICT DO NOTHING
RETURNING *;

-- name: open_like
-- The same conflict, if it is open.
SELECT * FROM conflicts
WHERE kind = :kind AND source = :source AND task = :task AND session_id = :session_id
  AND other_source = :other_source AND other_task = :other_task
  AND other_session_id = :other_session_id AND resolved_at IS NULL;

-- name: open_ones
-- Open conflicts, of everybody or of one session, oldest first.
SELECT * FROM conflicts
WHERE resolved_at IS NULL
  AND (CAST(:session_id AS TEXT) IS NULL
       OR session_id = :session_id OR other_session_id = :session_id)
ORDER BY id;

-- name: all_ones
-- The newest conflicts, open or resolved, newest first.
SELECT * FROM conflicts
WHERE CAST(:session_id AS TEXT) IS NULL
   OR session_id = :session_id OR other_session_id = :session_id
ORDER BY id DESC LIMIT :limit;

-- name: settle_task
-- A task is finished: whatever was about it is settled.
UPDATE conflicts SET resolved_at = tether_now(0), resolution = 'finished'
WHERE resolved_at IS NULL
  AND ((source = :source AND task = :task) OR (other_source = :source AND other_task = :task))
RETURNING *;

-- name: settle_party
-- One party let go of a task.
UPDATE conflicts SET resolved_at = tether_now(0), resolution = 'let_go'
WHERE resolved_at IS NULL
  AND ((source = :source AND task = :task AND session_id = :session_id)
       OR (other_source = :source AND other_task = :task AND other_session_id = :session_id))
RETURNING *;

-- name: settle_work
-- A session works on something else now.
UPDATE conflicts SET resolved_at = tether_now(0), resolution = 'let_go'
WHERE resolved_at IS NULL AND kind = 'work' AND session_id = :session_id
  AND NOT (source = :source AND task = :task)
RETURNING *;

-- name: settle_session
-- A session let go of everything.
UPDATE conflicts SET resolved_at = tether_now(0), resolution = 'let_go'
WHERE resolved_at IS NULL AND (session_id = :session_id OR other_session_id = :session_id)
RETURNING *;

-- name: settle_idle
-- A session works on nothing now; what it has claimed it still has.
UPDATE conflicts SET resolved_at = tether_now(0), resolution = 'let_go'
WHERE resolved_at IS NULL AND kind = 'work' AND session_id = :session_id
RETURNING *;
