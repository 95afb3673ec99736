-- name: code
-- What last happened to some code, as far as the question sees it: that says where it stands.
SELECT n.key, n.kind, e.kinds, e.change
FROM json_each(:keys) AS j
CROSS JOIN lineage_nodes AS n ON n.key = j.value
CROSS JOIN identity_events AS e ON e.number = (
    SELECT max(v.number) FROM shown_events AS v WHERE v.node = n.id
);
