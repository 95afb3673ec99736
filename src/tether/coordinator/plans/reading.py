"""Where plans come from: a file in Markdown or YAML, in the checkout or named by a full path."""

from __future__ import annotations

import os

from tether import errors, files
from tether.coordinator.plans import document, markdown, model
from tether.coordinator.plans.checking import check, together
from tether.coordinator.plans.encoding import decode, digest, encode

__all__ = ["MAX_BYTES", "check", "decode", "digest", "encode", "parse", "read", "together"]

MAX_BYTES = 4 * 1024 * 1024
_MARKDOWN = (".md", ".markdown")
_YAML = (".yaml", ".yml")


def read(top: str, path: str) -> tuple[model.Plan, list[model.Problem]]:
    """A plan, and what is wrong with how it is written; `check` says what is wrong with the rest.

    A relative path is meant from the top of the checkout. Only a full one may lead out of it.
    """
    if not path.lower().endswith((*_MARKDOWN, *_YAML)):
        raise errors.UsageError(
            "A plan is a file in Markdown or YAML. Nothing was changed.",
            hint=f"Its name ends with {', '.join((*_MARKDOWN, *_YAML))}.",
        )
    name = _from_top(top, path)
    if os.path.isabs(name):
        directory, leaf = os.path.split(name)
        raw = files.Root(directory).read_bytes(leaf, MAX_BYTES)
    else:
        raw = files.Root(top).read_bytes(name, MAX_BYTES)
    return parse(name, raw)


def parse(name: str, raw: bytes) -> tuple[model.Plan, list[model.Problem]]:
    """What the content of a file says. Nothing raises."""
    if name.lower().endswith(_YAML):
        title, tasks, problems = document.read(raw)
        return model.Plan(name, title, tasks), problems
    try:
        content = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        return model.Plan(name, "", ()), [model.Problem(line, "it is not UTF-8 text")]
    title, tasks, problems = markdown.read(content)
    return model.Plan(name, title, tasks), problems


def _from_top(top: str, path: str) -> str:
    """A path from the top of the checkout, if it lies in it."""
    if not os.path.isabs(path):
        return os.path.normpath(path)
    # The way to the checkout may lead through links; what is in it may not.
    place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    inside = os.path.relpath(place, os.path.realpath(top))
    return path if inside.split("/")[0] == ".." else inside
