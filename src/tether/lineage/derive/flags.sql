-- name: flags
-- What speaks against tasks. What somebody declared or wrote plainly counts; so does a contradiction
-- in a text, which is never sure, and is shown as what it is.
SELECT
    t.key, CASE e.edge_type WHEN 'supersedes' THEN 'superseded' ELSE 'contradicted' END,
    o.key, e.confidence, e.at
FROM shown_edges AS e
CROSS JOIN lineage_nodes AS t ON t.id = e.to_id
CROSS JOIN lineage_nodes AS o ON o.id = e.from_id
WHERE t.kind = 'task' AND (
    (e.edge_type = 'supersedes' AND e.confidence >= 0.7)
    OR (e.edge_type = 'contradicts' AND e.confidence >= 0.5)
)
ORDER BY e.confidence DESC, t.key, o.key;
