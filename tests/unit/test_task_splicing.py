"""Edits of texts that few people write: nothing else in them may get lost."""

from __future__ import annotations

from typing import Any

import pytest

from tether import errors
from tether.tasks import document, splicing


def edited(content: str, **changes: Any) -> str:
    return splicing.edit(document.read(content.encode()), changes).decode()


# In brackets over several lines, where ruamel.yaml drops comments.
LIST = "id: [a,\n  b, # why b\n  ]\n"


def test_a_list_grows_behind_a_text_that_has_no_end() -> None:
    entry = "title:\n  - text: |\n      said"
    after = edited(LIST + entry, title=[{"text": "said"}, "new"])
    assert after == LIST + "title:\n  - text: said\n  - new\n"


def test_a_field_is_added_beside_a_text_that_has_no_end() -> None:
    text = "title: |\n  first\n  last"
    assert edited(LIST + text, agent="new") == f"{LIST}agent: new\n{text}"


# Fields that are indented are for ruamel.yaml.
INDENTED = "  id: [a,\n    b, # why b\n    ]\n  title: b\n"


def test_what_would_lose_a_comment_is_refused() -> None:
    with pytest.raises(errors.TaskUneditable):
        edited(INDENTED, title="c")
    assert "title: c" in edited(INDENTED.replace("# why b", ""), title="c")


def test_comments_of_what_is_replaced_may_go() -> None:
    after = edited(INDENTED, id="c")
    assert document.read(after.encode()).fields == {"id": "c", "title": "b"}


def test_what_looks_like_a_comment_in_a_text_is_none() -> None:
    text = "  id: |\n    # Heading\n  note: a#b\n  title: "
    assert document.read(edited(f"{text}b\n", id="c", title="d").encode()).fields == {
        "id": "c",
        "note": "a#b",
        "title": "d",
    }
