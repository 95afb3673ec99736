-- name: get
-- One session.
SELECT agents.*, tether_now(0) AS read_at FROM agents WHERE session_id = :session_id;

-- name: here
-- Sessions that are active or idle, or all of them; the last seen first.
SELECT agents.*, tether_now(0) AS read_at FROM agents
WHERE status IN ('active', 'idle') OR CAST(:everyone AS BIGINT) = 1
ORDER BY last_seen_at DESC, session_id;

-- name: by_name
-- The sessions of an agent, newest first.
SELECT agents.*, tether_now(0) AS read_at FROM agents
WHERE agent_name = :agent_name ORDER BY started_at DESC, session_id;

-- name: family
-- A session, its parents, and everybody below the topmost of them.
WITH RECURSIVE up (session_id, parent_id) AS (
    SELECT session_id, parent_id FROM agents WHERE session_id = :session_id
    UNION
    SELECT agents.session_id, agents.parent_id
    FROM agents JOIN up ON agents.session_id = up.parent_id
), down (session_id) AS (
    SELECT session_id FROM up
    UNION
    SELECT agents.session_id FROM agents JOIN down ON agents.parent_id = down.session_id
)
SELECT agents.*, tether_now(0) AS read_at
FROM agents JOIN down ON down.session_id = agents.session_id
ORDER BY started_at, agents.session_id;

-- name: register
-- Begin a session, or hear from one that began before; its status is not touched.
INSERT INTO agents (
    session_id, agent_name, kind, parent_id, status,
    host_name, host_id, boot_id, pid_namespace, pid, start_ticks,
    worktree, branch, head, transcript,
    started_at, last_beat_at, last_seen_at, lease_until, beat_boot_id, beat_monotonic_ms,
    inbox_from, version
)
VALUES (
    :session_id, :agent_name, :kind, :parent_id, 'active',
    :host_name, :host_id, :boot_id, :pid_namespace, :pid, :start_ticks,
    :worktree, :branch, :head, :transcript,
    tether_now(0), tether_now(0), tether_now(0), tether_now(:lease_ms), :beat_boot_id,
    :beat_monotonic_ms,
    (SELECT value FROM counters WHERE name = 'messages'), 1
)
ON CONFLICT (session_id) DO UPDATE SET
    agent_name = excluded.agent_name,
    kind = excluded.kind,
    parent_id = COALESCE(excluded.parent_id, agents.parent_id),
    host_name = excluded.host_name,
    host_id = COALESCE(
        excluded.host_id, CASE WHEN agents.pid = :lost_pid THEN NULL ELSE agents.host_id END),
    boot_id = COALESCE(
        excluded.boot_id, CASE WHEN agents.pid = :lost_pid THEN NULL ELSE agents.boot_id END),
    pid_namespace = COALESCE(
        excluded.pid_namespace,
        CASE WHEN agents.pid = :lost_pid THEN NULL ELSE agents.pid_namespace END),
    pid = COALESCE(
        excluded.pid, CASE WHEN agents.pid = :lost_pid THEN NULL ELSE agents.pid END),
    start_ticks = COALESCE(
        excluded.start_ticks,
        CASE WHEN agents.pid = :lost_pid THEN NULL ELSE agents.start_ticks END),
    worktree = COALESCE(excluded.worktree, agents.worktree),
    branch = CASE WHEN excluded.worktree IS NULL THEN agents.branch ELSE excluded.branch END,
    head = CASE WHEN excluded.worktree IS NULL THEN agents.head ELSE excluded.head END,
    transcript = COALESCE(excluded.transcript, agents.transcript),
    last_beat_at = excluded.last_beat_at,
    last_seen_at = excluded.last_seen_at,
    lease_until = excluded.lease_until,
    beat_boot_id = excluded.beat_boot_id,
    beat_monotonic_ms = excluded.beat_monotonic_ms,
    version = agents.version + 1
RETURNING *, tether_now(0) AS read_at;

-- name: revive
-- A session that was ended, taken for dead or idle is at work again; who had left is new here.
UPDATE agents SET
    status = 'active',
    ended_at = NULL,
    inbox_from = CASE WHEN status = 'ended'
        THEN (SELECT value FROM counters WHERE name = 'messages') ELSE inbox_from END,
    version = version + 1
WHERE session_id = :session_id AND status = :status
RETURNING *, tether_now(0) AS read_at;

-- name: beat
-- Hear from a session, if its status is still the one that was read.
UPDATE agents SET
    status = :new_status,
    ended_at = NULL,
    host_name = :host_name,
    host_id = COALESCE(:host_id, CASE WHEN pid = :lost_pid THEN NULL ELSE host_id END),
    boot_id = COALESCE(:boot_id, CASE WHEN pid = :lost_pid THEN NULL ELSE boot_id END),
    pid_namespace = COALESCE(
        :pid_namespace, CASE WHEN pid = :lost_pid THEN NULL ELSE pid_namespace END),
    pid = COALESCE(:pid, CASE WHEN pid = :lost_pid THEN NULL ELSE pid END),
    start_ticks = COALESCE(:start_ticks, CASE WHEN pid = :lost_pid THEN NULL ELSE start_ticks END),
    source = COALESCE(:source, source),
    task = COALESCE(:task, task),
    progress = COALESCE(:progress, progress),
    progress_at = CASE WHEN CAST(:progress AS TEXT) IS NULL THEN progress_at
        ELSE tether_now(0) END,
    worktree = COALESCE(:worktree, worktree),
    branch = CASE WHEN CAST(:worktree AS TEXT) IS NULL THEN branch ELSE :branch END,
    head = CASE WHEN CAST(:worktree AS TEXT) IS NULL THEN head ELSE :head END,
    last_beat_at = tether_now(0),
    last_seen_at = tether_now(0),
    lease_until = tether_now(:lease_ms),
    beat_boot_id = :beat_boot_id,
    beat_monotonic_ms = :beat_monotonic_ms,
    version = version + 1
WHERE session_id = :session_id AND status = :status
RETURNING *, tether_now(0) AS read_at;

-- name: rest
-- A session waits for work: idle, with no current task.
UPDATE agents SET
    status = 'idle',
    source = NULL,
    task = NULL,
    last_beat_at = tether_now(0),
    last_seen_at = tether_now(0),
    lease_until = tether_now(:lease_ms),
    beat_boot_id = :beat_boot_id,
    beat_monotonic_ms = :beat_monotonic_ms,
    version = version + 1
WHERE session_id = :session_id AND status IN ('active', 'idle')
RETURNING *, tether_now(0) AS read_at;

-- name: end
-- A session is over, by its own word.
UPDATE agents SET
    status = 'ended',
    ended_at = tether_now(0),
    source = NULL,
    task = NULL,
    last_seen_at = tether_now(0),
    version = version + 1
WHERE session_id = :session_id AND status <> 'ended'
RETURNING *, tether_now(0) AS read_at;

-- name: silent
-- Sessions not seen for a while by either clock, and those seen in a future that was taken back.
SELECT agents.*, tether_now(0) AS read_at FROM agents
WHERE status IN ('active', 'idle')
  AND (last_seen_at <= (SELECT tether_now(:since_ms))
       OR last_seen_at > (SELECT tether_now(:ahead_ms))
       OR (pid IS NULL AND beat_boot_id = :boot_id AND beat_monotonic_ms <= :since_running_ms))
ORDER BY last_seen_at, session_id;

-- name: seen
-- A sweep saw the process of a session, if nobody heard from it meanwhile.
UPDATE agents SET
    last_seen_at = tether_now(0), lease_until = tether_now(:lease_ms), version = version + 1
WHERE session_id = :session_id AND version = :version AND status IN ('active', 'idle')
RETURNING session_id;

-- name: rewind
-- A beat lies in the future: it was as long ago as is known, or else it counts from now.
UPDATE agents SET
    last_beat_at = tether_now(:ago_ms),
    last_seen_at = tether_now(:ago_ms),
    lease_until = tether_now(:lease_ms),
    beat_boot_id = :beat_boot_id,
    beat_monotonic_ms = :beat_monotonic_ms,
    version = version + 1
WHERE session_id = :session_id AND version = :version AND status IN ('active', 'idle')
RETURNING session_id;

-- name: mark_stale
-- A session is over by evidence, if nobody heard from it since that was looked at.
UPDATE agents SET
    status = 'stale', ended_at = tether_now(0), source = NULL, task = NULL, version = version + 1
WHERE session_id = :session_id AND version = :version AND status IN ('active', 'idle')
RETURNING *, tether_now(0) AS read_at;

-- name: note_progress
-- Keep a progress text in the history.
INSERT INTO heartbeats (id, session_id, at, progress, source, task)
VALUES (:id, :session_id, tether_now(0), :progress, :source, :task);

-- name: progress
-- The last progress texts of a session, newest first.
SELECT at, progress, source, task FROM heartbeats
WHERE session_id = :session_id ORDER BY id DESC LIMIT :limit;

-- name: prune_heartbeats
-- Forget the oldest progress texts, a batch at a time.
DELETE FROM heartbeats
WHERE id IN (SELECT id FROM heartbeats ORDER BY id LIMIT :limit)
  AND at < (SELECT tether_now(:since_ms))
RETURNING id;

-- name: work_on
-- What a session works on from now; with no task, nothing.
UPDATE agents SET
    source = CAST(:source AS TEXT),
    task = CAST(:task AS TEXT),
    status = CASE WHEN status = 'idle' AND CAST(:task AS TEXT) IS NOT NULL
        THEN 'active' ELSE status END,
    version = version + 1
WHERE session_id = :session_id
RETURNING *, tether_now(0) AS read_at;

-- name: hold
-- Keep the row of a session as it was read until the transaction ends.
UPDATE agents SET version = version WHERE session_id = :session_id AND version = :version
RETURNING session_id;

-- name: lock
-- Take the row of a session first, as every act of its own does: so nobody waits in a circle.
UPDATE agents SET version = version WHERE session_id = :session_id;

-- name: retired
-- What the sweep that retired a session had seen.
SELECT data FROM events WHERE session = :session_id AND type = 'agent_stale'
ORDER BY id DESC LIMIT 1;
