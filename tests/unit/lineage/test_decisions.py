"""What decision files say: titles, standings, sentences, whom they replace and what they govern."""

from __future__ import annotations

from pathlib import Path

import pytest

from tether.lineage.derive import decisions
from tether.lineage.edges import model as graph
from tether.tasks.sources import patterns

ROOT = Path(__file__).parents[3]
FINDER = patterns.Finder(patterns.Kinds(("work",), ("PROJ-#", "T########-*")))
TASK = "T20261118-abc123"
OTHER_TASK = "T20261119-def456"


def read(text: str, path: str = "docs/decisions/0007-queues.md") -> list[decisions.Decision]:
    return decisions.read(path, text, FINDER.find)


def one(text: str, path: str = "docs/decisions/0007-queues.md") -> decisions.Decision:
    [found] = read(text, path)
    return found


def words(names: tuple[decisions.Named, ...]) -> list[str]:
    return [each.words for each in names]


def header(*lines: str) -> decisions.Decision:
    """A decision with these lines between its title and its sections."""
    said = "\n".join(lines)
    return one(f"# 7. Queues\n\n{said}\n\n## Decision\n\nWe queue jobs in the database.\n")


def status(*lines: str) -> decisions.Decision:
    """A decision whose Status section has these lines."""
    said = "\n".join(lines)
    return one(f"# 7. Queues\n\n## Status\n\n{said}\n\n## Decision\n\nWe queue jobs.\n")


# Which files


@pytest.mark.parametrize(
    "path",
    [
        "docs/decisions/0021-the-same-function.md",
        "docs/decisions/storage/0003-rows.md",
        "services/pay/decisions/0002-ledger.md",
        "doc/adr/0001-record.md",
        "docs/adrs/network/0004-dns.md",
        "adr/use-postgres.md",
        "docs/architecture/adr-012-state.md",
        "notes/ADR-0001.md",
        "design/queue/4_decisions.md",
        "DECISIONS.md",
        "docs/decision-log.md",
        "docs/architecture-decisions/0001-x.markdown",
        "backlog/decisions/decision-1 - Use-Tailwind.md",
        ".orbit/adrs/accepted/ADR-0001/body.md",
        ".orbit/adrs/accepted/ADR-0001/adr.yaml",
        "docs/decisions/0012-template-engine.md",
    ],
)
def test_a_decision_file_is_known_by_its_path(path: str) -> None:
    assert decisions.is_decision_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "docs/decisions/README.md",
        "docs/adr/index.md",
        "docs/adr/template.md",
        "docs/adr/0000-adr-template.md",
        "docs/adr/madr-template-long.md",
        "docs/adr/_draft.md",
        "docs/templates/adr/0001-x.md",
        "node_modules/pkg/docs/adr/0001-x.md",
        "vendor/lib/decisions/0001-x.md",
        "tests/fixtures/adr/0001-x.md",
        "docs/adr/diagram.png",
        "docs/adr/adr.yaml",
        "src/decisions/rules.py",
        "src/decisions.py",
        "docs/how-we-take-decisions.md",
        "backlog/tasks/task-5 - cli-docs-decisions.md",
        "",
    ],
)
def test_other_files_are_none(path: str) -> None:
    assert not decisions.is_decision_file(path)


def test_a_guide_among_decisions_holds_none() -> None:
    guide = "# How we write these\n\nCopy the last one and number it.\n"
    assert read(guide, "docs/adr/writing.md") == []


def test_a_file_without_a_number_is_one_if_it_decides() -> None:
    found = one("# Use PostgreSQL\n\n## Decision\n\nWe use it.\n", "docs/adr/use-postgresql.md")
    assert (found.name, found.id, found.title) == ("use-postgresql", "use-postgresql", found.title)
    assert found.title == "Use PostgreSQL"


# What it is called


@pytest.mark.parametrize(
    ("path", "heading", "name", "shown", "title"),
    [
        ("docs/decisions/0021-same.md", "0021: how it stays", "0021", "0021", "how it stays"),
        ("doc/adr/0007-queues.md", "7. Queues", "0007", "0007", "Queues"),
        ("doc/adr/0007-queues.md", "ADR-0007: Queues", "0007", "ADR-0007", "Queues"),
        ("doc/adr/0007-queues.md", "ADR 0007 — Queues", "0007", "ADR-0007", "Queues"),
        ("doc/adr/0007-queues.md", "[ADR-0007] Queues", "0007", "ADR-0007", "Queues"),
        ("doc/adr/0007-queues.md", "Queues", "0007", "0007", "Queues"),
        ("doc/adr/0007-queues.md", "3. Queues", "0007", "0007", "Queues"),
        ("doc/adr/0007-utf.md", "UTF-8 everywhere", "0007", "0007", "UTF-8 everywhere"),
        ("doc/adr/0003-ways.md", "3 ways to queue", "0003", "0003", "3 ways to queue"),
        ("arch/adr-007-queues.md", "ADR 7: Queues", "ADR-007", "ADR-007", "Queues"),
        ("arch/ADR-0007.md", "Queues", "ADR-0007", "ADR-0007", "Queues"),
        ("a/decisions/decision-1 - Css.md", "Css", "decision-1", "decision-1", "Css"),
        ("doc/adr/20200926-ids.md", "Ids", "20200926-ids", "20200926-ids", "Ids"),
        ("doc/adr/2026-01-02-ids.md", "Ids", "2026-01-02-ids", "2026-01-02-ids", "Ids"),
        ("doc/adr/0005-validation.md", "5. Validation", "0005", "0005", "Validation"),
        (
            "doc/adr/0007-queues.md",
            "Architecture Decision Record: **Queues** for `jobs`",
            "0007",
            "0007",
            "Queues for `jobs`",
        ),
    ],
)
def test_the_file_names_it_and_the_heading_says_how_people_cite_it(
    path: str, heading: str, name: str, shown: str, title: str
) -> None:
    found = one(f"# {heading}\n\n## Decision\n\nWe queue jobs.\n", path)
    assert (found.name, found.id, found.title) == (name, shown, title)


def test_a_new_title_leaves_the_name() -> None:
    before = one("# 0007: Queues\n\n## Decision\n\nYes.\n")
    after = one("# 0007: What became of queues\n\n## Decision\n\nYes.\n")
    assert before.name == after.name == "0007"


def test_a_title_may_stand_in_front_matter_or_below_the_heading_title() -> None:
    front = one("---\ntitle: Queues for jobs\n---\n## Context\n\nJobs wait.\n")
    below = one("## Title\n\nQueues for jobs\n\n## Decision\n\nYes, we do.\n")
    assert front.title == below.title == "Queues for jobs"


def test_without_a_title_the_file_gives_its_words() -> None:
    assert one("## Decision\n\nWe queue.\n").title == "queues"


def test_a_title_that_was_never_filled_in_is_none() -> None:
    assert one("# {short title of the problem}\n\n## Decision\n\nWe queue.\n").title == "queues"


def test_a_heading_may_be_underlined() -> None:
    found = one("Queues\n======\n\nStatus\n------\n\nAccepted\n\nDecision\n---\n\nWe queue.\n")
    assert (found.title, found.status, found.sentence) == ("Queues", "accepted", "We queue.")


# How it stands


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Accepted", "accepted"),
        ("ACCEPTED Partially Implemented", "accepted"),
        ("Approved on 2026-01-02", "accepted"),
        ("✅ Adopted", "accepted"),
        ("Proposed", "proposed"),
        ("DRAFT", "proposed"),
        ("Rejected, see the minutes", "rejected"),
        ("Deprecated", "deprecated"),
        ("Superseded", "superseded"),
        ("Partly superseded", "accepted"),
        ("~~Accepted~~ Deprecated", "deprecated"),
        ("Proposed → Accepted", "accepted"),
        ("Not accepted", "rejected"),
        ("On hold", "on hold"),
        ("Proposed | Accepted | Rejected | Superseded by ADR-NNN", ""),
        ("{proposed | rejected | accepted | deprecated}", ""),
        ("", ""),
    ],
)
def test_a_status_is_one_word(said: str, expected: str) -> None:
    assert status(said).status == expected
    assert header(f"**Status:** {said}").status == expected


@pytest.mark.parametrize(
    "line",
    [
        "**Status:** Accepted",
        "**Status**: Accepted",
        "**Status: Accepted**",
        "- Status: accepted",
        "* **Status:** accepted",
        "Status: Accepted",
        "> **Status:** accepted",
        "| Status | Accepted |",
        "**Date:** 2026-01-02 · **Status:** accepted · **Extends:** ADR-3",
    ],
)
def test_a_status_may_stand_in_any_header_line(line: str) -> None:
    assert header(line).status == "accepted"


def test_front_matter_has_a_status_even_where_it_is_no_yaml() -> None:
    assert one("---\nstatus: accepted\n---\n# Queues\n").status == "accepted"
    assert one("---\nstatus: { accepted }\n---\n# Queues\n").status == "accepted"
    broken = "---\nstatus: accepted\ncontact: {one [of us\n---\n# Queues\n"
    assert one(broken).status == "accepted"


def test_an_option_that_was_rejected_is_not_the_decision() -> None:
    text = (
        "# 7. Queues\n\n## Decision\n\nWe queue.\n\n## Considered Options\n\n### Polling\n\n"
        "**Status:** rejected\n\n**Superseded by:** ADR-0009\n"
    )
    found = one(text)
    assert (found.status, found.superseded_by) == ("", ())


def test_without_a_status_it_is_in_force() -> None:
    assert one("# 7. Queues\n\n## Decision\n\nWe queue.\n").is_in_force
    assert not status("Rejected").is_in_force
    assert not status("Superseded by ADR-0009").is_in_force


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("Date: 2026-04-07", "2026-04-07"),
        ("**Date:** 7 April 2026", "2026-04-07"),
        ("* Date: April 7th, 2026", "2026-04-07"),
        ("- Created: 2026 Apr 7", "2026-04-07"),
        ("**Status:** Accepted 2026-04-07", "2026-04-07"),
        ("**Recorded:** 2026-04-07 09:30:00Z · [T20260407-0222]", "2026-04-07"),
        ("**Recorded:** 2026-04 · [T20260407-0222]", ""),
        ("Date: 07/04/2026", ""),
        ("Date: 2026-13-40", ""),
        ("Date: soon", ""),
    ],
)
def test_a_day_is_read_and_a_month_is_none(line: str, day: str) -> None:
    assert header(line).date[:10] == day


def test_the_day_of_its_end_is_not_the_day_of_the_decision() -> None:
    ended = status("Superseded by [ADR-0009](0009-x.md) (2026-05-14)")
    assert (ended.date, ended.superseded_by[0].at[:10]) == ("", "2026-05-14")
    assert status("Superseded by ADR-0009 · 2026-04-02").date[:10] == "2026-04-02"


def test_the_next_item_is_no_part_of_a_label() -> None:
    found = header(
        "- Governs: `src/a.py`", "- Evidence: `src/b.py`", "- Tasks: PROJ-1", "- By: PROJ-2"
    )
    assert places(found) == [("src/a.py", "", "header"), ("src/b.py", "", "elsewhere")]
    assert verbs(found) == [("PROJ-1", "motivates"), ("PROJ-2", "referenced_by")]


def test_the_day_may_stand_in_the_name_or_in_the_changelog() -> None:
    body = "# Ids\n\n## Decision\n\nWe use slugs.\n"
    assert one(body, "doc/adr/20200926-ids.md").date == "2020-09-26T00:00:00.000Z"
    log = "# 7. X\n\n## Changelog\n\n* 2021 Sep 14: changed\n* 2019-08-31: first draft\n"
    assert one(log).date[:10] == "2019-08-31"


# Its sentence


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        (
            "We **queue** jobs in [the store](../store.md). Then we rest.",
            "We queue jobs in the store.",
        ),
        ("We use `a.b`. It is small.", "We use `a.b`."),
        ("Use a cache, e.g. Redis, for it. Done.", "Use a cache, e.g. Redis, for it."),
        ("Version 2.1 is used. Good.", "Version 2.1 is used."),
        ("Chosen option: 3. Use both", "Chosen option: 3. Use both"),
        ("We will:\n\n- queue all jobs\n- rest", "queue all jobs"),
        ("Three tools are used for this:\n\n- a\n- b", "Three tools are used for this: …"),
        ('Chosen option: "Queue", because\n\n- it is small', 'Chosen option: "Queue", because …'),
        ("TBD\n\nWe queue.", "We queue."),
        ("```sh\nmake it\n```\n\nWe queue.", "We queue."),
        ("<!-- say why -->\nWe queue.", "We queue."),
        ("| a | b |\n|---|---|\n\nWe queue.", "We queue."),
        ("![queue](queue.png)\n\nWe queue.", "We queue."),
        ("Names such as __init__ stay.", "Names such as __init__ stay."),
        (r"We use Span\<T\> here.", "We use Span<T> here."),
        ("### Queue\n\nWe queue.", "We queue."),
        ("- [x] Queue all jobs", "Queue all jobs"),
    ],
)
def test_the_first_sentence_of_the_decision_is_told_word_for_word(
    section: str, sentence: str
) -> None:
    assert one(f"# 7. X\n\n## Context\n\nJobs.\n\n## Decision\n\n{section}\n").sentence == sentence


def test_a_long_sentence_ends_with_a_word() -> None:
    found = one(f"# 7. X\n\n## Decision\n\n{'queue ' * 100}\n").sentence
    assert len(found) <= 240
    assert found.endswith("queue…")


def test_without_a_decision_the_context_tells_and_else_the_first_paragraph() -> None:
    context = one("# 7. X\n\nSome words.\n\n## Context\n\nJobs wait. Long.\n")
    first = one("# 7. X\n\nSome words. More.\n\n## Risks\n\nNone.\n")
    assert (context.section, context.sentence) == ("context", "Jobs wait.")
    assert (first.section, first.sentence) == ("text", "Some words.")


def test_a_placeholder_tells_nothing() -> None:
    text = (
        "# 7. X\n\n## Context\n\nJobs wait.\n\n## Decision\n\nChosen: {title of option 1}, yes.\n"
    )
    assert one(text).sentence == "Jobs wait."


def test_labels_are_sections() -> None:
    text = (
        "# 7. X\n\n**Context.** Jobs.\n\n**Decision.** We queue. Now.\n\n**Consequences.**\n- a\n"
    )
    assert one(text).sentence == "We queue."
    plain = "Context. Jobs wait. Long.\n\nDecision. We queue. Now.\n\nConsequences.\n- a\n"
    assert one(plain).sentence == "We queue."


# Whom it replaces


@pytest.mark.parametrize(
    ("said", "superseded_by"),
    [
        ("Superseded by [ADR-0009](0009-streams.md)", ["ADR-0009"]),
        ("Superseded by ADR-0009", ["ADR-0009"]),
        ("superceded by ADR 9", ["ADR 9"]),
        ("Superseded by [9. Streams](0009-streams.md)", ["9. Streams"]),
        ("Superseded by 0009", ["0009"]),
        ("Superseded by 0009-streams.md", ["0009-streams.md"]),
        ("Superseded by ADR-0009, ADR-0010 and ADR-0011", ["ADR-0009", "ADR-0010", "ADR-0011"]),
        ("Superseded by ADR-0144/0147", ["ADR-0144", "0147"]),
        ("Accepted / Superseded by ADR-0009 / [PROJ-4]", ["ADR-0009"]),
        ("Superseded (see ADR-0009)", ["ADR-0009"]),
        ("Deprecated in favour of ADR-0009", ["ADR-0009"]),
        ("Replaced on 2026-05-14 by ADR-0009", ["ADR-0009"]),
        ("Superseded by the new queue (ADR-0009)", ["ADR-0009"]),
        ("Superseded by ADR-0009 (which builds on ADR-0003)", ["ADR-0009"]),
        ("Superseded by ADR-0009 because ADR-0003 was too slow", ["ADR-0009"]),
        (r"Superseded by [The \[a.b\] tables](0009-x.md)", [r"The \[a.b\] tables"]),
        ("Superseded by #7", []),
        ("Superseded by the continuous runtime", []),
        ("Accepted. Not superseded by ADR-0009", []),
        ("Accepted until superseded by ADR-0009", []),
        ("Proposed, to be superseded by ADR-0009", []),
        ("Accepted 2026-01-02", []),
        ("Supersedes ADR-0003", []),
        ("Amended by ADR-0009", []),
        ("ADR-0003 was superseded by ADR-0009", []),
    ],
)
def test_by_what_it_is_superseded(said: str, superseded_by: list[str]) -> None:
    assert words(status(said).superseded_by) == superseded_by
    assert words(header(f"- Status: {said}").superseded_by) == superseded_by


@pytest.mark.parametrize(
    ("line", "supersedes", "amends"),
    [
        ("Supersedes [ADR-0003](0003-x.md)", ["ADR-0003"], []),
        ("**Supersedes:** ADR-0003, ADR-0004", ["ADR-0003", "ADR-0004"], []),
        ("- Supersedes: ADR-0003 (how we polled; see ADR-0002)", ["ADR-0003"], []),
        ("| Supersedes | ADR-0003 |", ["ADR-0003"], []),
        ("- Supersedes: None", [], []),
        ("| Supersedes | — |", [], []),
        ("Amends [3. Polling](0003-x.md)", [], ["3. Polling"]),
        ("- Refines: ADR-0006 (resume)", [], ["ADR-0006"]),
        ("Supersedes ADR-0003 and amends ADR-0004", ["ADR-0003"], ["ADR-0004"]),
        ("**Date:** 2026-09-27 · **Extends:** ADR-010", [], ["ADR-010"]),
    ],
)
def test_what_a_header_line_replaces_or_amends(
    line: str, supersedes: list[str], amends: list[str]
) -> None:
    found = header(line)
    assert (words(found.supersedes), words(found.amends)) == (supersedes, amends)


def test_what_a_later_line_of_the_status_says_counts() -> None:
    found = status(
        "Accepted", "", "Supersedes [3. Polling](0003-polling.md)", "", "Amended by ADR-9"
    )
    assert found.status == "accepted"
    assert words(found.supersedes) == ["3. Polling"]
    assert words(found.amended_by) == ["ADR-9"]


def test_front_matter_lists_decisions_in_any_shape() -> None:
    text = "---\nsupersedes: [3, ADR-0004]\nsuperseded_by: 130\nstatus: superseded\n---\n# 7. X\n"
    found = one(text)
    assert words(found.supersedes) == ["3", "ADR-0004"]
    assert words(found.superseded_by) == ["130"]
    linked = one("---\nstatus: superseded by [ADR-0005](0005-x.md)\n---\n# 7. X\n")
    assert (linked.status, linked.superseded_by[0].path) == (
        "superseded",
        "docs/decisions/0005-x.md",
    )


@pytest.mark.parametrize(
    "said",
    [
        "Accepted; the figure of 14 commands is superseded by ADR-0178",
        "Partially superseded by ADR-0178",
        "Superseded in part by ADR-0178: handles replaced the path",
        "Accepted. Superseded by ADR-0178 for the queue",
        "Accepted. Superseded by ADR-0178 §3",
        "Accepted. Superseded by [ADR-0178](0178-x.md), in its second rule",
    ],
)
def test_what_is_superseded_in_part_stays_in_force(said: str) -> None:
    found = status(said)
    assert [each.is_partial for each in found.superseded_by] == [True]
    assert found.status in ("accepted", "superseded")
    assert found.status == "accepted" or said.startswith("Superseded in part")


def test_a_label_may_say_that_it_is_a_part() -> None:
    found = header(
        "- Status: Accepted", "- Superseded in part by:", "  [ADR-0015](0015-x.md), for it"
    )
    assert (found.status, words(found.superseded_by)) == ("accepted", ["ADR-0015"])
    assert found.superseded_by[0].is_partial


def test_a_remark_at_the_beginning_says_that_it_is_over() -> None:
    found = header("> **RETIRED 2026-07-26 — [PROJ-12].** Nothing below holds.")
    assert found.status == "deprecated"
    moved = header("> **Superseded (2026-08-20).** Locks moved to ADR-0039.")
    assert (moved.status, words(moved.superseded_by)) == ("superseded", [])


def test_prose_replaces_nothing() -> None:
    text = "# 7. X\n\n## Decision\n\nThis supersedes ADR-0003 and replaces ADR-0004.\n"
    found = one(text)
    assert (found.supersedes, found.amends) == ((), ())
    assert words(found.mentions) == ["ADR-0003", "ADR-0004"]


def test_what_is_neither_an_id_nor_a_link_is_no_decision() -> None:
    text = "# 7. X\n\n## Decision\n\nSee #7, UTF-8, RFC 2119, issue 12 and [the web](https://a.b/adr).\n"
    assert one(text).mentions == ()


# Tasks


def verbs(found: decisions.Decision) -> list[tuple[str, str]]:
    return [(each.id, each.verb) for each in found.tasks]


def test_a_task_may_end_a_decision() -> None:
    found = status(f"Accepted / Superseded by ADR-029 / [{TASK}]")
    assert verbs(found) == [(TASK, "supersedes")]
    only = status(f"Superseded by [{TASK}]")
    assert (only.status, verbs(only)) == ("superseded", [(TASK, "supersedes")])


def test_a_task_behind_a_dot_only_came_with_it() -> None:
    found = status(f"Superseded by ADR-029 · 2026-04 · [{TASK}]")
    assert verbs(found) == [(TASK, "referenced_by")]


def test_only_a_header_line_says_what_led_to_it() -> None:
    stated = header(f"**Tasks:** {TASK}, {OTHER_TASK}")
    assert verbs(stated) == [(TASK, "motivates"), (OTHER_TASK, "motivates")]
    told = one(f"# 7. X\n\n## Context\n\nMotivated by {TASK}, as all know.\n")
    assert verbs(told) == [(TASK, "referenced_by")]


# What it governs


def places(found: decisions.Decision) -> list[tuple[str, str, str]]:
    return [(each.pattern, each.name, each.where) for each in found.governs]


def test_header_lines_govern_with_and_without_marks() -> None:
    found = header("- **Governs:** `src/views/`, the `dashboard` command, src/cli/main.py")
    assert places(found) == [("src/views/", "", "header"), ("src/cli/main.py", "", "header")]
    assert [each.confidence for each in found.governs] == [1.0, 1.0]


def test_paths_may_be_listed_below_the_label_or_in_front_matter() -> None:
    listed = header("**Paths:**", "- `a/b.py`", "- `store/sql/*.sql`")
    assert places(listed) == [("a/b.py", "", "header"), ("store/sql/*.sql", "", "header")]
    front = one('---\npaths: ["src/x/**", "lib/y.rs"]\n---\n# 7. X\n\n## Decision\n\nYes.\n')
    assert places(front) == [("src/x/**", "", "header"), ("lib/y.rs", "", "header")]


def test_where_a_path_stands_says_how_sure_it_is() -> None:
    text = "# 7. X\n\n## Context\n\nSee `a/old.py`.\n\n## Decision\n\nIt is in `a/new.py:12-40`.\n"
    found = one(text)
    assert places(found) == [("a/new.py", "", "decision"), ("a/old.py", "", "elsewhere")]
    assert [each.confidence for each in found.governs] == [0.8, 0.5]


def test_a_symbol_behind_a_path_is_kept() -> None:
    found = header("**Code anchors:** `crates/a/src/lib.rs::Store`, `src/b.py#run`")
    assert places(found) == [
        ("crates/a/src/lib.rs", "Store", "header"),
        ("src/b.py", "run", "header"),
    ]


def test_links_lead_from_the_file_and_documents_are_only_cited() -> None:
    text = "# 7. X\n\n## Decision\n\nIn [here](../../src/a.py), as in [there](../design.md).\n"
    assert places(one(text)) == [("src/a.py", "", "decision")]


@pytest.mark.parametrize(
    "said",
    ["`a.b`", "`v1.2.3`", "`--flag/x`", "`https://a.b/c`", "`/etc/passwd`", "`../x.py`", "`a b/c`",
     "`$HOME/x`", "`refs/<branch>.json`", "and/or", "`run()`"],
)  # fmt: skip
def test_other_words_in_code_marks_are_no_places(said: str) -> None:
    assert one(f"# 7. X\n\n## Decision\n\nWe use {said} here.\n").governs == ()


TREE = [
    "README.md",
    "src/tether/lineage/matching.py",
    "src/tether/lineage/merges.py",
    "src/tether/store/sql/claims.sql",
    "src/tether/store/sql/agents.sql",
    "src/tether/store/port.py",
    "src/other/port.py",
    "docs/lineage/matching.md",
    "web/app/[id]/page.tsx",
]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("src/tether/store/port.py", ["src/tether/store/port.py"]),
        ("./README.md", ["README.md"]),
        ("/README.md", ["README.md"]),
        ("lineage/matching.py", ["src/tether/lineage/matching.py"]),
        ("matching.py", ["src/tether/lineage/matching.py"]),
        ("port.py", []),
        ("store/port.py", ["src/tether/store/port.py"]),
        ("src/tether/store/sql", TREE[4:2:-1]),
        ("store/sql/", TREE[4:2:-1]),
        ("store/sql/*.sql", TREE[4:2:-1]),
        ("src/**/*.sql", TREE[4:2:-1]),
        ("**/c*.sql", ["src/tether/store/sql/claims.sql"]),
        ("src/*/port.py", ["src/other/port.py"]),
        ("src/tether/store/{port,none}.py", ["src/tether/store/port.py"]),
        ("src/tether/lineage/m??????g.py", ["src/tether/lineage/matching.py"]),
        ("web/app/[id]/page.tsx", ["web/app/[id]/page.tsx"]),
        ("lineage", []),
        ("nothing/here.py", []),
        ("../README.md", []),
        ("", []),
    ],
)
def test_what_a_name_stands_for_in_a_tree(pattern: str, expected: list[str]) -> None:
    assert decisions.matching(pattern, TREE) == expected


def test_two_places_with_the_same_end_are_neither() -> None:
    assert decisions.matching("lineage/", TREE) == []
    assert decisions.matching("lineage/*.py", TREE) == TREE[1:3]


def test_a_directory_is_known_as_one() -> None:
    tree = decisions.Tree(TREE)
    assert tree.meant("store/sql/").folder == "src/tether/store/sql"
    assert tree.meant("src/tether/store/**").folder == "src/tether/store"
    assert tree.meant("store/port.py").folder == ""


# Logs

LOG = f"""# Graph — Decisions

**Status:** Draft

## ADR-001 — Objects and refs

**Status:** Accepted · 2026-04 · [{TASK}]

**Context.** It has to survive.

**Decision.** Keep objects under `objects/`. They do not change.

## ADR-002 — Branch refs

**Status:** Superseded by ADR-003 (folded) · 2026-04-02 · [{TASK}]

**Decision.** Name refs by branch.

## ADR-003 — No refs

**Superseded by:** [{OTHER_TASK}] for the queue.

**Decision.** There are none.

## Task References

- [{TASK}] made it.
"""


def test_a_log_has_a_decision_in_each_section() -> None:
    first, second, third = read(LOG, "docs/graph/4_decisions.md")
    assert (first.name, first.id, first.title) == (
        "4_decisions#ADR-001",
        "ADR-001",
        "Objects and refs",
    )
    assert (first.status, first.sentence, first.line) == (
        "accepted",
        "Keep objects under `objects/`.",
        5,
    )
    assert (second.status, words(second.superseded_by)) == ("superseded", ["ADR-003"])
    assert second.date[:10] == "2026-04-02"
    assert third.status == ""
    assert [(each.verb, each.is_partial) for each in third.tasks] == [("supersedes", True)]


def test_the_entries_of_a_log_may_have_titles_alone() -> None:
    text = (
        "# Decisions\n\nWords about them.\n\n## Objects and refs\n\n**Recorded:** 2026-04\n\n"
        "### Decision\n\nKeep objects.\n\n## No refs\n\n"
        "**Supersedes:** [Objects and refs](#objects-and-refs)\n\n### Decision\n\nNone.\n\n"
        "## Links\n\n- a\n"
    )
    first, second = decisions.named(read(text, "docs/decisions.md"))
    assert [first.name, second.name] == ["decisions#objects-and-refs", "decisions#no-refs"]
    register = decisions.Register([first, second])
    assert register.find(second.supersedes[0], second) == first


def test_a_log_may_be_a_list_of_labels() -> None:
    text = (
        "# Log\n\n### DEC-001: Local first\n\n- Date: 2026-07-15\n- Status: Approved\n"
        "- Decision: Keep data on the disk. Always.\n- Reason: speed\n\n### DEC-002: Colours\n\n"
        "- Decision: Blue.\n- Supersedes: DEC-001\n"
    )
    first, second = read(text, "DECISIONS.md")
    assert (first.id, first.status, first.sentence) == (
        "DEC-001",
        "accepted",
        "Keep data on the disk.",
    )
    assert (first.date[:10], words(second.supersedes)) == ("2026-07-15", ["DEC-001"])


def test_a_log_without_decisions_holds_none() -> None:
    assert read("# Decisions\n\nWe take them on Mondays.\n\n## Who\n\nAll.\n", "DECISIONS.md") == []


def test_a_record_and_the_text_beside_it_are_one_decision() -> None:
    fields = (
        "id: ADR-0240\ntitle: One crate\nstatus: accepted\ncreated_at: 2026-07-19T01:02:03.04Z\n"
        f"related_tasks: [{TASK}]\nsupersedes: [ADR-0235]\npaths: ['crates/remote/**']\n"
        "legacy_ids: [remote/ADR-002]\n"
    )
    body = "## Context\n\nTwo crates.\n\n## Decision\n\nMake it one. Soon.\n"
    files = [
        *read(fields, ".orbit/adrs/accepted/ADR-0240/adr.yaml"),
        *read(body, ".orbit/adrs/accepted/ADR-0240/body.md"),
    ]
    [found] = decisions.named(files)
    assert (found.name, found.title, found.status) == ("ADR-0240", "One crate", "accepted")
    assert (found.date[:10], found.sentence) == ("2026-07-19", "Make it one.")
    assert (words(found.supersedes), places(found)) == (
        ["ADR-0235"],
        [("crates/remote/**", "", "header")],
    )
    assert verbs(found) == [(TASK, "referenced_by")]
    assert decisions.Register([found]).called("remote/ADR-002") == found


# Names of all of them


def plain(*paths: str) -> list[decisions.Decision]:
    body = "# X\n\n## Decision\n\nYes.\n"
    return decisions.named(one(body, path) for path in paths)


def names(*paths: str) -> list[str]:
    return [each.name for each in plain(*paths)]


def test_of_directories_with_the_same_numbers_the_nearest_keeps_the_short_names() -> None:
    found = names(
        "docs/adr/0001-a.md", "plugins/beads/adr/0001-b.md", "plugins/beads/adr/0002-c.md"
    )
    assert found == ["0001", "beads/adr/0001", "beads/adr/0002"]


def test_equally_near_directories_are_all_told_apart() -> None:
    assert names("pay/adr/0001-a.md", "web/adr/0001-b.md") == ["pay/adr/0001", "web/adr/0001"]


def test_directories_with_other_numbers_leave_each_other_alone() -> None:
    assert names("pay/adr/0001-a.md", "web/adr/0002-b.md") == ["0001", "0002"]


def test_two_files_with_one_number_are_called_by_their_whole_names() -> None:
    assert names("adr/0039-redis.md", "adr/0039-scopes.md", "adr/0040-x.md") == [
        "0039-redis",
        "0039-scopes",
        "0040",
    ]


def test_a_decision_that_moves_to_another_standing_keeps_its_name() -> None:
    before = names("adrs/accepted/ADR-0001/body.md", "adrs/accepted/ADR-0002/body.md")
    after = names("adrs/superseded/ADR-0001/body.md", "adrs/accepted/ADR-0002/body.md")
    assert sorted(before) == sorted(after) == ["ADR-0001", "ADR-0002"]


def test_logs_that_are_called_the_same_are_told_apart_by_their_directories() -> None:
    found = decisions.named(
        [*read(LOG, "docs/graph/4_decisions.md"), *read(LOG, "docs/jobs/4_decisions.md")]
    )
    assert [each.name for each in found][2:4] == [
        "graph/4_decisions#ADR-003",
        "jobs/4_decisions#ADR-001",
    ]
    assert len({each.name for each in found}) == 6


def test_the_order_of_files_changes_no_name() -> None:
    paths = ("docs/adr/0001-a.md", "x/adr/0001-b.md", "y/adr/0001-c.md", "y/adr/0001-d.md")
    assert sorted(names(*paths)) == sorted(names(*reversed(paths)))
    assert len(set(names(*paths))) == 4


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("0007", "0007"),
        ("7", "0007"),
        ("ADR-0007", "0007"),
        ("adr 7", "0007"),
        ("decision 7", "0007"),
        ("0007-queues", "0007"),
        ("0007-queues.md", "0007"),
        ("docs/decisions/0007-queues.md", "0007"),
        ("[ADR-7]", "0007"),
        ("RFC-7", None),
        ("#7", None),
        ("8", None),
        ("4_decisions.md", None),
    ],
)
def test_a_decision_is_found_however_people_call_it(said: str, name: str | None) -> None:
    found = decisions.Register(plain("docs/decisions/0007-queues.md", "docs/decisions/0004-x.md"))
    called = found.called(said)
    assert (called.name if called else None) == name


def test_a_number_means_the_decision_of_the_own_directory_first() -> None:
    near = one(
        "# X\n\n- Supersedes: ADR-0001\n\n## Decision\n\nYes.\n", "plugins/beads/adr/0002-c.md"
    )
    others = [*plain("docs/adr/0001-a.md"), *plain("plugins/beads/adr/0001-b.md"), near]
    all_ = decisions.named(others)
    register = decisions.Register(all_)
    citing = next(each for each in all_ if each.path == near.path)
    found = register.find(citing.supersedes[0], citing)
    assert found is not None
    assert found.path == "plugins/beads/adr/0001-b.md"


# Edges


def edges_of(*files: tuple[str, str], tree: tuple[str, ...] = ()) -> list[graph.Edge]:
    all_ = decisions.named(each for path, text in files for each in read(text, path))
    register = decisions.Register(all_)
    found = decisions.Tree(tree)
    return [edge for each in all_ for edge in decisions.edges(each, register, found.meant)]


def told(edges: list[graph.Edge]) -> list[tuple[str, str, str, float]]:
    return [(each.subject, each.type, each.object, each.confidence) for each in edges]


def test_superseded_by_is_stored_from_the_newer_to_the_older() -> None:
    old = "# 3. A\n\n## Status\n\nSuperseded by [ADR-0007](0007-b.md)\n\n## Decision\n\nYes.\n"
    new = "# 7. B\n\nDate: 2026-05-14\n\n## Decision\n\nNo.\n"
    edges = edges_of(("docs/adr/0003-a.md", old), ("docs/adr/0007-b.md", new))
    assert told(edges) == [("decision:0007", "supersedes", "decision:0003", 0.95)]
    assert edges[0].at == "2026-05-14T00:00:00.000Z"
    assert edges[0].pointer == "file:docs/adr/0003-a.md#line=5"


def test_a_part_is_never_told_as_the_whole() -> None:
    old = (
        "# 3. A\n\n- Status: Accepted; its queue is superseded by ADR-0007\n\n## Decision\n\nYes.\n"
    )
    new = "# 7. B\n\n## Decision\n\nNo.\n"
    edges = edges_of(("docs/adr/0003-a.md", old), ("docs/adr/0007-b.md", new))
    assert told(edges) == [("decision:0007", "supersedes", "decision:0003", 0.6)]
    assert edges[0].confidence < graph.SURE


@pytest.mark.parametrize(
    ("standing", "kind", "confidence"),
    [
        ("Accepted", "supersedes", 0.95),
        ("Proposed", "supersedes", 0.5),
        ("Rejected", "references", 0.6),
    ],
)
def test_only_what_was_accepted_replaces_another_one(
    standing: str, kind: str, confidence: float
) -> None:
    new = f"# 7. B\n\n- Status: {standing}\n- Supersedes: ADR-3\n\n## Decision\n\nIn `a/b.py`.\n"
    edges = edges_of(
        ("docs/adr/0003-a.md", "# 3. A\n\n## Decision\n\nYes.\n"),
        ("docs/adr/0007-b.md", new),
        tree=("a/b.py",),
    )
    assert told(edges)[0] == ("decision:0007", kind, "decision:0003", confidence)
    governs = {"Accepted": [0.8], "Proposed": [0.5], "Rejected": []}[standing]
    assert [each.confidence for each in edges if each.type == "governs"] == governs


def test_amending_is_building_on() -> None:
    edges = edges_of(
        ("docs/adr/0003-a.md", "# 3. A\n\n## Decision\n\nYes.\n"),
        ("docs/adr/0007-b.md", "# 7. B\n\n- Amends: ADR-3\n\n## Decision\n\nAs ADR-3 says.\n"),
    )
    assert told(edges) == [("decision:0007", "extends", "decision:0003", 0.9)]


def test_a_mention_is_a_mention_and_of_itself_none() -> None:
    edges = edges_of(
        ("docs/adr/0003-a.md", "# 3. A\n\n## Decision\n\nADR-3 stays, see ADR-7 and ADR-99.\n"),
        ("docs/adr/0007-b.md", "# 7. B\n\n## Decision\n\nNo.\n"),
    )
    assert told(edges) == [("decision:0003", "references", "decision:0007", 0.6)]


def test_tasks_stand_on_the_side_that_the_line_says() -> None:
    text = (
        f"# 7. X\n\n- Status: Superseded by {TASK}\n- Task: PROJ-3\n\n## Decision\n\n"
        f"As in {OTHER_TASK}.\n"
    )
    assert sorted(told(edges_of(("docs/adr/0007-x.md", text)))) == [
        ("decision:0007", "references", f"task:work:{OTHER_TASK}", 0.6),
        ("task:work:PROJ-3", "motivates", "decision:0007", 0.9),
        (f"task:work:{TASK}", "supersedes", "decision:0007", 0.95),
    ]


def test_governed_places_are_those_of_the_tree() -> None:
    text = (
        "# 7. X\n\n- Governs: `store/sql/*.sql`\n\n## Decision\n\nIn `matching.py` and `gone.py`.\n"
        "\n## Context\n\n`src/tether/store/`\n"
    )
    edges = edges_of(("docs/adr/0007-x.md", text), tree=tuple(TREE))
    assert sorted(told(edges)) == [
        # Named without a directory, it may be another one.
        ("decision:0007", "governs", "path:src/tether/lineage/matching.py", 0.5),
        ("decision:0007", "governs", "path:src/tether/store", 0.5),
        ("decision:0007", "governs", "path:src/tether/store/sql/agents.sql", 1.0),
        ("decision:0007", "governs", "path:src/tether/store/sql/claims.sql", 1.0),
    ]


def test_a_place_with_many_files_says_little_of_each() -> None:
    tree = tuple(f"src/x/{n}.py" for n in range(100))
    text = "# 7. X\n\n## Decision\n\nAll of `src/x/` is pure.\n"
    edges = edges_of(("docs/adr/0007-x.md", text), tree=tree)
    assert len(edges) == 101
    assert {each.confidence for each in edges} == {0.6}
    huge = tuple(f"src/x/{n}.py" for n in range(1000))
    assert len(edges_of(("docs/adr/0007-x.md", text), tree=huge)) == 1


# Suggestions


def suggestions(*files: tuple[str, str]) -> list[tuple[str, str]]:
    all_ = decisions.named(each for path, text in files for each in read(text, path))
    return [(each.later, each.earlier) for each in decisions.suspected(all_)]


def adr(title: str, decided: str, governs: str = "", status_: str = "Accepted") -> str:
    place = f"- Governs: {governs}\n" if governs else ""
    return f"# {title}\n\n- Status: {status_}\n{place}\n## Decision\n\n{decided}\n"


OLD = ("adr/0003-poll.md", adr("3. Poll the job table", "We poll it.", "`jobs/poll.py`"))


@pytest.mark.parametrize(
    "decided",
    [
        "This replaces ADR-0003.",
        "Instead of ADR-0003 we wait for events.",
        "ADR-0003 is no longer needed.",
        "This supersedes ADR-0001, ADR-0002, and ADR-0003.",
    ],
)
def test_a_word_of_change_beside_an_id_is_a_suggestion(decided: str) -> None:
    assert suggestions(OLD, ("adr/0009-wait.md", adr("9. Wait", decided))) == [("0009", "0003")]


@pytest.mark.parametrize(
    "decided",
    [
        "This does not replace ADR-0003.",
        "As ADR-0003 says, we poll.",
        "Replaces the old pool, see ADR-0003.",
        "Instead of a queue we use a table, and with ADR-0003 in mind we poll it.",
        "We use rows rather than files.",
        "Nothing is said of it.",
    ],
)
def test_other_sentences_are_none(decided: str) -> None:
    assert suggestions(OLD, ("adr/0009-wait.md", adr("9. Wait", decided))) == []


def test_the_same_subject_in_the_same_places_is_a_suggestion() -> None:
    new = adr("9. Poll the job table by events", "We wait.", "`jobs/poll.py`")
    assert suggestions(OLD, ("adr/0009-x.md", new)) == [("0009", "0003")]


def test_the_same_subject_or_the_same_place_alone_is_none() -> None:
    title = adr("9. Poll the job table by events", "We wait.")
    place = adr("9. Retries", "We wait.", "`jobs/poll.py`")
    assert suggestions(OLD, ("adr/0009-x.md", title)) == []
    assert suggestions(OLD, ("adr/0009-x.md", place)) == []


def test_what_is_said_or_over_needs_no_suggestion() -> None:
    stated = adr("9. Wait", "This replaces ADR-0003.\n\n## Related\n\n- Amends ADR-0003")
    over = (OLD[0], adr("3. Poll the job table", "We poll.", status_="Rejected"))
    new = ("adr/0009-wait.md", adr("9. Wait", "This replaces ADR-0003."))
    assert suggestions(OLD, ("adr/0009-wait.md", stated)) == []
    assert suggestions(over, new) == []


def test_a_suggestion_says_why() -> None:
    all_ = decisions.named(
        [*read(OLD[1], OLD[0]), *read(adr("9. Wait", "This replaces ADR-0003."), "adr/0009-w.md")]
    )
    [found] = decisions.suspected(all_)
    assert found.score >= 0.6
    assert "line 7 names ADR-0003: This replaces ADR-0003." in found.reasons[0]


# Texts from outside


def test_controls_in_a_title_or_sentence_show_nothing() -> None:
    found = one("# 7. Qu\u202eeues\x1b[31m\n\n## Decision\n\nWe \u2066queue\u2069 jobs\x07.\n")
    assert (found.title, found.sentence) == ("Queues", "We queue jobs.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0" * 5000,
        "".join(map(chr, range(256))) * 20,
        "\ud800 # x",
        "---\n" * 1000,
        "---\na: &a [x]\nb: [*a, *a]\nstatus: [[[[[]]]]]\n---\n# x\n",
        "---\nstatus: {a: {b: c}}\nsupersedes: {x: [1]}\n---\n# x\n",
        "# x\n\n## Status\n\n" + "[" * 5000,
        "# x\n\n## Decision\n\n" + "`" * 5000,
        "# " + "x" * 50_000,
    ],
)
def test_no_text_makes_it_fail(text: str) -> None:
    for path in ("docs/adr/0007-x.md", "DECISIONS.md", "adrs/ADR-0001/adr.yaml"):
        for each in decisions.read(path, text, FINDER.find):
            assert len(each.title) <= 200
            assert len(each.sentence) <= 240


@pytest.mark.parametrize(
    "unit",
    [
        "[a](b) ", "Superseded by ADR-1, ", "not ", "(", "**Status:** x\n", "- Supersedes: 1\n",
        "# ADR-1: x\n\n", "## Status\n\nx\n\n", "`a/b` ", "a. ", "| a ", "> ", "*a ", "_", "1-a",
        "~~", "\u202e", "T20261118-", "![", "{a ", "---\n", "replaces ADR-1, ",
    ],
)  # fmt: skip
def test_a_long_text_is_read_to_its_end(unit: str) -> None:
    # What takes the square of its length would take minutes.
    text = f"# 7. X\n\n## Status\n\n{unit * (100_000 // len(unit))}"
    for path in ("docs/adr/0007-x.md", "DECISIONS.md"):
        for each in decisions.read(path, text, FINDER.find):
            assert len(each.mentions) + len(each.tasks) <= 600


def test_what_is_too_long_is_read_in_part() -> None:
    text = f"# 7. X\n\n## Decision\n\nWe queue.\n\n{'x ' * 400_000}\n\n## Status\n\nAccepted\n"
    assert (one(text).sentence, one(text).status) == ("We queue.", "")


def test_a_pattern_of_stars_matches_nothing_that_it_should_not() -> None:
    deep = "/".join(["a" * 50] * 30)
    tree = decisions.Tree([deep, *(f"{deep}/{n}" for n in range(100))])
    for pattern in ("*a*a*a*a*b", "**/*a*/**/*a*/**/b", "/".join(["**"] * 39 + ["b"]), "{" * 300):
        assert tree.matching(pattern) == []
    assert len(tree.matching("**/*a*/**/*a*/**/9*")) == 11


# Our own


def test_our_own_decisions_are_read() -> None:
    folder = ROOT / "docs" / "decisions"
    files = {f"docs/decisions/{each.name}": each.read_text() for each in folder.glob("*.md")}
    read_ = [
        d
        for path, text in files.items()
        if decisions.is_decision_file(path)
        for d in read(text, path)
    ]
    found = {each.name: each for each in decisions.named(read_)}
    assert len(found) == len(files) - 1
    assert found["0021"].title == "how a symbol stays the same"
    assert found["0021"].sentence == "One matcher, pure, for every question."
    assert {each.section for each in found.values()} == {"decision"}
    assert ("lineage/tracing.py", "", "decision") in places(found["0021"])
    assert not decisions.suspected(list(found.values()))
