"""Which criteria leave open when they are met. Pure.

Nine kinds of phrases mean something else to everybody. One of them is harmless where the criterion
also says what can be looked at: a command, a number with a unit, a path, an exit code, an output.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tether import text

# What a criterion says stands at its beginning.
_MAX_CHARS = 2000


class Kind(NamedTuple):
    """A way of being vague."""

    name: str
    phrases: re.Pattern[str]
    reason: str
    instead: str


class Vague(NamedTuple):
    """Why a criterion cannot be tested."""

    kind: str
    phrase: str
    """The words that leave it open: some of ours, found in the criterion."""
    reason: str
    instead: str


def _words(*phrases: str) -> re.Pattern[str]:
    # A blank is a hyphen to many.
    either = "|".join(each.replace(" ", "[ -]{1,4}") for each in phrases)
    return re.compile(rf"(?i:\b(?:{either})\b)")


KINDS = (
    Kind(
        "works",
        _words("works(?: (?:correctly|properly|fine|well|again))?", "is (?:working|functional)"),
        "whatever runs at all can be said to work",
        "name a command that must succeed, or an input and its output",
    ),
    Kind(
        "expected",
        _words(
            "as (?:expected|intended|desired|required|needed|appropriate|it should)",
            "properly",
            "correctly",
            "appropriately",
            "adequately",
            "sensibly",
        ),
        "what is expected is not said",
        "write down what is expected",
    ),
    Kind(
        "quality",
        _words(
            "(?:good|high|better|best) (?:quality|practices)",
            "clean code",
            "well (?:written|structured|tested|documented|designed)",
            "maintainable",
            "readable code",
            "robust",
            "production ready",
        ),
        "quality is a matter of taste",
        "name the linter, the coverage in percent or the rule that it must pass",
    ),
    Kind(
        "friendly",
        _words("user friendly", "intuitive", "easy to (?:use|understand|read)", "seamless(?:ly)?"),
        "who finds it easy is not said",
        "name what a person does, in how many steps, and what they see",
    ),
    Kind(
        "speed",
        _words(
            "fast(?:er)?(?: enough)?",
            "quick(?:ly|er)?",
            "performant",
            "efficient(?:ly)?",
            "responsive",
            "scalable",
            "scales",
            "(?:good|acceptable|better) performance",
        ),
        "there is no number to hold it against",
        "give the load and the time, as in 'under 200 ms for 1,000 rows'",
    ),
    Kind(
        "open_end",
        _words("etc", "and so on", "and more", "and the like", "if possible", "where applicable"),
        "nobody knows where the list ends",
        "list everything that counts",
    ),
    Kind(
        "errors",
        _words(
            "handles? (?:all |any )?(?:errors|exceptions|failures|edge cases|everything)",
            "error handling",
            "(?:all )?edge cases",
            "gracefully",
        ),
        "which errors, and what happens then, is not said",
        "name the error and what is printed, returned or raised",
    ),
    Kind(
        "looks",
        _words("(?:looks?|seems?|feels?|appears?) (?:right|good|fine|ok|okay|correct|nice)"),
        "it is in the eye of who looks",
        "name the text, the element or the value that must be there",
    ),
    Kind(
        "finished",
        _words(
            "(?:is|are|be) (?:fully )?(?:done|complete|completed|finished|implemented|ready)",
            "fully implemented",
        ),
        "it only says that the task is done when it is done",
        "say by what one sees that it is done",
    ),
)
_UNITS = (
    r"%|ms|s|secs?|seconds?|min|minutes?|h|hours?|days?|[kmg]i?b|bytes?|lines?|rows?|times?|tests?"
    r"|characters?|requests?|files?|errors?|warnings?|users?|items?|steps?|columns?"
)
# A verb is a sign if what follows says what; "returns correctly" does not.
_BEHIND = r"[ \t]{1,4}(?!(?:as|properly|correctly|appropriately|gracefully|quickly)\b)\S"
SIGNS = (
    # A command, a call or a value; the mere name of something is none.
    re.compile(r"`(?=[^`]{0,100}[ (=/.<>{])[^`]{1,400}`"),
    re.compile(rf"(?i:(?<![0-9])[0-9][0-9.,]{{0,15}}[ \t]{{0,2}}(?:{_UNITS})(?![a-z0-9]))"),
    # A path; "and/or" is none.
    re.compile(r"(?<![\w/])[\w.-]{0,64}/[\w-]{1,64}[/.]\w|(?<![\w/.])/[A-Za-z]"),
    re.compile(r"[\w-]\.(?:py|js|ts|go|rs|java|rb|c|h|md|json|ya?ml|toml|txt|sh|csv|html)\b"),
    re.compile(rf"(?i:\b(?:exits?|exit code|status(?: code)?|http|returns?|raises?){_BEHIND})"),
    re.compile(r"[\"\u201c][^\"\u201c\u201d]{1,200}[\"\u201d]|(?<!\w)'[^']{1,200}'(?!\w)"),
    re.compile(rf"(?i:\b(?:prints?|outputs?|equals?|contains?|refuses?|rejects?){_BEHIND})"),
)


def judge(criterion: str) -> Vague | None:
    """Why a criterion in words is vague; None if it is not."""
    said = text.one_line(criterion[:_MAX_CHARS])
    if any(sign.search(said) for sign in SIGNS):
        return None
    for kind in KINDS:
        if found := kind.phrases.search(said):
            return Vague(kind.name, found[0].lower(), kind.reason, kind.instead)
    return None
