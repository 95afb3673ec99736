-- name: code
-- What last happened to some code, as far as the question sees it: that says where it stands.
SELECT n.key, n.kind, e.kinds, e.change
FROM json_each(:keys) AS j
CROSS JOIN lineage_nodes AS n ON n.key = j.value
CROSS JOIN identity_events AS e ON e.number = (
    SELECT max(v.number) FROM shown_events AS v WHERE v.node = n.id
);

-- name: subjects
-- What the first commit says of tasks that nobody wrote down.
SELECT j.value, a.text
FROM json_each(:tasks) AS j
CROSS JOIN identity_commits AS c ON c.number = (
    SELECT t.commit_no FROM commit_tasks AS t
    CROSS JOIN identity_commits AS made ON made.number = t.commit_no
    WHERE t.task = (SELECT id FROM lineage_nodes WHERE key = j.value)
    ORDER BY t.confidence < :least, made.at, made.number LIMIT 1
)
CROSS JOIN activities AS a ON
    a.file = (SELECT id FROM evidence_files WHERE path = :commits)
    AND a.start = c.at AND a.record = c.oid;
