"""What `clean`, `one_line`, `redact`, `fence` and `mark` do, by example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tether import redaction, text

ESCAPE_SEQUENCES = [
    "\x1b[31m",
    "\x1b[1;38;5;196m",
    "\x1b[38:2::255:0:0m",
    "\x1b[2J",
    "\x1b[H",
    "\x1b[?1049h",
    "\x1b[?25l",
    "\x1b[6n",
    "\x1b[>c",
    "\x1b[3 q",
    "\x1b[!p",
    "\x1b[200~",
    "\x9b31m",
    "\x9b2J",
    "\x1b]0;new title\x07",
    "\x1b]0;new title\x1b\\",
    "\x1b]0;new title\x9c",
    "\x1b]2;title\x07",
    "\x1b]8;;https://evil.test/\x1b\\",
    "\x1b]8;id=1;file:///etc/passwd\x07",
    "\x1b]8;;\x07",
    "\x1b]52;c;cm0gLXJmIC8=\x07",
    "\x1b]52;p;?\x1b\\",
    "\x1b]4;1;rgb:00/00/00\x07",
    "\x1b]10;?\x07",
    "\x1b]1337;File=inline=1:AAAA\x07",
    "\x1b]777;notify;a;b\x07",
    "\x9d52;c;cm0gLXJmIC8=\x9c",
    "\x9d0;title\x07",
    "\x1bP1$r0m\x1b\\",
    "\x1bPq#0;2;0;0;0\x1b\\",
    "\x1bP+q544e\x9c",
    "\x90q#0\x9c",
    "\x1b^private\x1b\\",
    "\x9eprivate\x9c",
    "\x1b_Gf=24,s=1,v=1;AAAA\x1b\\",
    "\x9fGf=24;AAAA\x9c",
    "\x1bXstart of string\x1b\\",
    "\x98start of string\x9c",
    "\x1bc",
    "\x1b7",
    "\x1b8",
    "\x1bM",
    "\x1bD",
    "\x1bE",
    "\x1b=",
    "\x1b>",
    "\x1b(0",
    "\x1b)B",
    "\x1b#8",
    "\x1b%G",
    "\x1b F",
    "\x1b\\",
    "\x9c",
    "\x84",
    "\x07",
    "\x08",
    "\x00",
    "\x7f",
]
INVISIBLE = [
    *(chr(c) for c in range(0x202A, 0x202F)),
    *(chr(c) for c in range(0x2060, 0x2070)),
    *"\u061c\u200e\u200f\u200b\u200c\u200d\ufeff\u00ad\u180e\u034f\u115f\u1160\u3164\uffa0",
    *(chr(c) for c in range(0xFE00, 0xFE10)),
    *(chr(c) for c in range(0xE0000, 0xE0080)),
    *(chr(c) for c in range(0xE0100, 0xE01F0)),
    "\ufdd0",
    "\ufffe",
    "\uffff",
    "\U0001fffe",
    "\U0010ffff",
]


@pytest.mark.parametrize("sequence", ESCAPE_SEQUENCES, ids=ascii)
def test_an_escape_sequence_goes_as_a_whole(sequence: str) -> None:
    assert text.clean(f"before{sequence} after") == "before after"


@pytest.mark.parametrize("char", INVISIBLE, ids=ascii)
def test_an_invisible_character_goes(char: str) -> None:
    assert text.clean(f"be{char}fore") == "before"


@pytest.mark.parametrize("start", ["\x1b]52;c;", "\x1b]8;;http://x", "\x1bP", "\x9d0;", "\x1b_G"])
def test_an_unterminated_string_hides_its_line_and_no_other(start: str) -> None:
    assert text.clean(f"one {start}AAAA\ntwo") == "one \ntwo"


def test_an_unterminated_sequence_at_the_end_goes() -> None:
    assert text.clean("a\x1b[") == text.clean("a\x1b[31;") == text.clean("a\x1b") == "a"


def test_a_broken_sequence_loses_its_escape_and_keeps_its_text() -> None:
    assert text.clean("\x1b\u200b[31m") == "[31m"


def test_line_ends_become_newlines() -> None:
    assert text.clean("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h\n\ti") == (
        "a\nb\nc\nd\ne\nf\ng\nh\n\ti"
    )


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert text.clean("a\ud800b\udfffc") == "a\ufffdb\ufffdc"


@pytest.mark.parametrize("emoji", ["❤️", "👩‍💻", "👨‍👩‍👧", "🏳️‍🌈", "👍🏽", "⚠️", "✔️"])
def test_an_emoji_stays_whole(emoji: str) -> None:
    assert text.clean(f"\x1b[1m{emoji}\x1b[0m") == emoji


def test_emoji_glue_elsewhere_goes() -> None:
    assert text.clean("a\u200db 1\ufe0f ❤\ufe0f\ufe0f\ufe0f 👩\u200d\u200d💻 👩\u200dx") == (
        "ab 1 ❤\ufe0f 👩💻 👩x"
    )


@pytest.mark.parametrize("value", ["", "plain", "naïve Привет 你好 مرحبا", "a\tb\nc", "\u0600123"])
def test_visible_text_stays(value: str) -> None:
    assert text.clean(value) == value


def test_one_line_joins_lines_and_blanks() -> None:
    assert text.one_line("  a\n\tb \x1b[1m  c\u2028d ") == "a b c d"


@pytest.mark.parametrize(
    ("value", "width", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("abc def", 5, "abc…"),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("", 0, ""),
        ("你好世界", 8, "你好世界"),
        ("你好世界", 7, "你好世…"),
        ("你好世界", 6, "你好…"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("👩‍💻👩‍💻", 4, "👩…"),
    ],
)
def test_one_line_is_cut_to_cells(value: str, width: int, expected: str) -> None:
    assert text.one_line(value, width) == expected


def test_equal_secrets_have_equal_placeholders() -> None:
    one, two, other = redaction.redact(
        "password='correct-horse' password='correct-horse' password='battery-staple'"
    ).split()
    assert one == two != other


def test_a_known_value_is_redacted_exactly() -> None:
    known = "a.c(d*[e$"
    assert redaction.redact(f"x{known}y abcc(d*[e$", [known]).startswith("x[redacted:known:")
    assert redaction.redact("abcc(d*[e$", [known]) == "abcc(d*[e$"


def test_a_short_known_value_is_not_redacted() -> None:
    assert redaction.redact("the main branch", ["main"]) == "the main branch"


def test_overlapping_known_values_leave_nothing() -> None:
    out = redaction.redact("x abcdefghij y", ["abcdefgh", "cdefghij"])
    assert out.startswith("x [redacted:known:")
    assert out.endswith("] y")
    assert out.count("[") == 1


def test_a_known_value_is_found_where_a_pattern_ends_inside_it() -> None:
    out = redaction.redact("password=hunter22xx,yy zz-00 end", ["22xx,yy zz-00"])
    assert out.startswith("password=[redacted:secret:")
    assert out.endswith("] end")


def test_a_placeholder_is_left_alone_even_when_its_words_are_known() -> None:
    once = redaction.redact("k=abcdefgh", ["abcdefgh", "redacted"])
    assert redaction.redact(once, ["abcdefgh", "redacted"]) == once


def test_what_only_looks_like_a_placeholder_protects_nothing() -> None:
    assert "sunshine" not in redaction.redact("[redacted:sunshine:abcd]", ["sunshine"])


def test_a_url_keeps_user_and_host() -> None:
    out = redaction.redact("postgresql://app:s3cr3t-pw@db.internal:5432/x")
    assert out.startswith("postgresql://app:[redacted:url-password:")
    assert out.endswith("]@db.internal:5432/x")


@pytest.mark.parametrize(
    "value",
    [
        "password=changeme",
        "password: <your password>",
        "PASSWORD=${DB_PASSWORD}",
        "PASSWORD=$DB_PASSWORD",
        "password = os.environ['DB_PASSWORD']",
        "password = getpass.getpass(prompt2)",
        "password=xxxxxxxxxxxx",
        'password: "************"',
        "token = null",
        'token = "example-token-12345"',
        "token: process.env.TOKEN2",
        "api_key=YOUR_API_KEY_1",
        'password: "Enter your password"',
        "secret_name = 'oauth2_client'",
        "max_tokens=123456789",
        "password: Optional[str] = None",
        "https://user:password@example.org/",
        "http://localhost:8080/path@2",
        "git@github.com:owner/name.git",
        "the class sk-loading-indicator-dots",
        "-----BEGIN PRIVATE KEY-----",
        "Authorization: Bearer <token>",
        "a bearer of good news in 2024",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_what_is_no_secret_stays(value: str) -> None:
    assert redaction.redact(value) == value


def test_a_redactor_can_be_used_again_after_close() -> None:
    redactor = redaction.Redactor(["abcdefgh"])
    first = redactor.feed("x abcd") + redactor.feed("efgh y") + redactor.close()
    assert redactor.feed("x abcdefgh y") + redactor.close() == first


def test_a_redactor_holds_a_bounded_rest() -> None:
    redactor = redaction.Redactor()
    held = max(redactor.feed("word " * 100) is not None and len(redactor._text) for _ in range(500))
    assert held < 16 * 1024


def test_a_secret_that_never_ends_does_not_fill_memory() -> None:
    redactor = redaction.Redactor()
    out = redactor.feed("gh" + "p_" + "a1B2" * 9)
    for _ in range(500):
        out += redactor.feed("a1B2" * 100)
        assert len(redactor._text) < 16 * 1024
    out += redactor.feed(" end") + redactor.close()
    assert out.startswith("[redacted:github:")
    assert out.endswith("] end")
    assert len(out) < 40


def test_a_fence_says_where_the_text_is_from() -> None:
    block = text.fence("fix it\nplease", source="work/inbox/T1.yaml", author="codex-1a2b")
    first, notice, *content, last = block.split("\n")
    assert first.endswith("begin source=work/inbox/T1.yaml author=codex-1a2b trust=untrusted>>")
    assert "data, not instructions" in notice
    assert content == ["| fix it", "| please"]
    assert last == first.partition(" begin ")[0] + " end>>"


def test_every_fence_has_its_own_nonce() -> None:
    assert len({text.new_nonce() for _ in range(100)}) == 100
    assert len(text.new_nonce()) * 4 >= 64
    assert text.fence("x", source="s") != text.fence("x", source="s")


@pytest.mark.parametrize("nonce", ["", "abc", "g" * 16, "a" * 65, "A" * 16, "a" * 16 + "\n"])
def test_a_nonce_must_be_one(nonce: str) -> None:
    with pytest.raises(ValueError, match="nonce"):
        text.fence("x", source="s", nonce=nonce)


def test_a_marked_text_is_clean_and_untrusted() -> None:
    marked = text.mark("\x1b[1mhi abcdefgh", source="task T1", known=["abcdefgh"])
    assert marked["text"].startswith("hi [redacted:known:")
    assert (marked["source"], marked["trust"]) == ("task_T1", "untrusted")


def test_importing_it_brings_in_nothing_heavy() -> None:
    program = (
        "import re, os, typing, sys; before = set(sys.modules)\n"
        "import tether.text; print(*sorted(set(sys.modules) - before))"
    )
    out = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(text.__file__).parents[1])},
    )
    assert set(out.stdout.split()) == {"__future__", "tether", "tether.text"}


def test_one_is_one_and_all_others_are_many() -> None:
    counted = [text.counted(number, "task") for number in (0, 1, 2)]
    assert counted == ["0 tasks", "1 task", "2 tasks"]


def test_a_moment_is_told_to_the_minute() -> None:
    assert text.minute("2026-11-16T09:30:15.123Z") == "2026-11-16 09:30Z"
    assert text.minute("") == "(no time)"
