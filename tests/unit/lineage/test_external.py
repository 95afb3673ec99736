"""Links that another tool exported: which make an edge, and what is said of the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tether.lineage.derive import external

IDS = {"PROJ-12": "task:work:PROJ-12", "T1": "task:work:T1", "org/repo#7": "task:work:gh-7"}
LINK = {"subject": "PROJ-12", "type": "blocks", "object": "T1"}


def read(*links: object) -> external.Linked:
    return content(json.dumps({"links": links}).encode())


def content(data: bytes) -> external.Linked:
    return external.read(data, "links.json", IDS.get)


def link(**changes: Any) -> dict[str, Any]:
    return {**LINK, **changes}


def test_a_link_is_an_edge() -> None:
    url = "https://tracker.example/PROJ-12"
    found = read(link(at="2026-11-18T09:30:00Z", url=url, confidence=0.75))
    [edge] = found.edges
    assert (edge.subject, edge.type, edge.object) == ("task:work:PROJ-12", "blocks", "task:work:T1")
    assert (edge.confidence, edge.at, edge.pointer) == (0.75, "2026-11-18T09:30:00.000Z", url)
    assert edge.detail["place"] == "file:links.json#link=0"
    assert (found.problems, found.unused) == ((), 0)


def test_what_is_left_out_has_defaults() -> None:
    [edge] = read(LINK).edges
    assert (edge.confidence, edge.at, edge.pointer) == (0.9, "", "file:links.json#link=0")


def test_a_list_alone_is_the_list_of_links() -> None:
    assert len(content(json.dumps([LINK]).encode()).edges) == 1
    assert len(content(b"\xef\xbb\xbf" + json.dumps([LINK]).encode()).edges) == 1


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("is blocked by", ("task:work:T1", "blocks", "task:work:PROJ-12")),
        ("depends on", ("task:work:T1", "blocks", "task:work:PROJ-12")),
        ("Relates To", ("task:work:PROJ-12", "references", "task:work:T1")),
        ("caused_by", ("task:work:T1", "motivates", "task:work:PROJ-12")),
        ("superseded_by", ("task:work:T1", "supersedes", "task:work:PROJ-12")),
    ],
)
def test_types_of_other_tools_are_stored_in_our_direction(
    kind: str, expected: tuple[str, str, str]
) -> None:
    [edge] = read(link(type=kind)).edges
    assert (edge.subject, edge.type, edge.object) == expected


def test_decisions_and_ids_that_look_like_paths_may_be_linked() -> None:
    first, second = read(link(object="decision:0021"), link(object="org/repo#7")).edges
    assert first.object == "decision:0021"
    assert second.object == "task:work:gh-7"


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "file:///etc/passwd", "https://a b", "https://a\nb", 7, "x" * 9000],
)
def test_only_an_address_of_the_web_is_a_pointer(url: object) -> None:
    found = read(link(url=url))
    assert found.edges[0].pointer == "file:links.json#link=0"
    assert found.problems == (
        "links.json: link 0: its url does not begin with http, and is left out",
    )


@pytest.mark.parametrize("confidence", [-0.1, 1.1, "high", True, [], 1e400])
def test_a_confidence_that_is_none_counts_as_the_default(confidence: object) -> None:
    found = read(link(confidence=confidence))
    assert found.unused + len(found.edges) <= 1
    if found.edges:
        assert found.edges[0].confidence == 0.9
    assert len(found.problems) == 1


@pytest.mark.parametrize("at", ["yesterday", {}, [], "9" * 100, 1e300, "2026-13-01"])
def test_a_time_that_is_none_is_left_out(at: object) -> None:
    found = read(link(at=at))
    assert found.edges[0].at == ""
    assert found.problems[0].startswith("links.json: link 0: its time ")


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (7, "link 1: it is not a mapping"),
        ({}, "link 1: a NoneType is no type of relation"),
        (link(type="eats"), "link 1: 'eats' is no type of relation"),
        (link(type="touched"), "link 1: 'touched' is about code"),
        (link(subject="PROJ-13"), "link 1: its subject 'PROJ-13' is no task or decision"),
        (link(object="src/a.py"), "link 1: its object 'src/a.py' is no task or decision"),
        (link(object=["T1"]), "link 1: its object a list is no task or decision"),
        (link(object="PROJ-12"), "link 1: nothing has a relation to itself"),
        (link(subject="\u202eT1"), "link 1: its subject 'T1' is no task or decision"),
    ],
)
def test_a_link_that_is_wrong_leaves_the_others(wrong: object, problem: str) -> None:
    found = read(LINK, wrong)
    assert (len(found.edges), found.unused) == (1, 1)
    assert len(found.problems) == 1
    assert found.problems[0].startswith(f"links.json: {problem}")


def test_a_field_that_is_not_known_is_said() -> None:
    found = read(link(weight=3))
    assert len(found.edges) == 1
    assert found.problems == ("links.json: link 0: the field 'weight' is not known here",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"7",
        b"null",
        b'{"links": {}}',
        b'{"relations": []}',
        b"\xff\xfe",
        b"\0" * 1000,
        b"[" * 200_000,
        b'{"links": [' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"]}",
        b'{"links": ["\\ud800"]}',
    ],
)
def test_a_file_without_links_is_one_problem(data: bytes) -> None:
    found = content(data)
    assert found.edges == ()
    assert len(found.problems) == 1
    assert found.problems[0].isprintable()


def test_of_too_many_links_the_first_are_read() -> None:
    found = content(b"[" + b"7," * 100_000 + json.dumps(LINK).encode() + b"]")
    assert (found.edges, found.unused) == ((), 100_001)
    assert found.problems[0] == "links.json: only the first 100000 of 100001 links were read"


def test_a_file_that_is_too_large_is_not_read() -> None:
    found = content(json.dumps([LINK]).encode() + b" " * external.MAX_BYTES)
    assert found.problems == ("links.json: it is larger than 32 MiB and was not read",)


def test_a_hundred_thousand_links_of_nobody_give_few_problems() -> None:
    found = content(json.dumps([link(object="X")] * 100_000).encode())
    assert (found.edges, found.unused) == ((), 100_000)
    assert (len(found.problems), found.problems[-1]) == (101, "and 99900 more")
