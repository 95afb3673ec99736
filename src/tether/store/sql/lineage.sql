-- name: judge
-- Somebody says of an edge whether it is right; the last word counts.
INSERT INTO lineage_feedback (
    subject, edge_type, object, deriver, verdict, judged_at, judged_by, why
)
VALUES (:subject, :edge_type, :object, :deriver, :verdict, tether_now(0), :judged_by, :why)
ON CONFLICT (subject, edge_type, object, deriver) DO UPDATE SET
    verdict = excluded.verdict, judged_at = excluded.judged_at,
    judged_by = excluded.judged_by, why = excluded.why;

-- name: judged
-- Everything that was said of edges, newest first.
SELECT * FROM lineage_feedback ORDER BY judged_at DESC, subject, edge_type, object, deriver;

-- name: count_up
-- Something was shown or opened.
INSERT INTO lineage_usage (day, what, times)
VALUES (substr(tether_now(0), 1, 10), :what, :times)
ON CONFLICT (day, what) DO UPDATE SET times = lineage_usage.times + excluded.times;

-- name: used
-- How often what was shown and opened, by day.
SELECT day, what, times FROM lineage_usage ORDER BY day, what;

-- name: dispatched
-- The tasks that runs gave out, each with the session that coordinates, after an event.
SELECT id, at, run, source, task, session FROM events
WHERE type = 'developer_dispatched' AND source IS NOT NULL AND id > :after
ORDER BY id LIMIT :limit;

-- name: started_below
-- The claims of sessions that another one started.
SELECT c.source, c.task, c.epoch, c.claimed_at, a.parent_id AS parent
FROM claims AS c JOIN agents AS a ON a.session_id = c.session_id
WHERE a.parent_id IS NOT NULL
ORDER BY c.claimed_at, c.source, c.task, c.epoch;

-- name: held_at
-- What a session held at a time.
SELECT source, task FROM claims
WHERE session_id = :session AND claimed_at <= :at AND (closed_at IS NULL OR closed_at > :at)
ORDER BY claimed_at DESC, source, task;

-- name: moved
-- Another answer if a task was claimed, let go or given out since, or an edge judged.
SELECT
    (SELECT count(*) FROM claims) AS taken,
    (SELECT count(*) FROM claims WHERE closed_at IS NOT NULL) AS closed,
    (SELECT max(id) FROM events WHERE type = 'developer_dispatched') AS given,
    (SELECT count(*) FROM lineage_feedback) AS judged,
    (SELECT max(judged_at) FROM lineage_feedback) AS judged_at;

-- name: open_orphans
-- What sweeps found of tasks that was not settled, the most probable last.
SELECT source, task_id, orphan_type, percent FROM vacuum_reports
WHERE resolution IS NULL AND orphan_type IN (
    'dead_claim', 'conflict_abandoned', 'context_lost', 'stale_in_progress', 'partially_completed'
)
ORDER BY percent, id;

-- name: judged_wrong
-- The edges of a node that somebody judged wrong.
SELECT subject, edge_type, object, deriver FROM lineage_feedback
WHERE verdict = 'wrong' AND (subject = :node OR object = :node);
