-- name: edges
-- Some edges between tasks and decisions, with their best evidence.
SELECT
    e.id, s.key, e.edge_type, o.key, e.confidence, e.at, e.source, e.derived_at, e.scope,
    (
        SELECT v.pointer FROM shown_evidence AS v WHERE v.edge = e.id
        ORDER BY v.confidence DESC, v.at = '', v.at, v.pointer LIMIT 1
    )
FROM json_each(:edges) AS j
CROSS JOIN shown_edges AS e ON e.id = j.value
CROSS JOIN lineage_nodes AS s ON s.id = e.from_id
CROSS JOIN lineage_nodes AS o ON o.id = e.to_id;

-- name: code_edges
-- The same of edges to code.
SELECT
    e.id, s.key, e.edge_type, o.key, e.confidence, e.at, e.source, e.derived_at, e.scope,
    (
        SELECT v.pointer FROM shown_code_evidence AS v WHERE v.edge = e.id
        ORDER BY v.confidence DESC, v.at = '', v.at, v.pointer LIMIT 1
    )
FROM json_each(:edges) AS j
CROSS JOIN shown_code_edges AS e ON e.id = j.value
CROSS JOIN lineage_nodes AS s ON s.id = e.from_id
CROSS JOIN lineage_nodes AS o ON o.id = e.node_id;

-- name: around
-- The edges of a node in both directions, those that happened first come first.
SELECT is_code, e.id FROM (
    SELECT 0 AS is_code, id, at, from_id, edge_type, to_id, source FROM shown_edges
    WHERE from_id = :node AND +edge_type IN (SELECT value FROM json_each(:outward))
      AND (:source = '' OR source = :source)
    UNION
    SELECT 0, id, at, from_id, edge_type, to_id, source FROM shown_edges
    WHERE to_id = :node AND +edge_type IN (SELECT value FROM json_each(:inward))
      AND (:source = '' OR source = :source)
    UNION
    SELECT 1, id, at, from_id, edge_type, node_id, source FROM shown_code_edges
    WHERE from_id = :node AND +edge_type IN (SELECT value FROM json_each(:outward))
      AND (:source = '' OR source = :source)
    UNION
    SELECT 1, id, at, from_id, edge_type, node_id, source FROM shown_code_edges
    WHERE node_id = :node AND +edge_type IN (SELECT value FROM json_each(:inward))
      AND (:source = '' OR source = :source)
) AS e
CROSS JOIN lineage_nodes AS s ON s.id = e.from_id
CROSS JOIN lineage_nodes AS o ON o.id = e.to_id
ORDER BY at = '', at, is_code, s.key, edge_type, o.key, source LIMIT :rows;

-- name: evidence
-- What an edge stands on, the strongest first: said by this checkout, and by Git and the store.
SELECT v.pointer, v.confidence, v.at, v.detail, i.deriver, i.name
FROM shown_edges AS e
CROSS JOIN shown_edges AS same ON
    same.from_id = e.from_id AND same.to_id = e.to_id
    AND same.edge_type = e.edge_type AND same.source = e.source
CROSS JOIN shown_evidence AS v ON v.edge = same.id
CROSS JOIN lineage_inputs AS i ON i.id = v.input
WHERE e.id = :edge
ORDER BY v.confidence DESC, v.at = '', v.at, v.pointer, v.detail LIMIT :rows;

-- name: code_evidence
-- The same of edges to code.
SELECT v.pointer, v.confidence, v.at, v.detail, i.deriver, i.name
FROM shown_code_evidence AS v CROSS JOIN lineage_inputs AS i ON i.id = v.input
WHERE v.edge = :edge
ORDER BY v.confidence DESC, v.at = '', v.at, v.pointer, v.detail LIMIT :rows;

-- name: every_edge
-- Edges of some types and derivers, those that happened first come first.
SELECT e.id FROM shown_edges AS e
CROSS JOIN lineage_nodes AS s ON s.id = e.from_id
CROSS JOIN lineage_nodes AS o ON o.id = e.to_id
WHERE +edge_type IN (SELECT value FROM json_each(:types))
  AND (:source = '' OR source = :source)
ORDER BY at = '', at, s.key, edge_type, o.key, source LIMIT :rows;

-- name: every_code_edge
-- The same of edges to code.
SELECT e.id FROM shown_code_edges AS e
CROSS JOIN lineage_nodes AS s ON s.id = e.from_id
CROSS JOIN lineage_nodes AS o ON o.id = e.node_id
WHERE +edge_type IN (SELECT value FROM json_each(:types))
  AND (:source = '' OR source = :source)
ORDER BY at = '', at, s.key, edge_type, o.key, source LIMIT :rows;
