-- name: inputs
-- What a deriver was told in a scope, and what it said then.
SELECT name, stamp FROM lineage_inputs WHERE deriver = :deriver AND scope = :scope;

-- name: read
-- An input was read.
INSERT INTO lineage_inputs (deriver, scope, name, stamp)
VALUES (:deriver, :scope, :name, :stamp)
ON CONFLICT (deriver, scope, name) DO UPDATE SET stamp = excluded.stamp
WHERE stamp <> excluded.stamp;

-- name: numbers
-- The numbers of some inputs.
SELECT name, id FROM lineage_inputs
WHERE deriver = :deriver AND scope = :scope AND name IN (SELECT value FROM json_each(:names));

-- name: elsewhere
-- The numbers of all inputs of checkouts but some.
SELECT id FROM lineage_inputs
WHERE scope <> '' AND scope NOT IN (SELECT value FROM json_each(:scopes));

-- name: forget
-- Inputs that are gone.
DELETE FROM lineage_inputs WHERE id IN (SELECT value FROM json_each(:inputs));

-- name: unhinge
-- Some inputs hang on nothing any more.
DELETE FROM lineage_hinges WHERE input IN (SELECT value FROM json_each(:inputs));

-- name: hang
-- On which words an input hangs.
INSERT INTO lineage_hinges (input, word) VALUES (:input, :word);

-- name: hanging
-- The inputs of a checkout that hang on some words.
SELECT DISTINCT i.deriver, i.name
FROM json_each(:words) AS j
CROSS JOIN lineage_hinges AS h ON h.word = j.value
CROSS JOIN lineage_inputs AS i ON i.id = h.input
WHERE i.scope = :scope;

-- name: make_room
-- What inputs say now, on its way into the tables.
CREATE TEMP TABLE IF NOT EXISTS lineage_said (
    is_code    INTEGER NOT NULL,
    input      INTEGER NOT NULL,
    from_id    INTEGER NOT NULL,
    to_id      INTEGER NOT NULL,
    node_kind  TEXT NOT NULL,
    edge_type  TEXT NOT NULL,
    confidence REAL NOT NULL,
    at         TEXT NOT NULL,
    pointer    TEXT NOT NULL,
    detail     TEXT NOT NULL,
    commit_oid TEXT NOT NULL
);

-- name: make_list
-- The edges whose evidence changed.
CREATE TEMP TABLE IF NOT EXISTS lineage_touched (
    is_code INTEGER NOT NULL,
    edge    INTEGER NOT NULL,
    PRIMARY KEY (is_code, edge)
) WITHOUT ROWID;

-- name: say
-- One thing that an input says.
INSERT INTO temp.lineage_said VALUES (
    :is_code, :input, :from_id, :to_id, :node_kind, :edge_type,
    :confidence, :at, :pointer, :detail, :commit_oid
);

-- name: touch_tasks
-- The edges that stand on some inputs.
INSERT INTO temp.lineage_touched
SELECT DISTINCT 0, edge FROM task_evidence
WHERE input IN (SELECT value FROM json_each(:inputs))
ON CONFLICT DO NOTHING;

-- name: touch_code
-- The same of edges to code.
INSERT INTO temp.lineage_touched
SELECT DISTINCT 1, edge FROM code_evidence
WHERE input IN (SELECT value FROM json_each(:inputs))
ON CONFLICT DO NOTHING;

-- name: withdraw_tasks
-- What some inputs said before.
DELETE FROM task_evidence WHERE input IN (SELECT value FROM json_each(:inputs));

-- name: withdraw_code
-- The same of edges to code.
DELETE FROM code_evidence WHERE input IN (SELECT value FROM json_each(:inputs));

-- name: draw_tasks
-- Edges that nobody spoke of yet.
INSERT INTO task_edges (
    scope, from_id, to_id, edge_type, source, confidence, at, derived_at
)
SELECT :scope, from_id, to_id, edge_type, :deriver, max(confidence), '', :derived_at
FROM temp.lineage_said
WHERE is_code = 0
GROUP BY from_id, to_id, edge_type
ON CONFLICT DO NOTHING;

-- name: draw_code
-- The same of edges to code.
INSERT INTO task_code_edges (
    scope, from_id, node_id, node_kind, edge_type, source, confidence, at, derived_at
)
SELECT
    :scope, from_id, to_id, max(node_kind), edge_type, :deriver, max(confidence), '', :derived_at
FROM temp.lineage_said
WHERE is_code = 1
GROUP BY from_id, to_id, edge_type
ON CONFLICT DO NOTHING;

-- name: prove_tasks
-- What edges stand on.
INSERT INTO task_evidence (edge, input, confidence, at, pointer, detail, commit_no)
SELECT DISTINCT e.id, s.input, s.confidence, s.at, s.pointer, s.detail, c.number
FROM temp.lineage_said AS s
CROSS JOIN task_edges AS e ON
    e.scope = :scope AND e.from_id = s.from_id AND e.to_id = s.to_id
    AND e.edge_type = s.edge_type AND e.source = :deriver
LEFT JOIN identity_commits AS c ON c.oid = s.commit_oid
WHERE s.is_code = 0;

-- name: prove_code
-- The same of edges to code.
INSERT INTO code_evidence (edge, input, confidence, at, pointer, detail, commit_no)
SELECT DISTINCT e.id, s.input, s.confidence, s.at, s.pointer, s.detail, c.number
FROM temp.lineage_said AS s
CROSS JOIN task_code_edges AS e ON
    e.scope = :scope AND e.from_id = s.from_id AND e.node_id = s.to_id
    AND e.edge_type = s.edge_type AND e.source = :deriver
LEFT JOIN identity_commits AS c ON c.oid = s.commit_oid
WHERE s.is_code = 1;

-- name: sum_tasks
-- Edges are as sure as the best of their evidence, and as old as the oldest.
UPDATE task_edges SET confidence = said.confidence, at = said.at
FROM (
    SELECT
        v.edge, max(v.confidence) AS confidence,
        coalesce(min(nullif(v.at, '')), '') AS at
    FROM temp.lineage_touched AS t CROSS JOIN task_evidence AS v ON v.edge = t.edge
    WHERE t.is_code = 0
    GROUP BY v.edge
) AS said
WHERE task_edges.id = said.edge
  AND (task_edges.confidence <> said.confidence OR task_edges.at <> said.at);

-- name: sum_code
-- The same of edges to code.
UPDATE task_code_edges SET confidence = said.confidence, at = said.at
FROM (
    SELECT
        v.edge, max(v.confidence) AS confidence,
        coalesce(min(nullif(v.at, '')), '') AS at
    FROM temp.lineage_touched AS t CROSS JOIN code_evidence AS v ON v.edge = t.edge
    WHERE t.is_code = 1
    GROUP BY v.edge
) AS said
WHERE task_code_edges.id = said.edge
  AND (task_code_edges.confidence <> said.confidence OR task_code_edges.at <> said.at);

-- name: drop_tasks
-- Edges that nothing speaks for any more.
DELETE FROM task_edges
WHERE id IN (SELECT edge FROM temp.lineage_touched WHERE is_code = 0)
  AND NOT EXISTS (SELECT 1 FROM task_evidence WHERE edge = task_edges.id);

-- name: drop_code
-- The same of edges to code.
DELETE FROM task_code_edges
WHERE id IN (SELECT edge FROM temp.lineage_touched WHERE is_code = 1)
  AND NOT EXISTS (SELECT 1 FROM code_evidence WHERE edge = task_code_edges.id);

-- name: clear_room
-- Everything was said.
DELETE FROM temp.lineage_said;

-- name: clear_list
-- Everything was added up.
DELETE FROM temp.lineage_touched;
