-- name: keep
-- Write down what shows work on a task, unless it is known already.
INSERT INTO activities (
    source, record, task_source, task, kind, what, at, session, host_id, file, place, excerpt, files
) VALUES (
    :source, :record, :task_source, :task, :kind, :what, :at, :session, :host_id, :file, :place,
    :excerpt, :files
)
ON CONFLICT DO NOTHING;

-- name: forget_file
-- Drop what was read from a file by an older reader, of all lists or of one.
DELETE FROM activities
WHERE host_id = :host_id AND file = :file
  AND (CAST(:task_source AS TEXT) IS NULL OR task_source = :task_source);

-- name: transcripts_of_host
-- How far each file of a machine was written down.
SELECT file, reader, anchor, read_to FROM transcripts WHERE host_id = :host_id;

-- name: keep_transcript
-- Say how far a file was written down, and what it told of its session.
INSERT INTO transcripts (host_id, file, source, session, reader, anchor, read_to, facts)
VALUES (:host_id, :file, :source, :session, :reader, :anchor, :read_to, :facts)
ON CONFLICT (host_id, file) DO UPDATE SET
    source = excluded.source, session = excluded.session, reader = excluded.reader,
    anchor = excluded.anchor, read_to = excluded.read_to, facts = excluded.facts;

-- name: of_task
-- What shows work on a task. Its id is said not to be empty, as the index over it needs.
SELECT * FROM activities WHERE task = :task AND task_source = :task_source AND task <> '';

-- name: tasks_called
-- The lists that have had a task of this id: somebody worked on it, or had it.
SELECT task_source AS source, task FROM activities WHERE task = :task AND task <> ''
UNION
SELECT source, task FROM claims WHERE task = :task;

-- name: of_session
-- What a session did while only its claim could tell for which task.
SELECT * FROM activities
WHERE (session = :session OR (session > :below AND session < :above))
  AND task = '' AND at >= :since AND at <= :until;

-- name: transcripts_of_session
-- What files told of a session.
SELECT * FROM transcripts WHERE session = :session ORDER BY host_id, file;

-- name: claims_overlapping
-- The claims of a session, or of a checkout on this machine.
SELECT claims.* FROM claims JOIN agents ON agents.session_id = claims.session_id
WHERE claims.session_id = :session
   OR (claims.worktree = :worktree AND (
     agents.host_id = :host_id OR (agents.host_id IS NULL AND agents.host_name = :host_name)
   ))
ORDER BY claimed_at;

-- name: worktrees
-- Every checkout on this machine that somebody has worked in.
SELECT worktree FROM agents
WHERE worktree IS NOT NULL AND (host_id = :host_id OR (host_id IS NULL AND host_name = :host_name))
UNION
SELECT claims.worktree FROM claims JOIN agents ON agents.session_id = claims.session_id
WHERE claims.worktree IS NOT NULL
  AND (
     agents.host_id = :host_id OR (agents.host_id IS NULL AND agents.host_name = :host_name)
   );

-- name: claimers
-- Every session that ever had a claim.
SELECT DISTINCT session_id FROM claims;

-- name: drop_excerpts
-- Forget the texts of a machine's transcripts, not that they were there.
UPDATE activities SET excerpt = '' WHERE host_id = :host_id AND excerpt <> '';

-- name: drop_words
-- Forget what a file told of its session, and have it read again if it is still there.
UPDATE transcripts SET facts = '{}', reader = :reader WHERE host_id = :host_id AND file = :file;

-- name: made_in
-- The commits that came to be in a checkout while somebody held a task there.
SELECT place, what, at, excerpt, files FROM activities
WHERE host_id = :host_id AND file = :worktree AND source = :source ORDER BY at, place;

-- name: named_in
-- When a session named which task, by what was written down of its files.
SELECT a.at, a.task_source, a.task
FROM transcripts AS t JOIN activities AS a ON a.host_id = t.host_id AND a.file = t.file
WHERE t.session = :session AND a.task <> '' AND a.kind <> 'listed' AND a.at IS NOT NULL;
