"""Diagrams: what they draw, and that no name or title gets out of its label."""

from __future__ import annotations

import re

import pytest

from tests import weaving
from tests.weaving import decision, task
from tether.lineage import mermaid, naming
from tether.lineage.edges import model, reading

FILE = weaving.code("a.py")


def called(key: model.Key, label: str, title: str = "", kind: model.Kind = "task") -> naming.Name:
    return naming.Name(key, kind, label, title)


def edge(subject: model.Key, type_name: str, target: model.Key, number: int = 1) -> reading.Edge:
    return reading.Edge(
        f"t{number}", subject, type_name, target, 0.8, "", "task-text", "", "", "file:x"
    )


def drawn(*names: naming.Name, edges: tuple[reading.Edge, ...] = ()) -> list[str]:
    by_key = {each.key: each for each in names}
    return mermaid.diagram(by_key, edges, by_key).splitlines()


def unescaped(label: str) -> str:
    """What Mermaid shows for a label."""
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label)


def test_tasks_decisions_and_code_have_shapes_of_their_own() -> None:
    assert drawn(
        called(task(1), "T1", "Ring"),
        called(decision(1), "0001", kind="decision"),
        called(FILE, "src/a.py", kind="file"),
        edges=(edge(task(1), "touched", FILE), edge(decision(1), "governs", FILE)),
    ) == [
        "flowchart LR",
        '    n0["T1#58; Ring"]',
        '    n1{{"0001"}}',
        '    n2("src/a.py")',
        "    n0 -->|touched| n2",
        "    n1 -->|governs| n2",
    ]


def test_what_two_derivers_say_is_one_arrow() -> None:
    twice = (edge(task(1), "extends", task(2)), edge(task(1), "extends", task(2), 2))
    back = edge(task(2), "extends", task(1), 3)
    lines = drawn(called(task(1), "T1"), called(task(2), "T2"), edges=(*twice, back))
    assert [line for line in lines if "-->" in line] == [
        "    n0 -->|extends| n1",
        "    n1 -->|extends| n0",
    ]


def test_nothing_is_an_empty_diagram() -> None:
    assert mermaid.diagram([], [], {}) == "flowchart LR\n"


def test_a_node_without_edges_is_drawn() -> None:
    assert drawn(called(task(1), "T1"))[1:] == ['    n0["T1"]']


@pytest.mark.parametrize(
    "words",
    [
        'a["b"]:::red',
        'x"] --> n9["y',
        "<script>alert(1)</script>",
        "n1; click n1 call steal()",
        "%%{init: {}}%%",
        "`**bold**`",
        "#quot;#35;",
        r"a\"b",
        "{{a}} ((b)) |c| ~~~",
        "end",
    ],
)
def test_nothing_breaks_out_of_a_label(words: str) -> None:
    [_, line] = drawn(called(task(1), "T1", words))
    found = re.fullmatch(r'    n0\["((?:[\w .,/-]|#\d+;)*)"\]', line)
    assert found is not None, line
    assert unescaped(found[1]) == f"T1: {words}"


def test_a_title_of_several_lines_stays_on_one() -> None:
    lines = drawn(called(task(1), "T1", "Ring\nsubgraph x\r\n  n0 --> n0\u2028end"))
    assert len(lines) == 2
    assert "subgraph x n0" in lines[1]


def test_other_scripts_are_drawn_and_invisible_signs_are_not() -> None:
    words = mermaid.escaped("Größe 日本 a\u0301 🔔 \u202eevil\u200b\x1b[31m")
    assert words == "Größe 日本 a#769; #128276; evil"
    assert unescaped(words) == "Größe 日本 a\u0301 🔔 evil"


def test_half_a_character_is_drawn_as_unknown() -> None:
    assert mermaid.escaped("caf\udce9.py") == "caf#65533;.py"


def test_a_long_title_is_cut_before_it_is_escaped() -> None:
    [_, line] = drawn(called(task(1), "T1", '"' * 500))
    assert line.count("#34;") == 59
    assert line.endswith('#8230;"]')


def test_notes_are_comments_whatever_they_say() -> None:
    lines = mermaid.diagram([], [], {}, notes=["2 nodes", "a\n  n0 --> n1", "}%%"]).splitlines()
    assert lines == ["flowchart LR", "    %% 2 nodes", "    %% a n0 -- n1", "    %% "]
