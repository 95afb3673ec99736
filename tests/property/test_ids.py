"""What holds for every id that is accepted, and for every text that is not."""

from __future__ import annotations

import json
import os
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tether import errors, ids

TYPES = [ids.TaskId, ids.AgentName, ids.SessionId, ids.NodeId, ids.WorkspaceId]
# Half of what is tried is nearly an id: only then are the borders met.
NEARLY = st.text(st.sampled_from(string.ascii_letters + string.digits + "._-/\\\n \0-é１"))
SHAPED = st.one_of(
    st.from_regex(ids.TaskId.pattern),
    st.from_regex(ids.SessionId.pattern, fullmatch=True),
    st.from_regex(ids.NodeId.pattern),
    st.from_regex(ids.WorkspaceId.pattern, fullmatch=True),
    st.sampled_from(["con", "nul", "aux", "prn", "com1", "lpt9"]).flatmap(
        lambda device: st.sampled_from([device, device + ".", device + ".x", device.upper()])
    ),
)
ANY = st.one_of(NEARLY, SHAPED, st.text(st.characters(exclude_categories=())))
DIRECTORY = "/store/runs"


@pytest.mark.parametrize("kind", TYPES)
@given(value=ANY)
@example(value="a\n")
@example(value="..")
@example(value="-a")
@example(value="\u0661")
def test_a_text_is_an_id_with_all_its_promises_or_is_refused_unseen(
    kind: type[ids.TaskId], value: str
) -> None:
    if not kind.is_valid(value):
        with pytest.raises(errors.InvalidId) as caught:
            kind(value)
        # Fixed texts: nothing of the value can be in them.
        assert caught.value.message == f"This is not a valid {kind.noun}. Nothing was changed."
        assert caught.value.hint == kind.hint
        return
    made = kind(value)
    assert made == value
    assert made.isascii()
    assert made.isprintable()
    assert not made.startswith(("-", "."))
    assert not made.endswith((".", "\n", " "))
    assert os.path.basename(made) == made
    assert made not in ("", os.curdir, os.pardir)
    assert os.path.normpath(os.path.join(DIRECTORY, made)) == f"{DIRECTORY}/{made}"
    assert "\\" not in made
    assert os.fsdecode(os.fsencode(made)) == made
    assert kind(json.loads(json.dumps(made))) == made
    assert not {"'", '"', "`", "$", "%", "*", "?", ";", ":", "|", "&"} & set(made)


@given(length=st.integers(0, 300))
def test_generated_text_has_its_length_and_only_safe_characters(length: int) -> None:
    made = ids.random_base32(length)
    assert len(made) == length
    assert set(made) <= set(string.ascii_lowercase + string.digits)


@given(value=st.from_regex(ids.WorkspaceId.pattern, fullmatch=True))
def test_a_workspace_id_needs_no_quotes_in_a_schema_name(value: str) -> None:
    name = f"tether_{ids.WorkspaceId(value)}"
    assert name == name.lower()
    assert name.isidentifier()
    assert len(name) <= 63  # what PostgreSQL keeps of a name
