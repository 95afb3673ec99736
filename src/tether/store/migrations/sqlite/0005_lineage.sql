-- min_reader: 1

CREATE TABLE lineage_feedback (
    subject TEXT NOT NULL,
    edge_type TEXT NOT NULL,
    object TEXT NOT NULL,
    deriver TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('right', 'wrong')),
    judged_at TEXT NOT NULL,
    judged_by TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (subject, edge_type, object, deriver)
) STRICT;

CREATE TABLE lineage_usage (
    day TEXT NOT NULL,
    what TEXT NOT NULL,
    times INTEGER NOT NULL,
    PRIMARY KEY (day, what)
) STRICT;
