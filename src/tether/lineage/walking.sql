-- name: reached
-- What some nodes have edges to, and what that has edges to: the nearest first.
WITH RECURSIVE
reached (node, step) AS (
    SELECT value, 0 FROM json_each(:nodes)
    UNION
    SELECT e.to_id, r.step + 1 FROM reached AS r CROSS JOIN shown_edges AS e ON e.from_id = r.node
    WHERE r.step < :depth
    UNION
    SELECT e.from_id, r.step + 1 FROM reached AS r CROSS JOIN shown_edges AS e ON e.to_id = r.node
    WHERE r.step < :depth
    UNION
    SELECT e.node_id, r.step + 1
    FROM reached AS r CROSS JOIN shown_code_edges AS e ON e.from_id = r.node
    WHERE r.step < :depth
    UNION
    SELECT e.from_id, r.step + 1
    FROM reached AS r CROSS JOIN shown_code_edges AS e ON e.node_id = r.node
    WHERE r.step < :depth
    ORDER BY 2 LIMIT :most
)
SELECT r.node, (SELECT count(*) FROM reached) FROM reached AS r
CROSS JOIN lineage_nodes AS n ON n.id = r.node
GROUP BY r.node
ORDER BY min(r.step), n.kind NOT IN ('task', 'decision'), n.key LIMIT :rows;

-- name: every_node
-- All nodes that have an edge, tasks and decisions first.
SELECT n.id, 0 FROM lineage_nodes AS n
WHERE n.id IN (
    SELECT from_id FROM shown_edges UNION SELECT to_id FROM shown_edges
    UNION SELECT from_id FROM shown_code_edges UNION SELECT node_id FROM shown_code_edges
)
ORDER BY n.kind NOT IN ('task', 'decision'), n.key LIMIT :rows;

-- name: between
-- The edges among some tasks and decisions.
SELECT e.id FROM json_each(:nodes) AS j CROSS JOIN shown_edges AS e ON e.from_id = j.value
WHERE e.to_id IN (SELECT value FROM json_each(:nodes));

-- name: between_code
-- The same of edges to code.
SELECT e.id FROM json_each(:nodes) AS j CROSS JOIN shown_code_edges AS e ON e.from_id = j.value
WHERE e.node_id IN (SELECT value FROM json_each(:nodes));

-- name: proofs
-- What edges stand on, the best of it.
SELECT edge, pointer, confidence, at, detail, deriver, name FROM (
    SELECT
        v.edge, v.pointer, v.confidence, v.at, v.detail, i.deriver, i.name,
        row_number() OVER (
            PARTITION BY v.edge ORDER BY v.confidence DESC, v.at = '', v.at, v.pointer, v.detail
        ) AS place
    FROM json_each(:edges) AS j
    CROSS JOIN shown_evidence AS v ON v.edge = j.value
    CROSS JOIN lineage_inputs AS i ON i.id = v.input
)
WHERE place <= :each ORDER BY edge, place;

-- name: code_proofs
-- The same of edges to code.
SELECT edge, pointer, confidence, at, detail, deriver, name FROM (
    SELECT
        v.edge, v.pointer, v.confidence, v.at, v.detail, i.deriver, i.name,
        row_number() OVER (
            PARTITION BY v.edge ORDER BY v.confidence DESC, v.at = '', v.at, v.pointer, v.detail
        ) AS place
    FROM json_each(:edges) AS j
    CROSS JOIN shown_code_evidence AS v ON v.edge = j.value
    CROSS JOIN lineage_inputs AS i ON i.id = v.input
)
WHERE place <= :each ORDER BY edge, place;
