-- name: last_claims
-- The newest claim of every task that was ever claimed, but for those that only a run has.
SELECT * FROM claims AS c
WHERE epoch = (SELECT MAX(epoch) FROM claims WHERE source = c.source AND task = c.task)
  AND NOT EXISTS (SELECT 1 FROM events WHERE run = c.source);

-- name: is_run
-- Whether a run has this name.
SELECT 1 AS found FROM events WHERE run = :source LIMIT 1;

-- name: released
-- Tasks that were taken from somebody who was gone, and of which nobody told anything since.
SELECT * FROM claims AS c
WHERE outcome = 'released_stale'
  AND NOT EXISTS (
    SELECT 1 FROM claims WHERE source = c.source AND task = c.task AND epoch > c.epoch
  )
  AND NOT EXISTS (
    SELECT 1 FROM events AS e
    WHERE e.source = c.source AND e.task = c.task AND e.type = 'task_moved' AND e.at > c.closed_at
  )
ORDER BY closed_at;

-- name: conflicts
-- Two who wanted one task, as far as no finish has settled that, oldest first.
SELECT c.*, a.agent_name, other.agent_name AS other_agent_name
FROM conflicts AS c
LEFT JOIN agents AS a ON a.session_id = c.session_id
LEFT JOIN agents AS other ON other.session_id = c.other_session_id
WHERE c.kind = 'work' AND (c.resolution IS NULL OR c.resolution <> 'finished')
ORDER BY c.id;

-- name: told
-- The tasks that the log tells of up to a time; that one was written down is no work on it.
SELECT source, task, MAX(at) AS at,
       CASE WHEN type IN ('claim_taken', 'claim_adopted') THEN 1 ELSE 0 END AS is_claim
FROM events
WHERE task IS NOT NULL AND source IS NOT NULL AND at <= :until
  AND type IN (
    'claim_taken', 'claim_adopted', 'task_moved', 'task_edited', 'handoff_left',
    'developer_checkpoint', 'task_complete'
  )
  AND NOT (type = 'task_moved' AND data LIKE '%"verb"_ "new"%')
GROUP BY source, task, CASE WHEN type IN ('claim_taken', 'claim_adopted') THEN 1 ELSE 0 END;

-- name: kept_files
-- The files of which the store has kept what they said.
SELECT host_id, file FROM transcripts ORDER BY host_id, file;

-- name: kept_of_file
-- What a file said that moves a task, kept when it was read.
SELECT task_source, task, at, session, kind FROM activities
WHERE host_id = :host_id AND file = :file AND task <> '' AND kind IN ('worked', 'stated')
  AND at IS NOT NULL;

-- name: add_sweep
-- A sweep begins.
INSERT INTO vacuum_sweeps (
    id, sweep_type, started_at, swept_by, host_id, project, unchecked, counts
)
VALUES (:id, :sweep_type, :started_at, :swept_by, :host_id, :project, :unchecked, '{}')
RETURNING id;

-- name: end_sweep
-- A sweep has come to its end.
UPDATE vacuum_sweeps SET finished_at = :finished_at, unchecked = :unchecked, counts = :counts
WHERE id = :id
RETURNING id;

-- name: sweeps
-- The newest sweeps, newest first.
SELECT * FROM vacuum_sweeps ORDER BY id DESC LIMIT :limit;

-- name: last_sweep
-- The newest sweep of a kind.
SELECT * FROM vacuum_sweeps WHERE sweep_type = :sweep_type ORDER BY id DESC LIMIT 1;

-- name: last_finished
-- When a sweep of a kind last came to its end on a machine.
SELECT MAX(finished_at) AS at FROM vacuum_sweeps
WHERE sweep_type = :sweep_type AND host_id = :host_id;

-- name: see
-- Write down a finding, or that it is still so.
INSERT INTO vacuum_reports (
    id, sweep_type, created_at, last_seen_at, source, task_id, orphan_type, grade, percent,
    last_activity, last_session_id, track, project, evidence
)
SELECT :id, :sweep_type, :now, :now, :source, :task_id, :orphan_type, :grade, :percent,
       :last_activity, :last_session_id, :track, :project, :evidence
-- Not if somebody took it up while the sweep was looking.
WHERE NOT EXISTS (
    SELECT 1 FROM claims WHERE source = :source AND task = :task_id AND claimed_at > :now
)
ON CONFLICT (source, task_id, orphan_type) WHERE resolution IS NULL DO UPDATE SET
    -- The least sweep that sees it may also tell that it has ended.
    sweep_type = CASE
        WHEN excluded.sweep_type = 'quick' OR vacuum_reports.sweep_type = 'deep'
        THEN excluded.sweep_type ELSE vacuum_reports.sweep_type END,
    last_seen_at = excluded.last_seen_at, grade = excluded.grade, percent = excluded.percent,
    last_activity = excluded.last_activity, last_session_id = excluded.last_session_id,
    track = excluded.track, evidence = excluded.evidence;

-- name: open_reports
-- Findings that nobody has settled, oldest first.
SELECT * FROM vacuum_reports WHERE resolution IS NULL ORDER BY id;

-- name: open_of_store
-- Those that the store alone can tell.
SELECT source, task_id, orphan_type FROM vacuum_reports
WHERE resolution IS NULL AND sweep_type = 'quick';

-- name: open_of_task
-- Those of one task.
SELECT * FROM vacuum_reports
WHERE resolution IS NULL AND source = :source AND task_id = :task_id ORDER BY id;

-- name: settle
-- A finding is settled.
UPDATE vacuum_reports
SET resolution = :resolution, resolved_at = :now, resolved_by = :resolved_by
WHERE id = :id AND resolution IS NULL
RETURNING id;

-- name: settle_task
-- Every open finding of a task is settled.
UPDATE vacuum_reports
SET resolution = :resolution, resolved_at = :now, resolved_by = :resolved_by
WHERE resolution IS NULL AND source = :source AND task_id = :task_id
RETURNING *;

-- name: settle_track
-- Every open finding of a track is settled.
UPDATE vacuum_reports
SET resolution = :resolution, resolved_at = :now, resolved_by = :resolved_by
WHERE resolution IS NULL AND source = :source AND COALESCE(track, '') = :track
RETURNING *;

-- name: settle_all
-- Every open finding is settled.
UPDATE vacuum_reports
SET resolution = :resolution, resolved_at = :now, resolved_by = :resolved_by
WHERE resolution IS NULL
RETURNING *;

-- name: of_task
-- Every finding of a task, settled or not, newest first.
SELECT * FROM vacuum_reports WHERE source = :source AND task_id = :task_id ORDER BY id DESC;

-- name: put_off
-- Somebody decides that something has time, unless that is so already.
INSERT INTO deferrals (id, scope, source, name, deferred_at, deferred_by, until, why)
VALUES (:id, :scope, :source, :name, :now, :deferred_by, :until, :why)
ON CONFLICT (scope, source, name) WHERE ended_at IS NULL DO UPDATE SET
    deferred_at = excluded.deferred_at, deferred_by = excluded.deferred_by,
    until = excluded.until, why = excluded.why
RETURNING *;

-- name: put_off_ones
-- What has time, oldest first.
SELECT * FROM deferrals WHERE ended_at IS NULL ORDER BY id;

-- name: end_deferral
-- A deferral has ended.
UPDATE deferrals SET ended_at = :now, ended_why = :why
WHERE scope = :scope AND source = :source AND name = :name AND ended_at IS NULL
RETURNING *;

-- name: changed_since
-- How many findings were first seen, and how many were settled, after a time.
SELECT COALESCE(SUM(CASE WHEN created_at > :at THEN 1 ELSE 0 END), 0) AS new_ones,
       COALESCE(SUM(CASE WHEN resolved_at > :at THEN 1 ELSE 0 END), 0) AS settled_ones
FROM vacuum_reports
WHERE created_at > :at OR resolved_at > :at;

-- name: orphans
-- Tasks that somebody should take up again, the most urgent first and the freshest of equals.
SELECT source, task_id, orphan_type, sweep_type, grade, percent, last_activity, last_seen_at,
       track, evidence
FROM vacuum_reports
WHERE resolution IS NULL AND percent >= :percent
  AND orphan_type IN (
    'dead_claim', 'conflict_abandoned', 'context_lost', 'stale_in_progress', 'partially_completed'
  )
  -- Whoever took it up or finished it since has settled it, which the next sweep writes down.
  AND NOT EXISTS (
    SELECT 1 FROM claims AS c
    WHERE c.source = vacuum_reports.source AND c.task = vacuum_reports.task_id
      AND (c.claimed_at > last_seen_at OR (c.outcome = 'done' AND c.closed_at > last_seen_at))
  )
ORDER BY CASE orphan_type
    WHEN 'dead_claim' THEN 0 WHEN 'conflict_abandoned' THEN 1 WHEN 'context_lost' THEN 2
    WHEN 'stale_in_progress' THEN 3 ELSE 4 END,
  percent DESC, COALESCE(last_activity, '') DESC, source, task_id
LIMIT :limit;

-- name: count_orphans
-- How many tasks of each kind somebody should take up again, each by the most urgent kind.
SELECT orphan_rank, COUNT(*) AS number FROM (
    SELECT MIN(CASE orphan_type
        WHEN 'dead_claim' THEN 0 WHEN 'conflict_abandoned' THEN 1 WHEN 'context_lost' THEN 2
        WHEN 'stale_in_progress' THEN 3 ELSE 4 END) AS orphan_rank
    FROM vacuum_reports
    WHERE resolution IS NULL AND percent >= :percent
      AND orphan_type IN (
        'dead_claim', 'conflict_abandoned', 'context_lost', 'stale_in_progress',
        'partially_completed'
      )
      AND NOT EXISTS (
        SELECT 1 FROM claims AS c
        WHERE c.source = vacuum_reports.source AND c.task = vacuum_reports.task_id
          AND (c.claimed_at > last_seen_at OR (c.outcome = 'done' AND c.closed_at > last_seen_at))
      )
    GROUP BY source, task_id
) AS ranked
GROUP BY orphan_rank ORDER BY orphan_rank;

-- name: unmarked
-- Tasks that are done and lack their mark.
SELECT source, task_id FROM vacuum_reports
WHERE resolution IS NULL AND orphan_type = 'done_unmarked' AND percent >= :percent;

-- name: last_run
-- What a run last did.
SELECT run, type, at FROM events
WHERE id = (SELECT MAX(id) FROM events WHERE run IS NOT NULL);
