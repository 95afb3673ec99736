"""What holds for every text, and for every way to cut it into chunks."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from tether import redaction, text

ANY = st.text(st.characters(exclude_categories=()))
NASTY = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "\x1b", "\x1b[", "\x1b]8;;", "\x1b\\", "\x07", "\x9b", "\x9d", "\x9c", "\x90",
                "\r", "\n", "\r\n", "\u200d", "\ufe0f", "❤", "👩", "💻", "\u202e", "\U000e0041",
                "\ud83d", "\ude00", "tether", "-", "fence", "tether-fence", "<<", ">>", "| ",
            ]
        ),
        ANY,
    )
).map("".join)  # fmt: skip

KNOWN = ["abcdefgh", "bcdefghij", "h,i jk lm", "[redacted", "redacted:", "1234]xyz", "aaaaaaaa"]
# Prefixes stand apart from their bodies, so that what hypothesis joins is often almost a secret.
PIECES = [
    "gh" + "p_", "a1B2c3D4e" * 4, "sk-" + "ant-", "xo" + "xb-", "1234567890-", "AK" + "IA",
    "ABCDEFGH23456789", "ey" + "J", "hbGciOiJIUzI1NiJ9", ".", "password=", '"token": "', "hunter22",
    "://bob:", "@host", "Authorization: Bearer ", "example", "-----BEGIN RSA PRIVATE" + " KEY-----",
    "\n", "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn", "Ew==", "-----END RSA PRIVATE" + " KEY-----", "\\n",
    "[redacted:known:12ab]", "[redacted:github:ffff]", "[redacted:", "key", "api_", "'", '"', " ",
    "--password ", "AA", "SK", "0123456789abcdef" * 2, "12345678:", "(", "[", "x" * 600, "=", "&",
    *KNOWN,
]  # fmt: skip
SECRETIVE = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=30).map(
    "".join
)
# Long enough to cross the stream's own windows.
LONG = st.tuples(st.integers(0, 12_000), SECRETIVE, st.integers(0, 3_000), SECRETIVE).map(
    lambda parts: "x " * (parts[0] // 2) + parts[1] + "y " * (parts[2] // 2) + parts[3]
)


def chunked(value: str, sizes: list[int], known: list[str]) -> str:
    redactor = redaction.Redactor(known)
    out: list[str] = []
    at = 0
    while at < len(value):
        size = sizes[len(out) % len(sizes)]
        out.append(redactor.feed(value[at : at + size]))
        at += size
    return "".join(out) + redactor.close()


def is_dirty(char: str) -> bool:
    if char in "\n\t":
        return False
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in (
        "\u061c\u200b\u200c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069"
        "\ufeff\u00ad\u3164\U000e0041\ufffe\uffff"
    )


@given(st.one_of(ANY, NASTY))
def test_no_control_character_survives_cleaning(value: str) -> None:
    assert [c for c in text.clean(value) if is_dirty(c)] == []


@given(st.one_of(ANY, NASTY))
def test_cleaning_twice_is_cleaning_once(value: str) -> None:
    once = text.clean(value)
    assert text.clean(once) == once


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Cn", "Mn", "Lo", "Zl", "Zp"))))
def test_nothing_visible_is_lost(value: str) -> None:
    assert text.clean(value) == value


@given(st.one_of(ANY, NASTY), st.integers(0, 40))
def test_a_line_is_one_line_within_its_width(value: str, width: int) -> None:
    line = text.one_line(value, width)
    assert "\n" not in line
    assert "\t" not in line
    assert sum(text._cells(c) for c in line) <= width
    assert text.one_line(line, width) == line


@given(st.one_of(ANY, NASTY, SECRETIVE), st.one_of(ANY, NASTY), st.one_of(ANY, NASTY))
def test_a_fence_has_one_closing_marker(value: str, source: str, author: str) -> None:
    nonce = text.new_nonce()
    block = text.fence(value + nonce, source=source + nonce, author=author)
    own = block.partition(" ")[2][:24]
    closing = f"<<tether-fence {own} end>>"
    lines = block.split("\n")
    assert (lines.count(closing), block.count(closing)) == (1, 1)
    assert lines[-1] == closing
    assert block.lower().count("tether-fence") == 2
    assert all(line.startswith("| ") for line in lines[2:-1])
    assert [c for c in block if is_dirty(c)] == []


@given(NASTY, st.sampled_from(["a" * 16, "ab" * 8, "abc" * 6]))
def test_a_nonce_that_content_knows_is_escaped(value: str, nonce: str) -> None:
    block = text.fence(value + nonce * 3 + value, source=nonce, author=nonce, nonce=nonce)
    assert block.count(nonce) == 2


@given(st.one_of(ANY, SECRETIVE))
@example("password=abcdefgh1example-" + KNOWN[0])
@example(KNOWN[0] + "--password 0000000A")
def test_redacting_twice_is_redacting_once(value: str) -> None:
    once = redaction.redact(value, KNOWN)
    assert redaction.redact(once, KNOWN) == once


@given(ANY, st.sampled_from(KNOWN[:3]), ANY)
def test_a_known_value_never_survives(before: str, known: str, after: str) -> None:
    assert known not in redaction.redact(before + known + after, KNOWN[:3])


@given(st.one_of(SECRETIVE, LONG), st.lists(st.integers(1, 4000), min_size=1, max_size=5))
def test_chunks_do_not_change_the_result(value: str, sizes: list[int]) -> None:
    assert chunked(value, sizes, KNOWN) == redaction.redact(value, KNOWN)


@given(LONG)
def test_single_characters_do_not_change_the_result(value: str) -> None:
    assert chunked(value, [1], KNOWN) == redaction.redact(value, KNOWN)
