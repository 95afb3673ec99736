-- name: take
-- Open a claim unless one is open, for a session that is here.
INSERT INTO claims (
    source, task, epoch, session_id, agent_name, claimed_at, lease_until,
    worktree, branch, head, transcript
)
SELECT
    CAST(:source AS TEXT), CAST(:task AS TEXT),
    COALESCE(
        (SELECT max(epoch) + 1 FROM claims WHERE source = :source AND task = :task),
        tether_now_ms()
    ),
    session_id, agent_name, tether_now(0), tether_now(:lease_ms),
    worktree, branch, head, transcript
FROM agents
WHERE session_id = :session_id AND status IN ('active', 'idle')
ON CONFLICT DO NOTHING
RETURNING *;

-- name: withdraw
-- Take a claim back that others came before: its epoch is the time, and not one more than theirs.
DELETE FROM claims
WHERE source = :source AND task = :task AND epoch = :epoch
  AND EXISTS (
    SELECT 1 FROM claims AS earlier
    WHERE earlier.source = :source AND earlier.task = :task AND earlier.epoch <> :epoch
  )
RETURNING epoch;

-- name: open_of
-- The open claim of a task.
SELECT * FROM claims WHERE source = :source AND task = :task AND closed_at IS NULL;

-- name: held_by_other
-- Whether another session has this task.
SELECT 1 AS one FROM claims
WHERE source = :source AND task = :task AND closed_at IS NULL AND session_id <> :session_id;

-- name: last_of
-- The newest claim of a task, open or closed.
SELECT * FROM claims WHERE source = :source AND task = :task ORDER BY epoch DESC LIMIT 1;

-- name: all_of
-- Every claim of a task, newest first.
SELECT * FROM claims WHERE source = :source AND task = :task ORDER BY epoch DESC;

-- name: called
-- The newest claim of each list's task of this id; those that are open come first.
SELECT * FROM claims
WHERE task = :task AND epoch = (
    SELECT max(epoch) FROM claims AS newer
    WHERE newer.source = claims.source AND newer.task = claims.task
)
ORDER BY closed_at IS NOT NULL, source;

-- name: open_ones
-- All open claims, of everybody or of one session, oldest first.
SELECT * FROM claims
WHERE closed_at IS NULL
  AND (CAST(:session_id AS TEXT) IS NULL OR session_id = :session_id)
ORDER BY claimed_at, source, task;

-- name: all_ones
-- The newest claims, open or closed, of everybody or of one session, newest first.
SELECT * FROM claims
WHERE CAST(:session_id AS TEXT) IS NULL OR session_id = :session_id
ORDER BY claimed_at DESC, source, task LIMIT :limit;

-- name: renew
-- Extend a lease: only the holder's, only of this epoch.
UPDATE claims SET lease_until = tether_now(:lease_ms)
WHERE source = :source AND task = :task AND session_id = :session_id AND epoch = :epoch
  AND closed_at IS NULL
RETURNING *;

-- name: renew_all
-- Extend the leases of all open claims of a session, but for those that are fresh.
UPDATE claims SET lease_until = tether_now(:lease_ms)
WHERE session_id = :session_id AND closed_at IS NULL
  AND lease_until < (SELECT tether_now(:fresh_ms));

-- name: checkpoint
-- Keep the last that a holder told of its work.
UPDATE claims SET checkpoint = :checkpoint, checkpoint_at = tether_now(0)
WHERE source = :source AND task = :task AND session_id = :session_id AND closed_at IS NULL;

-- name: close
-- Close a claim: only the holder's, only of this epoch.
UPDATE claims SET
    closed_at = tether_now(0),
    outcome = :outcome,
    closed_by = :closed_by,
    worktree = COALESCE(:worktree, worktree),
    branch = CASE WHEN CAST(:worktree AS TEXT) IS NULL THEN branch ELSE :branch END,
    head = CASE WHEN CAST(:worktree AS TEXT) IS NULL THEN head ELSE :head END,
    transcript = COALESCE(:transcript, transcript)
WHERE source = :source AND task = :task AND session_id = :session_id AND epoch = :epoch
  AND closed_at IS NULL
RETURNING *;

-- name: close_all
-- Close all open claims of a session; its last place counts for its current task and worktree.
UPDATE claims SET
    closed_at = tether_now(0),
    outcome = :outcome,
    closed_by = :closed_by,
    branch = CASE WHEN COALESCE(worktree, :worktree) = :worktree
        OR (source = :current_source AND task = :current_task AND CAST(:worktree AS TEXT) IS NOT NULL)
        THEN :branch ELSE branch END,
    head = CASE WHEN COALESCE(worktree, :worktree) = :worktree
        OR (source = :current_source AND task = :current_task AND CAST(:worktree AS TEXT) IS NOT NULL)
        THEN :head ELSE head END,
    worktree = CASE WHEN worktree IS NULL
        OR (source = :current_source AND task = :current_task)
        THEN COALESCE(:worktree, worktree) ELSE worktree END,
    transcript = COALESCE(:transcript, transcript)
WHERE session_id = :session_id AND closed_at IS NULL
RETURNING *;

-- name: reserve
-- A claim names a path.
INSERT INTO reservations (source, task, epoch, pattern)
VALUES (:source, :task, :epoch, :pattern)
ON CONFLICT DO NOTHING;

-- name: reservations
-- The paths of one claim.
SELECT pattern FROM reservations
WHERE source = :source AND task = :task AND epoch = :epoch ORDER BY pattern;

-- name: reservations_of_others
-- The paths that open claims of others name; CROSS: SQLite begins with the few open ones.
SELECT reservations.source, reservations.task, claims.session_id, reservations.pattern
FROM claims CROSS JOIN reservations
WHERE reservations.source = claims.source AND reservations.task = claims.task
  AND reservations.epoch = claims.epoch
  AND claims.closed_at IS NULL AND claims.session_id <> :session_id
ORDER BY reservations.source, reservations.task, reservations.pattern;

-- name: lost
-- What a session had when it was taken for dead.
SELECT * FROM claims
WHERE session_id = :session_id AND outcome = 'released_stale' AND closed_at >= :since
ORDER BY claimed_at, source, task;
