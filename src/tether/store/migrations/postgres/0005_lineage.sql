-- min_reader: 1

CREATE TABLE lineage_feedback (
    subject TEXT COLLATE "C" NOT NULL,
    edge_type TEXT COLLATE "C" NOT NULL,
    object TEXT COLLATE "C" NOT NULL,
    deriver TEXT COLLATE "C" NOT NULL,
    verdict TEXT COLLATE "C" NOT NULL CHECK (verdict IN ('right', 'wrong')),
    judged_at TEXT COLLATE "C" NOT NULL,
    judged_by TEXT COLLATE "C" NOT NULL,
    why TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (subject, edge_type, object, deriver)
);

CREATE TABLE lineage_usage (
    day TEXT COLLATE "C" NOT NULL,
    what TEXT COLLATE "C" NOT NULL,
    times BIGINT NOT NULL,
    PRIMARY KEY (day, what)
);
