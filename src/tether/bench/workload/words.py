"""Made-up prose, code and output that name no task. Pure, given a source of chance."""

from __future__ import annotations

import json
import random

from tether.hints import NamedTuple

_VERBS = (
    *("Add", "Move", "Split", "Test", "Document", "Cache", "Validate", "Retry", "Trace", "Audit"),
    *("Replace", "Measure", "Harden", "Simplify", "Restore", "Encrypt", "Export", "Index"),
)
_THINGS = (
    *("the session export", "the login form", "tenant isolation", "the message bus", "the router"),
    *("the billing webhook", "the audit trail", "the agent registry", "the license check"),
    *("the context store", "the settings page", "the deployment job", "the backup script"),
    *("the search index", "the quota service", "the workflow engine", "the event schema"),
)
_HOW = (
    *("for slow networks", "behind a flag", "in the pilot", "for new tenants", "under load"),
    *("after a restart", "for the second region", "without downtime", "in the worker"),
)
_PLENTY = (
    "the and of to with for after before when while request response session worker queue lock file"
    " table index cache token retry error value field schema test case path module function caller"
    " handler result state change commit branch review build deploy region tenant service client"
    " server reads writes checks returns keeps drops moves holds waits fails passes because since"
    " until first last next only also still already never always slow quick small large empty full"
)
_WORDS = _PLENTY.split(" ")
_EXTENSIONS = ("py", "ts", "py", "rs", "py", "sql")
_AREAS = ("api", "auth", "billing", "context", "deploy", "events", "registry", "search", "web")


class Pools(NamedTuple):
    """Pieces to choose from. All but the paths are the inside of a JSON string."""

    texts: list[str]
    thoughts: list[str]
    outputs: list[str]
    codes: list[str]
    commands: list[str]
    paths: list[str]


def pools(rng: random.Random, files: int) -> Pools:
    return Pools(
        [escaped(prose(rng, rng.randrange(20, 140))) for _ in range(300)],
        [escaped(prose(rng, rng.randrange(10, 90))) for _ in range(200)],
        [escaped(_output(rng)) for _ in range(300)],
        [escaped(code(rng, rng.randrange(4, 30))) for _ in range(300)],
        [escaped(_command(rng)) for _ in range(100)],
        [path(number) for number in range(files)],
    )


def pieces(seed: int, count: int) -> list[list[str]]:
    """Source files, as lines."""
    rng = random.Random(f"files {seed}")  # noqa: S311 (chance that can be repeated)
    return [code(rng, 6 + number % 30).splitlines() for number in range(count)]


def title(rng: random.Random) -> str:
    words = (rng.choice(_VERBS), rng.choice(_THINGS), rng.choice(_HOW))
    return " ".join(words)


def path(number: int) -> str:
    """The source file of a number."""
    extension = _EXTENSIONS[number % len(_EXTENSIONS)]
    return f"src/{_AREAS[number % len(_AREAS)]}/part_{number}.{extension}"


def prose(rng: random.Random, words: int) -> str:
    sentences, left = [], words
    while left > 0:
        length = min(left, rng.randrange(5, 16))
        sentence = " ".join(rng.choices(_WORDS, k=length))
        sentences.append(f"{sentence.capitalize()}.")
        left -= length
    return " ".join(sentences)


def code(rng: random.Random, lines: int) -> str:
    names = rng.choices(_WORDS, k=3 * lines)
    rows = (
        f"    {names[3 * n]}_{n} = {names[3 * n + 1]}({names[3 * n + 2]!r}, {rng.randrange(999)})"
        for n in range(lines)
    )
    return "\n".join([f"def {names[0]}_{names[1]}({names[2]}):", *rows, ""])


def _output(rng: random.Random) -> str:
    rows = []
    for _ in range(rng.randrange(1, 14)):
        name = rng.choice(_WORDS)
        number = rng.randrange(1000)
        rows.append(
            rng.choice(
                (
                    f"tests/test_{name}.py::test_{name}_{number} PASSED",
                    f"{path(number)}:{number}: note: {rng.choice(_WORDS)} {name}",
                    f"  {name:<20} {number:>6} ok",
                    f"{number:>6}\t    return {name}",
                )
            )
        )
    return "\n".join(rows)


def _command(rng: random.Random) -> str:
    name = rng.choice(_WORDS)
    return rng.choice(
        (
            f"python -m pytest tests/test_{name}.py -q",
            f'grep -rn "{name}" src | head -20',
            f"git diff --stat HEAD~{rng.randrange(1, 9)}",
            f"sed -n '1,{rng.randrange(40, 300)}p' {path(rng.randrange(200))}",
            f"make {name} 2>&1 | tail -5",
        )
    )


def escaped(text: str) -> str:
    """As it stands between the quotes of a JSON string."""
    return json.dumps(text)[1:-1]
