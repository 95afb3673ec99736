"""Secrets in text from outside, replaced before anything is stored or shown.

Cleaning comes first (`text.clean`), because an invisible character inside a secret would hide it.
Literals are looked for first and patterns are tried only where one stands, so ordinary text costs
little. Every pattern is linear: bounded repeats, or repeats over disjoint classes that cannot fail.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator

from tether.hints import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hashlib import _Hash


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: most texts have no secret."""
    return re.compile(pattern)


_MIN_KNOWN = 8
# No match of a head looks at more characters than this, so a stream can decide everything that has
# as many characters behind it. A test measures the patterns.
_REACH = 1024
# How much a stream collects before it looks: smaller steps cost time, larger ones memory.
_STRIDE = 8192
_PLACEHOLDER_CHARS = 48


class _Rule(NamedTuple):
    """A kind of secret.

    `str.find` of the literals is the prefilter: it is ten times faster than a pattern. `head` is
    matched where a literal stands; its last group, or all of it, is the secret. `tail` is matched
    again and again after it, because a secret may be longer than any bound.
    """

    kind: str
    literals: tuple[str, ...]
    head: str
    tail: str = ""
    check: Callable[[re.Match[str]], bool] | None = None


class _Hit(NamedTuple):
    start: int
    end: int
    order: int
    rule: _Rule


# A weak prefix must begin a word; `\n` in JSON and `%3D` in URLs end in a letter but end a word.
_WORD = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[0-9a-fA-F]"
_URLSAFE = "[A-Za-z0-9_-]"
_DOTTED = "[A-Za-z0-9_.-]"
_BASE64 = "[A-Za-z0-9+/=]"
_PATH = "[A-Za-z0-9_/+-]"
_QUERY = "[A-Za-z0-9%+/=]"
_HTTP = "[A-Za-z0-9+/=_.~:-]"
_QUOTE = r"\\{0,3}[\"'`]"
_BLANKS = r"[ \t]{0,8}"
# An unquoted value in a shell, an INI or YAML file, or a URL.
_BARE = r"[^\s\"'`,;&|<>(){}\[\]\\]"


def _many(chars: str) -> str:
    return f"{chars}{{1,512}}+"


# Between the lines of a key stand newlines, also escaped ones, and what printed them put before
# each line: quotes, `>`, `|`, line numbers, a diff's `-`.
_PEM_GAP = r"[\s\\\"'`>|,:→*#]"
_PEM_LINE = r"[A-Za-z0-9+/=]"
_PEM_NUMBER = rf"(?:[0-9nrt]{{1,6}}+{_PEM_GAP}{{1,8}}+-?)?"
_PEM_FIELD = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):"
_PEM_HEAD = (
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?={_PEM_GAP}{{0,16}}+-?{_PEM_NUMBER}(?:{_PEM_LINE}{{20}}|{_PEM_FIELD}))"
)
_PEM_TAIL = (
    rf"(?P<end>(?:{_PEM_GAP}{{0,16}}+-?{_PEM_LINE}{{1,76}}+){{0,4}}{_PEM_GAP}{{0,16}}+"
    r"-{5,6}END [A-Z0-9 ]{0,48}+-----)"
    rf"|{_PEM_GAP}{{0,16}}+-?{_PEM_FIELD}[^\n\\]{{0,160}}+"
    rf"|{_PEM_GAP}{{0,16}}+-?{_PEM_NUMBER}{_PEM_LINE}{{20,800}}+"
    rf"|{_PEM_GAP}{{0,16}}+-?{_PEM_LINE}{{1,19}}+{_PEM_GAP}{{0,16}}+\Z"
)

# `DB_PASSWORD=`, `"client_secret": `, `x-api-key: `, `config['token'] = `, from the literal on.
_KEY_BEFORE = "".join(
    rf"(?<={word})|(?<={word}[_-])|"
    for word in ("api", "access", "secret", "private", "signing", "encryption", "auth", "account")
).rstrip("|")
_NAME_PARTS = (
    *("assw", "ASSW", "assphrase", "ASSPHRASE", "_pass", "_PASS", "pwd", "PWD"),
    *("ecret", "ECRET", "oken", "OKEN", "key", "Key", "KEY"),
)
_NAME = (
    r"(?:(?P<password>assw(?:or)?d|ASSW(?:OR)?D|assphrase|ASSPHRASE|(?i:_pass)|pwd|PWD)"
    rf"|ecret|ECRET|oken|OKEN|(?i:{_KEY_BEFORE})(?:key|Key|KEY))(?:_BASE|_?[0-9])?"
)
_ASSIGNED = (
    rf"{_NAME}(?:{_QUOTE})?\]?{_BLANKS}(?::=|=>|[:=]{{1,2}}){_BLANKS}"
    rf"(?:[bBrRuU]?(?P<quote>{_QUOTE})((?:(?!(?P=quote))(?:\\[^\n]|[^\n\\])){{8,128}})"
    rf"|({_BARE}{{8,64}}+)(?![(\[{{]))"
)
_FLAG = (
    r"(?<![\w-])--(?:[a-z]{1,16}-){0,2}(?:password|passwd|passphrase|token|secret|api-?key)"
    rf"[ \t]{{1,3}}[\"']?({_BARE}{{8,64}}+)(?![(\[{{])"
)
_AUTHORIZATION = (
    rf"(?i:uthorization)(?:{_QUOTE})?\]?{_BLANKS}[:=,]{_BLANKS}[bf]?(?:{_QUOTE})?"
    r"(?i:bearer|basic|token|digest|apikey)[ \t]{1,4}(" + _HTTP + "{8,512}+)"
)
_LOGIN_IN_URL = r"://[^\s/:@\"'`<>\[\]]{0,64}:([^\s/?#\"'`<>\[\]]{3,256})@[A-Za-z0-9\[]"

# A value that stands for a secret instead of being one.
_STAND_IN = (
    r"(?i)\A(?:(.)\1{2,}|.{0,8}\*{3}.*|\.{3}.*|(?:your|my|the|some|any|a)[_-].*|insert.*|abcd?ef"
    r"|1234[0-9]*|none|null|nil|true|false|undefined|(?:user)?(?:password|passwd|passphrase|pass|secret"
    r"|token|pwd|pw|key)[0-9]{0,3})\Z"
    r"|example|change[_-]?(?:me|it)|placeholder|dummy|redacted|not[_-]?a?[_-]?real|[<>]|\A\$|\$[{(]"
    r"|%[({]|%s|\{|environ|getenv|process\.env|secrets\."
)


def _is_stand_in(value: str) -> bool:
    return _compiled(_STAND_IN).search(value) is not None


def _is_mixed(value: str) -> bool:
    has_letter, has_digit = _compiled("[A-Za-z]").search, _compiled("[0-9]").search
    return has_letter(value) is not None and has_digit(value) is not None


def _is_name(value: str) -> bool:
    """Words with short numbers at their ends, such as `oauth2_token` or `s3:region-1`."""
    parts = _compiled(r"[^A-Za-z0-9]+").split(value)
    return all(_compiled(r"[A-Za-z]*[0-9]{0,3}").fullmatch(part) for part in parts)


def _is_random(value: str) -> bool:
    return _is_mixed(value) and not _is_name(value) and not _is_stand_in(value)


def _secret_span(match: re.Match[str]) -> tuple[int, int]:
    return match.span(match.lastindex or 0)


def _secret(match: re.Match[str]) -> str:
    return match[match.lastindex or 0]


def _has_real_value(match: re.Match[str]) -> bool:
    return not _is_stand_in(_secret(match))


def _has_random_value(match: re.Match[str]) -> bool:
    return _is_random(_secret(match))


def _is_token(match: re.Match[str]) -> bool:
    """Words in small letters, such as the class `sk-loading-indicator-dots`, are not tokens."""
    return _compiled("[A-Z0-9]").search(match[0]) is not None


def _has_digit(match: re.Match[str]) -> bool:
    return _compiled("[0-9]").search(_secret(match)) is not None and _has_real_value(match)


def _is_assigned_secret(match: re.Match[str]) -> bool:
    """People choose passwords, so words will do; other secrets are made by machines."""
    value = _secret(match)
    if _compiled(r"\A\.?/|\s|://").search(value):
        return False
    if match["password"] is None:
        return _is_random(value)
    if _is_stand_in(value):
        return False
    is_shell = match["password"].isupper()
    return match["quote"] is not None or is_shell or (_is_mixed(value) and not _is_dotted(value))


def _is_dotted(value: str) -> bool:
    return "." in value and value.replace(".", "_").isidentifier()


# Kind, prefixes, the characters that follow, and at least how many of them.
_PREFIXED = (
    ("age", "AGE-SECRET-KEY-1", _ALNUM, 50),
    ("github", "ghp_ gho_ ghs_ ghu_ ghr_", _ALNUM, 36),
    ("github", "github_pat_", _URLSAFE, 36),
    ("gitlab", "glpat- glrt- gldt-", _DOTTED, 20),
    ("slack", "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- xapp-", _URLSAFE, 10),
    ("stripe", "sk_live_ rk_live_ sk_test_ rk_test_", _ALNUM, 16),
    ("stripe", "whsec_", _BASE64, 24),
    ("google", "AIza", _URLSAFE, 35),
    ("google", "ya29. GOCSPX-", _URLSAFE, 20),
    ("anthropic", "sk-ant-", _URLSAFE, 20),
    ("openai", "sk-proj- sk-svcacct- sk-admin- sk-or-v1-", _URLSAFE, 20),
    ("openai", "sk-", _ALNUM, 20),
    ("groq", "gsk_", _ALNUM, 40),
    ("xai", "xai-", _ALNUM, 40),
    ("huggingface", "hf_", _ALNUM, 30),
    ("npm", "npm_", _ALNUM, 36),
    ("pypi", "pypi-AgE", _URLSAFE, 40),
    ("docker", "dckr_pat_", _URLSAFE, 24),
    ("digitalocean", "dop_v1_ doo_v1_ dor_v1_", _HEX, 60),
    ("databricks", "dapi", _HEX, 32),
    ("linear", "lin_api_", _ALNUM, 32),
    ("notion", "secret_ ntn_", _ALNUM, 40),
    ("shopify", "shpat_ shpss_", _HEX, 32),
    ("vault", "hvs.", _URLSAFE, 24),
    ("twilio", "SK AC", _HEX, 32),
    ("mailgun", "key-", _HEX, 32),
)


def _prefixed(kind: str, prefixes: str, chars: str, least: int) -> _Rule:
    literals = tuple(prefixes.split())
    head = rf"{_WORD}(?:{'|'.join(map(re.escape, literals))}){chars}{{{least}}}"
    return _Rule(kind, literals, head, _many(chars), _is_token)


# Specific kinds before general ones: where two find the same secret, the first names it.
_RULES = (
    _Rule("private-key", ("-----BEGIN ",), _PEM_HEAD, _PEM_TAIL),
    *(_prefixed(*row) for row in _PREFIXED),
    _Rule("aws", ("AKIA", "ASIA"), rf"{_WORD}A[KS]IA[A-Z0-9]{{16}}(?![A-Za-z0-9])"),
    _Rule(
        "aws",
        ("ecret_access_key", "ecretAccessKey", "ECRET_ACCESS_KEY"),
        rf"(?i:ecret_?access_?key)(?:{_QUOTE})?{_BLANKS}[:=]{_BLANKS}(?:{_QUOTE})?({_BASE64}{{40}})",
        _many(_BASE64),
    ),
    _Rule(
        "slack",
        ("hooks.slack.com/",),
        rf"hooks\.slack\.com/[a-z]{{4,12}}/({_PATH}{{20}})",
        _many(_PATH),
    ),
    _Rule(
        "sendgrid",
        ("SG.",),
        rf"{_WORD}SG\.{_URLSAFE}{{16,32}}\.{_URLSAFE}{{32}}",
        _many(_URLSAFE),
    ),
    _Rule("telegram", (":AA",), rf"(?<=[0-9]{{8}}):(AA{_URLSAFE}{{32,33}})"),
    _Rule(
        "discord",
        ("/api/webhooks/",),
        rf"/api/webhooks/[0-9]{{15,22}}/({_URLSAFE}{{50}})",
        _many(_URLSAFE),
    ),
    _Rule(
        "jwt",
        ("eyJ",),
        rf"{_WORD}eyJ{_URLSAFE}{{10,512}}\.eyJ{_URLSAFE}{{5}}",
        rf"\.?{_URLSAFE}{{1,512}}+",
    ),
    _Rule(
        "azure",
        ("AccountKey=", "SharedAccessKey="),
        rf"[A-Za-z]{{10,15}}=({_BASE64}{{40}})",
        _many(_BASE64),
    ),
    _Rule("azure", ("sig=",), rf"(?<=[?&;])sig=({_QUERY}{{40}})", _many(_QUERY)),
    _Rule("azure", ("Q~",), r"(?<=[A-Za-z0-9_~.-]{3}[0-9])Q~([A-Za-z0-9_~.-]{31,34})"),
    _Rule("url-password", ("://",), _LOGIN_IN_URL, "", _has_real_value),
    _Rule(
        "authorization",
        ("uthorization", "UTHORIZATION"),
        _AUTHORIZATION,
        _many(_HTTP),
        _has_real_value,
    ),
    _Rule(
        "authorization",
        ("earer ", "EARER "),
        rf"(?i:earer)[ \t]{{1,4}}({_HTTP}{{16,512}}+)",
        _many(_HTTP),
        _has_digit,
    ),
    _Rule("secret", ("--",), _FLAG, _many(_BARE), _has_random_value),
    _Rule("secret", _NAME_PARTS, _ASSIGNED, _many(_BARE), _is_assigned_secret),
)

_KNOWN = _Rule("known", (), "")
_PLACEHOLDER = (
    r"\[redacted:(?:" + "|".join(sorted({rule.kind for rule in (_KNOWN, *_RULES)})) + r"):"
    r"[0-9a-f]{4}\]"
)


def redact(value: str, known: Iterable[str] = ()) -> str:
    """`value` with every secret replaced by `[redacted:kind:hash4]`.

    `known` values of 8 or more characters are replaced wherever they stand. Redacting twice is
    the same as redacting once.
    """
    known = tuple(known)
    if not known and not _any_literal().search(value):
        return value
    redactor = Redactor(known)
    return redactor.feed(value) + redactor.close()


@functools.cache
def _any_literal() -> re.Pattern[str]:
    """Found in every text that a rule looks at: four times as fast as to look for each literal."""
    return re.compile(_tree(sorted({literal for rule in _RULES for literal in rule.literals})))


def _tree(words: list[str]) -> str:
    """A pattern for any of these words that reads a common beginning once."""
    if "" in words:
        return ""  # one of them ends here, so whatever follows
    rest: dict[str, list[str]] = {}
    for word in words:
        rest.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(first) + _tree(more) for first, more in rest.items()]
    return f"(?:{'|'.join(branches)})"


class Redactor:
    """Redacts a text that arrives in chunks; the result does not depend on where it was cut.

    Between calls it holds at most the last `_STRIDE` characters and their context (more only for
    a longer known value). Of a secret that is still arriving, however long, only the hash is kept.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = tuple(sorted({value for value in known if len(value) >= _MIN_KNOWN}))
        longest = max(map(len, self._known), default=0)
        self._reach = max(_REACH, longest + 2 * _PLACEHOLDER_CHARS)
        self._text = ""
        self._done = 0  # what is before this in `_text` is context: emitted, or part of a secret
        self._kind = ""  # of the secret that ends at `_done` and may go on; "" when there is none
        self._hash: _Hash | None = None
        self._tail = ""
        self._out: list[str] = []

    def feed(self, chunk: str) -> str:
        """Take a chunk; return the text that no later chunk can change."""
        self._text += chunk
        if len(self._text) - self._done < self._reach + _STRIDE:
            return ""
        self._advance(len(self._text) - self._reach, is_end=False)
        keep_from = max(0, self._done - 2 * self._reach)
        self._text = self._text[keep_from:]
        self._done -= keep_from
        return self._emitted()

    def close(self) -> str:
        """Return the rest. The redactor is then as new."""
        self._advance(len(self._text), is_end=True)
        self._text, self._done = "", 0
        return self._emitted()

    def _advance(self, limit: int, *, is_end: bool) -> None:
        """Settle every secret that starts before `limit`, and emit the text up to there."""
        if self._tail and not self._swallow(is_end):
            return
        begin = max(0, self._done - self._reach)
        for hit in sorted(_hits(self._text, begin, self._known), key=_precedence):
            if hit.start >= limit:
                break
            if hit.end <= self._done:
                continue
            # Two that overlap are one: a rest of either would be a rest of a secret.
            if hit.start >= self._done:
                self._end_secret()
                self._out.append(self._text[self._done : hit.start])
                self._begin_secret(hit.rule.kind, hit.start)
            self._take(hit.end)
            self._tail = hit.rule.tail
            if self._tail and not self._swallow(is_end):
                return
        if is_end or self._done <= limit:
            self._end_secret()
            self._out.append(self._text[self._done : limit])
            self._done = max(self._done, limit)

    def _swallow(self, is_end: bool) -> bool:
        """Take what continues the secret; False when it may continue in the next chunk."""
        step = _compiled(self._tail)
        while is_end or self._done + self._reach <= len(self._text):
            match = step.match(self._text, self._done)
            if match:
                self._take(match.end())
            if not match or match.lastgroup == "end":
                self._tail = ""
                return True
        return False

    def _begin_secret(self, kind: str, start: int) -> None:
        import hashlib

        self._kind, self._hash, self._done = kind, hashlib.sha256(), start

    def _take(self, end: int) -> None:
        if self._hash is not None:
            self._hash.update(self._text[self._done : end].encode("utf-8", "surrogatepass"))
        self._done = end

    def _end_secret(self) -> None:
        if self._hash is not None:
            # 16 bits let equal secrets be recognised. They rule out all but one in 65,536 guesses
            # of a weak password, and leave any strong one out of reach.
            self._out.append(f"[redacted:{self._kind}:{self._hash.hexdigest()[:4]}]")
        self._kind, self._hash = "", None

    def _emitted(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        return text


def _precedence(hit: _Hit) -> tuple[int, int, int]:
    return hit.start, hit.order, -hit.end


def _hits(text: str, begin: int, known: tuple[str, ...]) -> Iterator[_Hit]:
    """Everything in `text` from `begin` that is a secret by itself, overlaps included.

    Each hit depends only on the characters near it, which is what makes streaming exact.
    """
    has_placeholders = "[redacted:" in text
    for value in known:
        for at in _places(text, value, begin):
            end = at + len(value)
            if not (has_placeholders and _meets_placeholder(text, at + 1, end - 1)):
                yield _Hit(at, end, 0, _KNOWN)
    for order, rule in enumerate(_RULES, 1):
        for literal in rule.literals:
            if text.find(literal, begin) >= 0:
                for match in _matches(rule, literal, text, begin):
                    # Next to a placeholder stands the rest of something already judged.
                    if not (has_placeholders and _meets_placeholder(text, *match.span())):
                        yield _Hit(*_secret_span(match), order, rule)


def _matches(rule: _Rule, literal: str, text: str, begin: int) -> Iterator[re.Match[str]]:
    head = _compiled(rule.head)
    for at in _places(text, literal, begin):
        match = head.match(text, at)
        if match is not None and (rule.check is None or rule.check(match)):
            yield match


def _places(text: str, literal: str, begin: int) -> Iterator[int]:
    at = text.find(literal, begin)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


def _meets_placeholder(text: str, start: int, end: int) -> bool:
    """Whether a placeholder overlaps or touches the characters from `start` to `end`."""
    first, last = max(0, start - _PLACEHOLDER_CHARS), end + _PLACEHOLDER_CHARS
    return any(
        found.start() <= end and found.end() >= start
        for found in _compiled(_PLACEHOLDER).finditer(text, first, last)
    )
