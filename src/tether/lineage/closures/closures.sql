-- name: attributed
-- Tasks that made, changed, removed or declared some code: those that made it, then the newest.
SELECT e.from_id, max(e.edge_type = 'created') AS is_maker, max(e.at) AS latest
FROM json_each(:nodes) AS j
CROSS JOIN shown_code_edges AS e ON e.node_id = j.value
CROSS JOIN lineage_nodes AS t ON t.id = e.from_id
WHERE e.edge_type IN ('touched', 'declared', 'created', 'deleted') AND t.kind = 'task'
GROUP BY e.from_id
ORDER BY is_maker DESC, latest DESC, t.key LIMIT :rows;

-- name: attributions
-- The edges between some tasks and some code.
SELECT e.id FROM json_each(:nodes) AS j
CROSS JOIN shown_code_edges AS e ON e.node_id = j.value
WHERE e.edge_type IN ('touched', 'declared', 'created', 'deleted')
  AND e.from_id IN (SELECT value FROM json_each(:tasks))
ORDER BY e.confidence DESC, e.at, e.edge_type, e.id LIMIT :rows;

-- name: proofs
-- What some edges to code stand on, the best of each and how many there are.
SELECT edge, count, pointer, confidence, at, detail, i.deriver, i.name FROM (
    SELECT
        v.edge, v.input, v.pointer, v.confidence, v.at, v.detail,
        count(*) OVER (PARTITION BY v.edge) AS count,
        row_number() OVER (
            PARTITION BY v.edge ORDER BY v.confidence DESC, v.at DESC, v.pointer, v.detail
        ) AS place
    FROM json_each(:edges) AS j CROSS JOIN shown_code_evidence AS v ON v.edge = j.value
) CROSS JOIN lineage_inputs AS i ON i.id = input
WHERE place <= :each
ORDER BY edge, at = '', at, pointer, detail;

-- name: among
-- The edges of some types from some tasks to others of them.
SELECT e.id FROM json_each(:tasks) AS j CROSS JOIN shown_edges AS e ON e.from_id = j.value
WHERE e.edge_type IN (SELECT value FROM json_each(:types))
  AND e.to_id IN (SELECT value FROM json_each(:tasks))
ORDER BY e.confidence DESC, e.at, e.edge_type, e.id LIMIT :rows;

-- name: closure
-- What can be reached from a task, ring after ring, with the best way to each, all of it as JSON.
WITH RECURSIVE
rings (ring, found) AS (
    -- Each found is [node, score, from, how, over, ring]; a better way counts as another one.
    SELECT 0, json_array(json_array(:task, 1.0, NULL, '', NULL, 0))
    UNION ALL
    SELECT ring + 1, (
        WITH
        frontier (node, score) AS (
            SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]')
            FROM json_each(rings.found) WHERE json_extract(value, '$[5]') = rings.ring
            ORDER BY json_extract(value, '$[1]') DESC, json_extract(value, '$[0]') LIMIT :walked
        ),
        -- What the frontier changed, the surest of it.
        code (via, score, node, is_symbol, confidence, nth) AS (
            SELECT
                via, score, node, is_symbol, confidence,
                row_number() OVER (PARTITION BY node ORDER BY via)
            FROM (
                SELECT
                    f.node AS via, f.score, e.node_id AS node,
                    e.node_kind IN ('symbol', 'section') AS is_symbol,
                    max(e.confidence) AS confidence,
                    row_number() OVER (
                        PARTITION BY f.node ORDER BY max(e.confidence) DESC, e.node_id
                    ) AS place
                FROM frontier AS f CROSS JOIN shown_code_edges AS e ON e.from_id = f.node
                WHERE e.edge_type IN ('touched', 'declared', 'created', 'deleted')
                GROUP BY f.node, e.node_id
            )
            WHERE place <= iif(rings.ring, 1, 10) * :most_code
        ),
        -- How many tasks changed that: counted once, however many of the frontier did.
        counted (via, score, node, is_symbol, confidence, tasks) AS (
            SELECT
                via, score, node, is_symbol, confidence,
                max(counted_here) OVER (PARTITION BY node)
            FROM (
                SELECT *, CASE WHEN nth = 1 THEN (
                    SELECT count(*) FROM (
                        SELECT DISTINCT r.from_id FROM shown_code_edges AS r
                        WHERE r.node_id = code.node
                          AND r.edge_type IN ('touched', 'declared', 'created', 'deleted')
                        LIMIT :common + 1
                    )
                ) END AS counted_here
                FROM code
            )
        ),
        -- The rarest of it, until enough others are met over that.
        rare (via, score, node, is_symbol, confidence, tasks) AS MATERIALIZED (
            SELECT via, score, node, is_symbol, confidence, tasks FROM (
                SELECT *, sum(tasks) OVER (PARTITION BY via ORDER BY tasks, node) AS met
                FROM counted WHERE tasks BETWEEN 2 AND :common
            )
            WHERE met <= iif(rings.ring, 1, 10) * :most_met
        ),
        -- Whom it shares that with: what few tasks changed counts for more.
        shared (via, score, other, node, is_symbol, weight) AS (
            SELECT
                c.via, c.score, o.from_id, c.node, c.is_symbol,
                c.confidence * max(o.confidence) * 2.0 / c.tasks
            FROM rare AS c CROSS JOIN shown_code_edges AS o ON o.node_id = c.node
            WHERE o.from_id <> c.via
              AND o.edge_type IN ('touched', 'declared', 'created', 'deleted')
              AND (:since = '' OR o.at >= :since OR o.at = '')
            GROUP BY c.via, c.node, o.from_id
        ),
        steps (node, score, via, how, over) AS (
            SELECT e.to_id, f.score * e.confidence, f.node, e.edge_type, NULL
            FROM frontier AS f CROSS JOIN shown_edges AS e ON e.from_id = f.node
            WHERE :since = '' OR e.at >= :since OR e.at = ''
            UNION ALL
            SELECT e.from_id, f.score * e.confidence, f.node, '<' || e.edge_type, NULL
            FROM frontier AS f CROSS JOIN shown_edges AS e ON e.to_id = f.node
            WHERE :since = '' OR e.at >= :since OR e.at = ''
            UNION ALL
            SELECT other, score * strength / (1 + strength), via, how, node
            FROM (
                SELECT
                    via, score, other, sum(weight) AS strength,
                    iif(sum(is_symbol), 'co-touches-symbol', 'co-touches') AS how,
                    -- So the node is the one that weighs most, of symbols if there are any: no
                    -- weight is above 1.
                    node, max(is_symbol + weight)
                FROM shared GROUP BY via, other
            )
        )
        SELECT json_group_array(json(entry)) FROM (
            SELECT value AS entry FROM json_each(rings.found)
            UNION ALL
            SELECT * FROM (
                SELECT json_array(node, max(score), via, how, over, rings.ring + 1)
                FROM (
                    SELECT
                        json_extract(value, '$[0]') AS node, json_extract(value, '$[1]') AS score,
                        NULL AS via, '' AS how, NULL AS over
                    FROM json_each(rings.found)
                    UNION ALL
                    SELECT node, score * :decay, via, how, over FROM steps
                )
                GROUP BY node HAVING how <> '' AND max(score) >= :faint
                ORDER BY max(score) DESC, node LIMIT :width
            )
        )
    )
    FROM rings
    WHERE ring < :depth AND (
        SELECT sum(json_extract(value, '$[1]')) FROM json_each(rings.found)
        WHERE json_extract(value, '$[5]') = rings.ring
    ) >= :least * (
        SELECT coalesce(sum(json_extract(value, '$[1]')), 0) FROM json_each(rings.found)
        WHERE json_extract(value, '$[5]') BETWEEN 1 AND rings.ring - 1
    )
)
SELECT ring, found FROM rings ORDER BY ring DESC LIMIT 1;

-- name: files
-- The files that some tasks changed: what few tasks changed weighs more.
SELECT f.task, n.key, f.weight FROM (
    SELECT
        task, node, weight,
        row_number() OVER (PARTITION BY task ORDER BY weight DESC, node) AS place
    FROM (
        SELECT
            task, node,
            confidence * 2.0 / max(2, max(counted_here) OVER (PARTITION BY node)) AS weight
        FROM (
            -- How many tasks changed a file is counted once.
            SELECT *, CASE WHEN nth = 1 THEN (
                SELECT count(*) FROM (
                    SELECT DISTINCT r.from_id FROM shown_code_edges AS r
                    WHERE r.node_id = code.node
                      AND r.edge_type IN ('touched', 'declared', 'created', 'deleted')
                    LIMIT :common + 1
                )
            ) END AS counted_here
            FROM (
                SELECT *, row_number() OVER (PARTITION BY node ORDER BY task) AS nth
                FROM (
                    SELECT
                        e.from_id AS task, e.node_id AS node, max(e.confidence) AS confidence,
                        row_number() OVER (
                            PARTITION BY e.from_id ORDER BY max(e.confidence) DESC, e.node_id
                        ) AS place
                    FROM json_each(:tasks) AS j
                    CROSS JOIN shown_code_edges AS e ON e.from_id = j.value
                    WHERE e.edge_type IN ('touched', 'declared', 'created', 'deleted')
                      AND e.node_kind IN ('file', 'path')
                    GROUP BY e.from_id, e.node_id
                )
                WHERE place <= :most_code
            ) AS code
        )
    )
) AS f CROSS JOIN lineage_nodes AS n ON n.id = f.node
WHERE f.place <= :each
ORDER BY f.task, f.place;

-- name: co_touches
-- With which tasks a task shares code, and which: what few tasks changed weighs more.
WITH RECURSIVE
code (node, is_symbol, confidence, tasks) AS MATERIALIZED (
    SELECT node, is_symbol, confidence, (
        SELECT count(*) FROM (
            SELECT DISTINCT r.from_id FROM shown_code_edges AS r
            WHERE r.node_id = mine.node
              AND r.edge_type IN ('touched', 'declared', 'created', 'deleted')
            LIMIT :common + 1
        )
    )
    FROM (
        SELECT
            node_id AS node, node_kind IN ('symbol', 'section') AS is_symbol,
            max(confidence) AS confidence
        FROM shown_code_edges
        WHERE from_id = :task AND edge_type IN ('touched', 'declared', 'created', 'deleted')
        GROUP BY node_id
        ORDER BY max(confidence) DESC, node_id LIMIT :most_code
    ) AS mine
),
shared (other, node, is_symbol, weight) AS (
    SELECT
        o.from_id, c.node, c.is_symbol, c.confidence * max(o.confidence) * 2.0 / c.tasks
    FROM code AS c CROSS JOIN shown_code_edges AS o ON o.node_id = c.node
    WHERE c.tasks BETWEEN 2 AND :common AND o.from_id <> :task
      AND c.is_symbol IN (SELECT value FROM json_each(:are_symbols))
      AND o.edge_type IN ('touched', 'declared', 'created', 'deleted')
    GROUP BY c.node, o.from_id
)
SELECT t.key, is_symbol, sum(weight), count(*), json_group_array(json_array(weight, node))
FROM shared CROSS JOIN lineage_nodes AS t ON t.id = other
GROUP BY other, is_symbol
ORDER BY sum(weight) DESC, t.key LIMIT :rows;

-- name: succession
-- What replaced a node, and what that replaced, however far: the steps there, newer ones count up.
WITH RECURSIVE
newer (node, step) AS (
    SELECT :node, 0
    UNION
    SELECT e.from_id, n.step + 1
    FROM newer AS n CROSS JOIN shown_edges AS e ON e.to_id = n.node
    WHERE e.edge_type = 'supersedes' AND n.step < :depth
    LIMIT :most
),
older (node, step) AS (
    SELECT :node, 0
    UNION
    SELECT e.to_id, o.step - 1
    FROM older AS o CROSS JOIN shown_edges AS e ON e.from_id = o.node
    WHERE e.edge_type = 'supersedes' AND o.step > -:depth
    LIMIT :most
)
SELECT node, min(step), sum(count(*)) OVER () >= :most FROM newer GROUP BY node
UNION ALL
SELECT node, max(step), sum(count(*)) OVER () >= :most FROM older GROUP BY node;

-- name: reversal
-- What undid, replaced or contradicts each other around some tasks and those of some code.
WITH RECURSIVE
around (node) AS (
    SELECT value FROM json_each(:tasks)
    UNION
    SELECT e.from_id FROM json_each(:nodes) AS j
    CROSS JOIN shown_code_edges AS e ON e.node_id = j.value
    WHERE e.edge_type IN ('touched', 'declared', 'created', 'deleted')
    UNION
    SELECT e.to_id FROM around AS a CROSS JOIN shown_edges AS e ON e.from_id = a.node
    WHERE e.edge_type IN ('reverts', 'supersedes', 'contradicts')
    UNION
    SELECT e.from_id FROM around AS a CROSS JOIN shown_edges AS e ON e.to_id = a.node
    WHERE e.edge_type IN ('reverts', 'supersedes', 'contradicts')
    LIMIT :most
)
SELECT e.id, (SELECT count(*) FROM around)
FROM around AS a CROSS JOIN shown_edges AS e ON e.from_id = a.node
WHERE e.edge_type IN ('reverts', 'supersedes', 'contradicts')
ORDER BY e.confidence DESC, e.at, e.edge_type, e.id LIMIT :rows;

-- name: undone
-- Commits that took back others, where both did something to some code, or one is work on a task.
WITH RECURSIVE
own (commit_no) AS MATERIALIZED (
    SELECT e.commit_no FROM json_each(:nodes) AS j
    CROSS JOIN shown_events AS e ON e.node = j.value
    WHERE e.kinds <> ''
)
SELECT c.oid, o.oid, u.confidence, c.at
FROM commit_undone AS u
CROSS JOIN identity_commits AS c ON c.number = u.commit_no
CROSS JOIN identity_commits AS o ON o.number = u.of_no
WHERE u.confidence >= :min_confidence AND (
    (u.commit_no IN (SELECT commit_no FROM own) AND u.of_no IN (SELECT commit_no FROM own))
    OR EXISTS (
        SELECT 1 FROM commit_tasks AS t
        WHERE t.commit_no IN (u.commit_no, u.of_no) AND t.confidence >= :min_confidence
          AND t.task IN (SELECT value FROM json_each(:tasks))
          AND EXISTS (SELECT 1 FROM shown_events AS e WHERE e.commit_no = u.commit_no)
    )
)
ORDER BY c.at, c.oid, o.oid LIMIT :rows;

-- name: co_changed
-- Symbols whose code the same commits changed: seldom changed ones and small commits weigh more.
WITH RECURSIVE
recent (commit_no, weight) AS MATERIALIZED (
    SELECT DISTINCT v.commit_no, 2.0 / (1 + c.files)
    FROM json_each(:nodes) AS j
    CROSS JOIN shown_events AS v ON v.node = j.value
    CROSS JOIN identity_commits AS c ON c.number = v.commit_no
    WHERE (v.kinds LIKE '%body%' OR v.kinds LIKE '%signature%') AND c.files <= :most_files
    ORDER BY v.commit_no DESC LIMIT :most_commits
),
together (node, weight, times, latest) AS MATERIALIZED (
    SELECT v.node, sum(r.weight), count(DISTINCT v.commit_no), max(v.commit_no)
    FROM recent AS r CROSS JOIN shown_events AS v ON v.commit_no = r.commit_no
    WHERE (v.kinds LIKE '%body%' OR v.kinds LIKE '%signature%')
      AND v.node NOT IN (SELECT value FROM json_each(:nodes))
    GROUP BY v.node
    ORDER BY sum(r.weight) DESC, v.node LIMIT :most
),
counted (node, weight, times, latest, changes) AS MATERIALIZED (
    SELECT node, weight, times, latest, (
        SELECT count(*) FROM (
            SELECT 1 FROM shown_events AS v WHERE v.node = t.node
              AND (v.kinds LIKE '%body%' OR v.kinds LIKE '%signature%') LIMIT :most
        )
    )
    FROM together AS t
)
SELECT n.id, n.key, c.weight * c.times / c.changes, c.times, c.changes, i.oid
FROM counted AS c
CROSS JOIN lineage_nodes AS n ON n.id = c.node
CROSS JOIN identity_commits AS i ON i.number = c.latest
WHERE n.kind IN ('symbol', 'section') AND (
    SELECT v.digest FROM shown_events AS v WHERE v.node = c.node ORDER BY v.number DESC LIMIT 1
) IS NOT NULL
ORDER BY c.weight * c.times / c.changes DESC, n.key LIMIT :rows;

-- name: reverted
-- Work on some code that was undone later, and by what.
SELECT DISTINCT n.key, e.id FROM json_each(:nodes) AS j
CROSS JOIN shown_code_edges AS c ON c.node_id = j.value
CROSS JOIN shown_edges AS e ON e.to_id = c.from_id
CROSS JOIN lineage_nodes AS n ON n.id = c.node_id
WHERE c.edge_type IN ('touched', 'created', 'deleted') AND e.edge_type = 'reverts'
ORDER BY e.at DESC, e.id, n.key LIMIT :rows;

-- name: held
-- Which of some tasks are of some code.
SELECT c.from_id, n.key, c.edge_type FROM json_each(:nodes) AS j
CROSS JOIN shown_code_edges AS c ON c.node_id = j.value
CROSS JOIN lineage_nodes AS t ON t.id = c.from_id
CROSS JOIN lineage_nodes AS n ON n.id = c.node_id
WHERE c.edge_type IN ('touched', 'declared', 'created', 'deleted')
  AND c.from_id IN (SELECT value FROM json_each(:tasks))
GROUP BY c.from_id, c.node_id, c.edge_type
ORDER BY t.key, n.key, c.edge_type LIMIT :rows;

-- name: of_type
-- The edges of a type to some code.
SELECT e.id FROM json_each(:nodes) AS j
CROSS JOIN shown_code_edges AS e ON e.node_id = j.value
WHERE e.edge_type = :type
ORDER BY e.confidence DESC, e.at, e.edge_type, e.id LIMIT :rows;
