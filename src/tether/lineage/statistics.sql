-- name: standing
-- What stands at a commit: the last step of each path on the way of first parents to it.
WITH RECURSIVE
line (number) AS (
    SELECT :commit_no
    UNION ALL
    SELECT p.parent FROM line CROSS JOIN identity_parents AS p ON p.child = line.number
    WHERE p.place = 0
)
SELECT path, oid, file, versions, max(commit_no) FROM identity_steps
WHERE commit_no IN (SELECT number FROM line)
GROUP BY path;

-- name: explained
-- The code that tasks made or changed.
SELECT DISTINCT e.node_id FROM shown_code_edges AS e
CROSS JOIN lineage_nodes AS t ON t.id = e.from_id AND t.kind = 'task'
WHERE e.edge_type IN ('created', 'touched');

-- name: hot
-- Code that many tasks changed: those that changed little else count for more, bulk for nothing.
WITH RECURSIVE
sizes (task, files) AS MATERIALIZED (
    SELECT from_id, count(DISTINCT node_id) FROM shown_code_edges
    WHERE edge_type IN ('created', 'touched', 'deleted') AND node_kind = 'file'
    GROUP BY from_id
),
shares (node, task, weight) AS (
    SELECT e.node_id, e.from_id, max(e.confidence) * 2.0 / (1 + coalesce(s.files, 1))
    FROM shown_code_edges AS e LEFT JOIN sizes AS s ON s.task = e.from_id
    WHERE e.edge_type IN ('created', 'touched') AND coalesce(s.files, 1) <= :most_files
      AND (e.node_kind = 'file') = :is_file
    GROUP BY e.node_id, e.from_id
)
SELECT n.key, count(*), sum(h.weight)
FROM shares AS h
CROSS JOIN lineage_nodes AS n ON n.id = h.node
WHERE h.node IN (SELECT value FROM json_each(:standing))
GROUP BY h.node HAVING count(*) > 1
ORDER BY sum(h.weight) DESC, n.key LIMIT :rows;

-- name: derived
-- How many edges of each type each deriver has.
SELECT source, edge_type, count(*) FROM (
    SELECT source, edge_type FROM shown_edges
    UNION ALL
    SELECT source, edge_type FROM shown_code_edges
)
GROUP BY source, edge_type ORDER BY source, edge_type;

-- name: with_holes
-- Code of whose history something is not known: the list of what is not known ends its changes.
SELECT DISTINCT node FROM identity_events WHERE substr(change, -1) <> x'90';

-- name: counts
-- How much there is.
SELECT 'nodes', count(*) FROM lineage_nodes
UNION ALL SELECT 'commits', count(*) FROM identity_commits
UNION ALL SELECT 'events', count(*) FROM identity_events
UNION ALL SELECT 'task_edges', count(*) FROM task_edges
UNION ALL SELECT 'code_edges', count(*) FROM task_code_edges
UNION ALL SELECT 'inputs', count(*) FROM lineage_inputs;
