-- name: now
-- What a question sees of the index if everything in it counts.
WITH RECURSIVE
shown_evidence AS NOT MATERIALIZED (
    SELECT edge, input, confidence, at, pointer, detail FROM task_evidence
),
shown_code_evidence AS NOT MATERIALIZED (
    SELECT edge, input, confidence, at, pointer, detail FROM code_evidence
),
shown_edges AS NOT MATERIALIZED (
    SELECT id, scope, from_id, to_id, edge_type, source, confidence, at, derived_at
    FROM task_edges
    WHERE +confidence >= :min_confidence
      AND +scope IN (SELECT value FROM json_each(:scopes))
      AND +id NOT IN (SELECT value FROM json_each(:wrong_edges))
),
shown_code_edges AS NOT MATERIALIZED (
    SELECT
        id, scope, from_id, node_id, node_kind, edge_type, source, confidence, at, derived_at
    FROM task_code_edges
    WHERE +confidence >= :min_confidence
      AND +scope IN (SELECT value FROM json_each(:scopes))
      AND +id NOT IN (SELECT value FROM json_each(:wrong_code_edges))
),
shown_events AS NOT MATERIALIZED (
    SELECT number, node, commit_no, kinds, digest FROM identity_events
)

-- name: then
-- What a question sees if only some commits count, and texts of some time.
WITH RECURSIVE
shown_evidence AS NOT MATERIALIZED (
    SELECT edge, input, confidence, at, pointer, detail FROM task_evidence
    WHERE CASE
        WHEN commit_no IS NULL THEN at <= :until
        ELSE EXISTS (
            SELECT 1 FROM temp.lineage_counted AS c
            WHERE c.question = :question AND c.commit_no = task_evidence.commit_no
        )
    END
),
shown_code_evidence AS NOT MATERIALIZED (
    SELECT edge, input, confidence, at, pointer, detail FROM code_evidence
    WHERE CASE
        WHEN commit_no IS NULL THEN at <= :until
        ELSE EXISTS (
            SELECT 1 FROM temp.lineage_counted AS c
            WHERE c.question = :question AND c.commit_no = code_evidence.commit_no
        )
    END
),
-- With less evidence an edge is less sure, and never more: so it is looked at only if it may do.
shown_edges AS NOT MATERIALIZED (
    SELECT
        id, scope, from_id, to_id, edge_type, source,
        (
            SELECT max(v.confidence) FROM shown_evidence AS v WHERE v.edge = task_edges.id
        ) AS confidence,
        (
            SELECT coalesce(min(nullif(v.at, '')), '') FROM shown_evidence AS v
            WHERE v.edge = task_edges.id
        ) AS at,
        derived_at
    FROM task_edges
    WHERE +confidence >= :min_confidence
      AND +scope IN (SELECT value FROM json_each(:scopes))
      AND +id NOT IN (SELECT value FROM json_each(:wrong_edges))
      AND EXISTS (
        SELECT 1 FROM shown_evidence AS v
        WHERE v.edge = task_edges.id AND v.confidence >= :min_confidence
      )
),
shown_code_edges AS NOT MATERIALIZED (
    SELECT
        id, scope, from_id, node_id, node_kind, edge_type, source,
        (
            SELECT max(v.confidence) FROM shown_code_evidence AS v
            WHERE v.edge = task_code_edges.id
        ) AS confidence,
        (
            SELECT coalesce(min(nullif(v.at, '')), '') FROM shown_code_evidence AS v
            WHERE v.edge = task_code_edges.id
        ) AS at,
        derived_at
    FROM task_code_edges
    WHERE +confidence >= :min_confidence
      AND +scope IN (SELECT value FROM json_each(:scopes))
      AND +id NOT IN (SELECT value FROM json_each(:wrong_code_edges))
      AND EXISTS (
        SELECT 1 FROM shown_code_evidence AS v
        WHERE v.edge = task_code_edges.id AND v.confidence >= :min_confidence
      )
),
shown_events AS NOT MATERIALIZED (
    SELECT number, node, commit_no, kinds, digest FROM identity_events
    WHERE EXISTS (
        SELECT 1 FROM temp.lineage_counted AS c
        WHERE c.question = :question AND c.commit_no = identity_events.commit_no
    )
)

-- name: make_room
-- The commits that count for a question.
CREATE TEMP TABLE IF NOT EXISTS lineage_counted (
    question  INTEGER NOT NULL,
    commit_no INTEGER NOT NULL,
    PRIMARY KEY (question, commit_no)
) WITHOUT ROWID;

-- name: heads
-- Commits that have no children: if there is but one, everything is its past.
SELECT oid FROM identity_commits
WHERE number NOT IN (SELECT parent FROM identity_parents) LIMIT 2;

-- name: count_ancestors
-- A commit and all of its past count.
INSERT INTO temp.lineage_counted
WITH RECURSIVE past (commit_no) AS (
    SELECT number FROM identity_commits WHERE oid = :commit
    UNION
    SELECT p.parent FROM past CROSS JOIN identity_parents AS p ON p.child = past.commit_no
)
SELECT :question, commit_no FROM past;

-- name: count_until
-- What was committed until a time counts.
INSERT INTO temp.lineage_counted
SELECT :question, number FROM identity_commits WHERE at <= :until_ms;

-- name: wrong_edges
-- Those edges that somebody judged wrong, by what they say.
SELECT e.id FROM json_each(:wrong) AS w
CROSS JOIN lineage_nodes AS s ON s.key = json_extract(w.value, '$[0]')
CROSS JOIN lineage_nodes AS o ON o.key = json_extract(w.value, '$[2]')
CROSS JOIN task_edges AS e ON
    e.from_id = s.id AND e.to_id = o.id AND e.edge_type = json_extract(w.value, '$[1]')
    AND e.source = json_extract(w.value, '$[3]');

-- name: wrong_code_edges
-- The same of edges to code.
SELECT e.id FROM json_each(:wrong) AS w
CROSS JOIN lineage_nodes AS s ON s.key = json_extract(w.value, '$[0]')
CROSS JOIN lineage_nodes AS o ON o.key = json_extract(w.value, '$[2]')
CROSS JOIN task_code_edges AS e ON
    e.from_id = s.id AND e.node_id = o.id AND e.edge_type = json_extract(w.value, '$[1]')
    AND e.source = json_extract(w.value, '$[3]');

-- name: which_count
-- Those of some commits that count for a question.
SELECT commit_no FROM temp.lineage_counted
WHERE question = :question AND commit_no IN (SELECT value FROM json_each(:commits));
