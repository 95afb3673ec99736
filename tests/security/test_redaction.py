"""Secrets are found whole and in chunks, ordinary text is left alone, no pattern runs away."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tether import redaction, text

LOWER = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
UPPER = LOWER.upper()
ALNUM = LOWER + UPPER + DIGITS
HEX = DIGITS + "abcdef"
URLSAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"

# Each is (prefix in parts, alphabet, length): no complete secret stands in this file.
FORMATS: dict[str, tuple[str, str, int]] = {
    "aws key id": ("AK" + "IA", UPPER + "234567", 16),
    "aws session key id": ("AS" + "IA", UPPER + "234567", 16),
    **{f"github gh{c}": (f"gh{c}" + "_", ALNUM, 36) for c in "pousr"},
    "github fine-grained": ("github" + "_pat_11", ALNUM + "_", 80),
    "gitlab": ("gl" + "pat-", URLSAFE, 20),
    **{f"slack xox{c}": (f"xox{c}" + "-2", DIGITS + "-" + ALNUM, 50) for c in "abprs"},
    "stripe secret": ("sk" + "_live_", ALNUM, 24),
    "stripe restricted": ("rk" + "_live_", ALNUM, 24),
    "stripe webhook": ("wh" + "sec_", ALNUM, 32),
    "google api": ("AI" + "za", URLSAFE, 35),
    "google oauth": ("ya" + "29.", URLSAFE, 120),
    "google client": ("GOC" + "SPX-", URLSAFE, 28),
    "openai": ("s" + "k-", ALNUM, 48),
    "openai project": ("s" + "k-proj-", URLSAFE, 120),
    "anthropic": ("s" + "k-ant-api03-", URLSAFE, 95),
    "groq": ("gs" + "k_", ALNUM, 52),
    "npm": ("np" + "m_", ALNUM, 36),
    "pypi": ("py" + "pi-AgEIcHlwaS5vcmc", URLSAFE, 120),
    "docker": ("dckr" + "_pat_", URLSAFE, 27),
    "twilio key": ("S" + "K", HEX, 32),
    "twilio account": ("A" + "C", HEX, 32),
    "mailgun": ("ke" + "y-", HEX, 32),
    "digitalocean": ("dop" + "_v1_", HEX, 64),
    "huggingface": ("h" + "f_", LOWER + UPPER, 34),
    "databricks": ("da" + "pi", HEX, 32),
    "linear": ("lin" + "_api_", ALNUM, 40),
    "notion old": ("sec" + "ret_", ALNUM, 43),
    "notion": ("nt" + "n_", ALNUM, 46),
    "shopify": ("shp" + "at_", HEX, 32),
    "vault": ("hv" + "s.", URLSAFE, 90),
    "age": ("AGE-SECRET" + "-KEY-1", UPPER + DIGITS, 58),
}


def chars(seed: str, alphabet: str, count: int) -> str:
    """Characters that are random to look at and the same in every run."""
    stream = (
        byte
        for block in itertools.count()
        for byte in hashlib.sha256(f"{seed}/{block}".encode()).digest()
    )
    return "".join(alphabet[byte % len(alphabet)] for byte in itertools.islice(stream, count))


def pem(seed: str, name: str, gap: str) -> str:
    body = [chars(f"{seed}{n}", BASE64, 64) for n in range(25)] + [chars(seed, BASE64, 30) + "=="]
    return gap.join(
        [f"-----BEGIN {name}PRIVATE" + " KEY-----", *body, f"-----END {name}PRIVATE" + " KEY-----"]
    )


# Each gives (text, what must not be left of it).
COMPOSED: dict[str, Callable[[str], tuple[str, str]]] = {}


def composed(name: str, alphabet: str, count: int, template: str) -> None:
    def make(seed: str) -> tuple[str, str]:
        secret = chars(seed, alphabet, count)
        return template.replace("@@", secret), secret

    COMPOSED[name] = make


composed("aws secret in a file", BASE64, 40, "aws_secret_access_key = @@")
composed("aws secret in JSON", BASE64, 40, '"SecretAccessKey": "@@"')
composed("aws secret in a shell", BASE64, 40, "export AWS_SECRET_ACCESS_KEY=@@")
composed("slack webhook", ALNUM, 24, "https://hooks.slack" + ".com/services/T0000/B0000/@@")
composed("discord", URLSAFE, 68, "https://discord.com/api/web" + "hooks/123456789012345678/@@")
composed("telegram", URLSAFE, 33, "1234567890:A" + "A@@")
composed("url password", ALNUM + "!$*_", 14, "postgresql://app:@@@db.internal/x")
composed("url without user", ALNUM, 14, "redis://:@@@cache:6379/0")
composed("bearer", URLSAFE + ".", 40, "Authorization: Bea" + "rer @@")
composed("basic", ALNUM, 24, "-H 'authorization: Ba" + "sic @@=='")
composed("bearer alone", URLSAFE, 40, "curl -H 'X: bea" + "rer @@'")
composed("azure storage", BASE64, 86, "AccountName=x;Account" + "Key=@@==;EndpointSuffix=y")
composed("azure signature", ALNUM, 43, "https://x.blob.net/a?se=2&si" + "g=@@%3D")
composed("password in a shell", ALNUM + "!#%_", 16, "export DB_PASS" + "WORD=@@")
composed("password in YAML", ALNUM, 16, "  pass" + "word: @@")
composed("password in JSON", ALNUM + "!#%_", 16, '{"pass' + 'word": "@@"}')
composed("password in escaped JSON", ALNUM, 16, '{\\"pass' + 'word\\": \\"@@\\"}')
composed("token in code", ALNUM, 32, "TOK" + "EN = '@@'")
composed("api key in a header", ALNUM, 32, "x-api-" + "key: @@")
composed("api key in a query", ALNUM, 32, "https://x.test/?api_" + "key=@@&q=1")
composed("client secret", URLSAFE, 40, '"client_sec' + 'ret":"@@"')
composed("flag", ALNUM, 24, "tool --db-pass" + "word @@ --verbose")
composed("jwt", URLSAFE, 43, "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0.@@")
composed("sendgrid", URLSAFE, 43, "S" + "G.abcdefghij0123456789AB.@@")


def samples() -> Iterator[tuple[str, str, str]]:
    """(name, text, secret), eight or nine of each format."""
    for name, (prefix, alphabet, count) in FORMATS.items():
        for n in range(9):
            secret = prefix + chars(f"{name}{n}", alphabet, count)
            yield (
                name,
                ("{}", "x={}", '"{}"', "<{}>", "a {},", "{}\n", "\\n{}\\n")[n % 7].format(secret),
                secret,
            )
    for name, make in COMPOSED.items():
        for n in range(8):
            yield name, *make(f"{name}{n}")
    for n, gap in enumerate(["\n", "\r\n", "\\n", "\n    ", "\n> ", "\n+", "\n-", "\n  12→", ""]):
        block = pem(str(n), ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "][n % 5], gap)
        yield "private key", block, block


SAMPLES = list(samples())
FILLER = "The quick brown fox jumps over the lazy dog, and 12 more.\n"


def chunked(value: str, size: int, known: tuple[str, ...] = ()) -> str:
    redactor = redaction.Redactor(known)
    parts = [redactor.feed(value[at : at + size]) for at in range(0, len(value), size)]
    return "".join(parts) + redactor.close()


def leaves(out: str, secret: str) -> bool:
    """Whether any ten characters in a row of the secret's random end are left."""
    ends = secret[-200:] if len(secret) > 200 else secret[-24:]
    return any(ends[at : at + 10] in out for at in range(len(ends) - 9))


def test_there_are_500_samples() -> None:
    assert len(SAMPLES) >= 500


@pytest.mark.parametrize("size", [1, 7, 509, 1 << 20])
def test_known_formats_are_found_in_every_chunking(size: int) -> None:
    missed = []
    for index, (name, value, secret) in enumerate(SAMPLES):
        # Single characters are slow to feed, so only the others cross the stream's windows too.
        before = FILLER if size == 1 else (FILLER * 200)[: 8000 + 7 * index]
        whole = f"{before}\n{value}\n{FILLER}"
        out = chunked(whole, size)
        assert out == redaction.redact(whole)
        assert out.startswith(before)
        assert out.endswith("\n" + FILLER)
        if leaves(out, secret):
            missed.append(name)
    assert len(missed) <= len(SAMPLES) // 100, missed


def test_control_redacting_each_chunk_alone_is_caught() -> None:
    missed = 0
    for _, value, secret in SAMPLES:
        parts = [value[at : at + 7] for at in range(0, len(value), 7)]
        missed += leaves("".join(map(redaction.redact, parts)), secret)
    assert missed > len(SAMPLES) * 0.9


@pytest.mark.parametrize("size", [1, 7, 509, 1 << 20])
def test_known_values_are_always_found(size: int) -> None:
    alphabet = "".join(map(chr, range(33, 127))) + "äß漢😀 \n\t"
    known = tuple(chars(f"known{n}", alphabet, 8 + n * 7 % 90) for n in range(125))
    for index, value in enumerate(known):
        whole = f"{FILLER * (index % 5)}{chars(value, ALNUM, 5)}{value}{chars(value, ALNUM, 5)}."
        assert value not in chunked(whole, size, known)


def test_a_truncated_private_key_leaves_no_line() -> None:
    block = pem("cut", "RSA ", "\n")
    for end in range(100, len(block), 37):
        out = redaction.redact(block[:end])
        assert re.fullmatch(r"\[redacted:private-key:[0-9a-f]{4}\]\n?-{0,9}(END)?[ A-Z]*-*", out)
    assert redaction.redact(block[:800] + "\n\nAnd then the build failed.").endswith(
        "]\n\nAnd then the build failed."
    )


def test_a_private_key_in_a_service_account_file_is_one_secret() -> None:
    block = pem("gcp", "", "\n") + "\n"
    out = redaction.redact(json.dumps({"private_key": block, "client_email": "a@b.test"}))
    assert re.fullmatch(
        r'\{"private_key": "\[redacted:private-key:[0-9a-f]{4}\]\\n", "client_email": "a@b.test"\}',
        out,
    )


def false_hits(paths: list[Path]) -> tuple[list[str], int]:
    hits: list[str] = []
    lines = 0
    for path in paths:
        value = path.read_text("utf-8", "replace")
        lines += value.count("\n")
        if (out := redaction.redact(value)) != value:
            hits += [f"{path.name}: {m[0]}" for m in re.finditer(r"\[redacted:\S{1,24}:", out)]
    return hits, lines


def test_the_standard_library_is_left_alone() -> None:
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = [p for p in sorted(root.rglob("*.py")) if "site-packages" not in p.parts]
    hits, lines = false_hits(paths)
    assert lines > 100_000
    assert len(hits) <= lines / 10_000, hits


def test_this_repository_is_left_alone() -> None:
    root = Path(__file__).parents[2]
    # Not the tests: they plant secrets on purpose.
    paths = [
        path
        for folder in ("src", "docs", "scripts")
        for path in sorted((root / folder).rglob("*.*"))
        if path.suffix in (".py", ".sql", ".md", ".scm", ".html", ".toml")
    ]
    hits, lines = false_hits(paths)
    assert len(hits) <= max(1, lines / 10_000), hits


def test_no_pattern_looks_further_than_a_stream_waits() -> None:
    parse = re._parser.parse  # type: ignore[attr-defined]
    for rule in redaction._RULES:
        for pattern in filter(None, (rule.head, rule.tail)):
            assert (
                parse(pattern).getwidth()[1] + 2 * redaction._PLACEHOLDER_CHARS <= redaction._REACH
            )


def test_a_placeholder_fits_into_the_space_kept_for_it() -> None:
    kinds = ["known", *(rule.kind for rule in redaction._RULES)]
    assert all(len(f"[redacted:{kind}:0000]") <= redaction._PLACEHOLDER_CHARS for kind in kinds)


SHAPES = """
SHAPES = [
    "a" * N, "A" * N, "1" * N, "-" * N, "=" * N, " " * N, "\\n" * N, "\\\\" * N, "'" * N,
    "x1" * (N // 2), "a-" * (N // 2), "aA1_" * (N // 4), "\\x1b" * N, "\\x1b]" * (N // 2),
    "\\x9b0" * (N // 2), "\\u200d" * N, "\\U0001f469\\u200d" * (N // 2),
    "a.b:" * (N // 4), "tether-" * (N // 7),
    "[redacted:" * (N // 10), "://a:" * (N // 5),
]
"""
# The limit stops a runaway by the work it has done, so no machine is too slow or too busy.
LIMITED = """
import re, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1])))
N = 100_000
"""
EACH_PATTERN = """
from tether import redaction, text
shared = [text._SUSPECT, text._DIRT, redaction._STAND_IN, redaction._PLACEHOLDER]
rules = [part for rule in redaction._RULES for part in (rule.head, rule.tail) if part]
for pattern in map(re.compile, dict.fromkeys(shared + rules)):
    for shape in SHAPES[:12]:
        for _ in pattern.finditer(shape):
            pass
print("finished", len(rules))
"""
EACH_RULE = """
from tether import redaction, text
for rule in redaction._RULES:
    literal = rule.literals[0]
    for almost in (literal, literal + "=", literal + " = 'a1"):
        redaction.redact(almost * (N // len(almost)))
    redaction.redact(literal + "x1" * (N // 2))
print("finished", len(redaction._RULES))
"""
EACH_FUNCTION = """
from tether import redaction, text
for shape in SHAPES:
    text.clean(shape), text.one_line(shape, 80), redaction.redact(shape, ["aaaaaaaa", "--------"])
    text.fence(shape, source=shape, author=shape), text.mark(shape, source=shape)
print("finished", len(SHAPES))
"""
PLANTED = 're.search(r"^([a-z0-9]+-?)+$", "a" * 40 + "!"); print("finished")'


def run_limited(program: str, cpu_seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LIMITED + SHAPES + program, str(cpu_seconds)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(Path(text.__file__).parents[1])},
    )


@pytest.mark.parametrize("program", [EACH_PATTERN, EACH_RULE, EACH_FUNCTION])
def test_no_text_makes_a_pattern_run_away(program: str) -> None:
    done = run_limited(program, cpu_seconds=60)
    assert done.stdout.startswith("finished"), done.stderr


def test_control_a_planted_runaway_pattern_is_stopped() -> None:
    done = run_limited(PLANTED, cpu_seconds=2)
    assert done.returncode < 0
    assert done.stdout == ""
