"""A part of the graph as a document: what is written is read again, what is wrong is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import weaving
from tests.weaving import decision, task
from tether import errors
from tether.lineage import portable

FILE, SYMBOL = weaving.code("a.py"), weaving.code("a.py#run")
AT = "2026-03-02T09:00:00.000Z"
NODES = {
    task(1): "task",
    task(2): "task",
    decision(1): "decision",
    FILE: "file",
    SYMBOL: "symbol",
    "path:src": "path",
}
Fields = dict[str, Any]


def node(key: str, kind: str | None = None, **more: Any) -> Fields:
    return {"key": key, "kind": NODES[key] if kind is None else kind, **more}


def proof(**more: Any) -> Fields:
    return {"pointer": "file:work/T1.yaml#line=7", "confidence": 0.8, **more}


def edge(subject: str, type_name: str, target: str, **more: Any) -> Fields:
    return {
        "subject": subject,
        "type": type_name,
        "object": target,
        "source": "task-text",
        "confidence": 0.8,
        "evidence": [proof()],
        **more,
    }


def written(*edges: Fields, nodes: list[Fields] | None = None, **more: Any) -> bytes:
    every = [node(each) for each in NODES] if nodes is None else nodes
    head = {"lineage": 1, "workspace_id": None, "commit": "c" * 40}
    return json.dumps({**head, "nodes": every, "edges": list(edges), **more}).encode()


def refused(raw: bytes) -> str:
    with pytest.raises(errors.ExportInvalid) as caught:
        portable.decode(raw)
    assert "Nothing was imported" in caught.value.message
    return caught.value.message


# Written and read again


def test_what_is_written_is_read_again() -> None:
    said = portable.Evidence("commit:abc", 0.9, AT, {"added": 3}, "kg-attribution")
    document = portable.Document(
        1,
        "w1",
        "c" * 40,
        [
            portable.Node(
                task(1), "task", "T1", 'Größe "日本" 🔔', "done", "ada", AT, "work/T1.yaml"
            ),
            portable.Node(SYMBOL, "symbol", "a.py#run"),
        ],
        [portable.Edge(task(1), "touched", SYMBOL, "kg-attribution", 0.9, AT, [said])],
        truncated=True,
    )
    read = portable.decode(portable.encode(document))
    assert read.document == document
    assert read.kinds == {task(1): "task", SYMBOL: "symbol"}
    [found] = read.edges
    assert (found.subject, found.type, found.object) == (task(1), "touched", SYMBOL)
    assert (found.confidence, found.at, found.pointer) == (0.9, AT, "commit:abc")
    assert found.detail == {"added": 3, "deriver": "kg-attribution"}


def test_nothing_at_all_is_written_and_read_again() -> None:
    document = portable.Document(1, None, "", [], [])
    assert portable.decode(portable.encode(document)) == portable.Read(document, (), {})


def test_every_node_and_edge_has_a_line() -> None:
    nodes = [portable.Node(task(number), "task", title="a\nb") for number in (1, 2)]
    document = portable.Document(1, None, "", nodes, [])
    lines = portable.encode(document).splitlines()
    assert [task(1).encode() in line for line in lines].count(True) == 1
    assert portable.encode(document) == portable.encode(portable.decode(b"\n".join(lines)).document)


def test_a_name_that_is_no_utf8_is_read_again() -> None:
    document = portable.Document(1, None, "", [portable.Node(FILE, "file", "caf\udce9.py")], [])
    [found] = portable.decode(portable.encode(document)).document.nodes
    assert found.name.startswith("caf")


def test_the_answer_of_the_command_is_read_too() -> None:
    raw = b'{"ok": true, "export": %s}' % written(edge(task(1), "extends", task(2)))
    assert len(portable.decode(raw).edges) == 1


def test_numbers_of_another_index_are_left_out() -> None:
    detail = {"event": 12, "added": 3}
    assert portable.plain_detail(detail) == {"added": 3}
    [found] = portable.decode(
        written(edge(task(1), "touched", FILE, evidence=[proof(detail=detail)]))
    ).edges
    assert "event" not in found.detail


def test_every_thing_that_an_edge_stands_on_is_one() -> None:
    proofs = [proof(pointer="event:1"), proof(pointer="event:2", confidence=0.2)]
    found = portable.decode(written(edge(task(1), "extends", task(2), evidence=proofs))).edges
    assert [(each.pointer, each.confidence) for each in found] == [
        ("event:1", 0.8),
        ("event:2", 0.2),
    ]


def test_times_are_told_in_one_way() -> None:
    proofs = [proof(at="2026-03-02T10:00:00+01:00")]
    [found] = portable.decode(written(edge(task(1), "extends", task(2), evidence=proofs))).edges
    assert found.at == AT


@pytest.mark.parametrize(
    ("subject", "type_name", "target"),
    [
        (task(1), "created", FILE),
        (task(1), "declared", "path:src"),
        (decision(1), "governs", SYMBOL),
        (task(1), "references", decision(1)),
        (SYMBOL, "same_as", FILE),
        (FILE, "describes", SYMBOL),
    ],
)
def test_edges_between_what_goes_with_their_type_are_read(
    subject: str, type_name: str, target: str
) -> None:
    [found] = portable.decode(written(edge(subject, type_name, target))).edges
    assert (found.subject, found.type, found.object) == (subject, type_name, target)


# Refused


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b"null", b'{"ok": false}', b"\xff\xfe", b"[" * 100_000]
)
def test_what_is_no_document_is_refused(raw: bytes) -> None:
    refused(raw)


def test_another_form_is_refused_with_what_to_do() -> None:
    with pytest.raises(errors.ExportInvalid) as caught:
        portable.decode(written(lineage=2))
    assert "Upgrade" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("task:work:T1", "file"),
        ("task:work:", "task"),
        ("task:no source:T1", "task"),
        ("task:T1", "task"),
        ("task:work:T1\n", "task"),
        ("decision:", "decision"),
        ("decision: ", "decision"),
        ("decision:00\x1b[2J01", "decision"),
        ("path:", "path"),
        ("path:a\0b", "path"),
        ("path:" + "a" * 5000, "path"),
        ("node:abc", "file"),
        (FILE.upper(), "file"),
        (FILE, "task"),
        (FILE, "thing"),
        ("else:x", "else"),
        ("", ""),
    ],
)
def test_a_key_that_does_not_go_with_its_kind_is_refused(key: str, kind: str) -> None:
    message = refused(written(nodes=[node(task(2)), node(key, kind)]))
    assert "node 1" in message
    assert "\x1b" not in message


@pytest.mark.parametrize(
    ("subject", "type_name", "target"),
    [
        (task(1), "extends", FILE),
        (task(1), "touched", task(2)),
        (FILE, "extends", task(1)),
        (FILE, "touched", SYMBOL),
        (task(1), "extends", task(1)),
        (task(1), "co-touches", task(2)),
        (task(2), "extended_by", task(1)),
        (task(1), "loves", task(2)),
        (task(1), "extends", task(3)),
    ],
)
def test_an_edge_that_no_deriver_may_say_is_refused(
    subject: str, type_name: str, target: str
) -> None:
    right = edge(task(1), "extends", task(2))
    assert "edge 1" in refused(written(right, edge(subject, type_name, target)))


@pytest.mark.parametrize(
    "proofs",
    [
        [],
        [proof(confidence=1.01)],
        [proof(confidence=-0.1)],
        [proof(confidence="sure")],
        [proof(at="yesterday")],
        [proof(at="2026-13-01T00:00:00Z")],
        [proof(pointer="x" * 9000)],
        [proof(detail={"text": "x" * 9000})],
        [proof(detail=["x"])],
        [proof(), {"pointer": "x"}],
    ],
)
def test_an_edge_on_no_good_ground_is_refused(proofs: list[Fields]) -> None:
    refused(written(edge(task(1), "extends", task(2), evidence=proofs)))


def test_details_that_are_too_deep_are_refused() -> None:
    raw = written(edge(task(1), "extends", task(2), evidence=[proof(detail={"a": 0})]))
    refused(raw.replace(b'{"a": 0}', b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}"))


def test_an_error_tells_no_raw_words_of_others() -> None:
    message = refused(written(nodes=[{"key": 1, "kind\x1b[2J": "\x1b[2J" * 500}]))
    assert "\x1b" not in message
    assert len(message) < 400


# Words of others


def test_titles_and_names_are_kept_short_and_clean() -> None:
    told = portable.Node(task(1), "task", title="a\n\x1b[2Jb" + "c" * 999, created_at="never")
    assert portable.title(told).startswith("a bccc")
    assert len(portable.title(told)) == 300
    assert portable.word("d\0one" + "x" * 99).startswith("done")
    assert len(portable.word("x" * 99)) == 64
    assert portable.created_at(told) == ""
    assert portable.created_at(portable.Node("k", "task", created_at=AT)) == AT


def test_pointers_are_kept_as_every_database_takes_them() -> None:
    proofs = [proof(pointer="file:a\0b")]
    [found] = portable.decode(written(edge(task(1), "extends", task(2), evidence=proofs))).edges
    assert found.pointer == "file:a\ufffdb"
