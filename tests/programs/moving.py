"""Refactorings after which symbols are elsewhere, or look otherwise without any reason."""

from __future__ import annotations

import posixpath

from tests.programs import hands, model
from tests.programs.hands import Hand, Links
from tests.programs.model import Function


def move_function(hand: Hand) -> Links | None:
    function = hand.function(is_top=True)
    return None if function is None else _move(hand, function)


def move_and_rename(hand: Hand) -> Links | None:
    function = hand.function(is_top=True)
    if function is None or _move(hand, function) is None:
        return None
    function.name = hand.new_name(function.name)
    return []


def move_rename_edit(hand: Hand) -> Links | None:
    """All at once, with a statement of eight changed."""
    function = hand.function(at_least=8, is_top=True)
    if function is None or _move(hand, function) is None:
        return None
    function.name = hand.new_name(function.name)
    hands.edit(hand, function, len(function.statements) // 8)
    return []


def move_method(hand: Hand) -> Links | None:
    """To another class, which has no such method."""
    pairs = [
        (source, method, target)
        for source in hand.program.classes()
        for method in source.methods
        for target in hand.program.classes()
        if target is not source
        and hand.is_free(method)
        and method.name not in model.names_in(target.methods)
    ]
    chosen = hand.pick(pairs)
    if chosen is None:
        return None
    source, method, target = chosen
    source.methods.remove(method)
    target.methods.insert(hand.chance.randint(0, len(target.methods)), method)
    hand.touch(method)
    return []


def rename_file(hand: Hand) -> Links | None:
    chosen = hand.files(1)
    if chosen is None:
        return None
    chosen[0].path = hand.words.path(posixpath.dirname(chosen[0].path))
    return []


def rename_directory(hand: Hand) -> Links | None:
    folder = hand.pick(
        posixpath.dirname(each.path) for each in hand.program.files if hand.is_free(*each.items)
    )
    if folder is None:
        return None
    files = [each for each in hand.program.files if posixpath.dirname(each.path) == folder]
    if not all(hand.is_free(*each.items) for each in files):
        return None
    new = hand.words.folder()
    for file in files:
        file.path = f"{new}/{posixpath.basename(file.path)}"
        hand.touch(*file.items)
    return []


def split_file(hand: Hand) -> Links | None:
    """The last ones of its symbols become a file of their own."""
    chosen = hand.files(1)
    if chosen is None or len(chosen[0].items) < 2:
        return None
    place = hand.chance.randint(1, len(chosen[0].items) - 1)
    path = hand.words.path(posixpath.dirname(chosen[0].path))
    hand.program.files.append(model.File(path, chosen[0].items[place:]))
    del chosen[0].items[place:]
    return []


def merge_files(hand: Hand) -> Links | None:
    chosen = hand.files(2)
    if chosen is None:
        return None
    one, other = chosen
    if model.names_in(one.items) & model.names_in(other.items):
        return None
    one.items += other.items
    hand.program.files = [each for each in hand.program.files if each is not other]
    return []


def reorder(hand: Hand) -> Links | None:
    """Everything, inside its file or class, and the files."""
    for file in hand.program.files:
        hand.chance.shuffle(file.items)
    for each in hand.program.classes():
        hand.chance.shuffle(each.methods)
    hand.chance.shuffle(hand.program.files)
    return []


def swap_methods(hand: Hand) -> Links | None:
    chosen = hand.pick(each for each in hand.program.classes() if len(each.methods) > 1)
    if chosen is None:
        return None
    one, other = hand.chance.sample(range(len(chosen.methods)), 2)
    methods = chosen.methods
    methods[one], methods[other] = methods[other], methods[one]
    return []


def reformat(hand: Hand) -> Links | None:
    """Everything, in another style."""
    style = hand.program.style
    hand.program.style = model.Style(
        indent={2: 4, 4: 2}.get(style.indent, 4),
        width=hand.chance.choice([each for each in (50, 70, 90) if each != style.width]),
        blank_lines=3 - style.blank_lines,
        has_trailing_commas=hand.chance.random() < 0.5,
    )
    return []


def _move(hand: Hand, function: Function) -> Links | None:
    source = hand.program.file_of(function)
    target = hand.other_file(source, function.name)
    if target is None:
        return None
    hands.remove(source.items, function)
    target.items.insert(hand.chance.randint(0, len(target.items)), function)
    return []
