"""Refactorings that leave symbols where they are: names, content, and what comes and goes."""

from __future__ import annotations

import dataclasses

from tests.programs import hands, model
from tests.programs.hands import Hand, Links
from tests.programs.model import Statement

# Names


def rename_function(hand: Hand) -> Links | None:
    function = hand.function()
    if function is None:
        return None
    function.name = hand.new_name(function.name)
    return []


def rename_class(hand: Hand) -> Links | None:
    chosen = hand.pick(each for each in hand.program.classes() if hand.is_free(each))
    if chosen is None:
        return None
    hand.touch(chosen)
    chosen.name = hand.words.class_name()
    return []


def rename_constant(hand: Hand) -> Links | None:
    chosen = hand.pick(
        each
        for each in hand.program.items()
        if isinstance(each, model.Constant) and hand.is_free(each)
    )
    if chosen is None:
        return None
    hand.touch(chosen)
    chosen.name = hand.words.constant_name()
    return []


def rename_and_edit(hand: Hand) -> Links | None:
    """With at most a third of the statements changed."""
    function = hand.function(at_least=6)
    if function is None:
        return None
    function.name = hand.new_name(function.name)
    hands.edit(hand, function, len(function.statements) // 3)
    return []


# Content


def edit_body(hand: Hand) -> Links | None:
    function = hand.function(at_least=2)
    if function is None:
        return None
    hands.edit(hand, function, max(1, len(function.statements) // 3))
    return []


def edit_doc(hand: Hand) -> Links | None:
    chosen = hand.pick(each for each in hand.program.symbols() if each.doc and hand.is_free(each))
    if chosen is None:
        return None
    hand.touch(chosen)
    chosen.doc = f"{hand.words.sentence(5).capitalize()}."
    return []


def edit_note(hand: Hand) -> Links | None:
    """Add a comment, or change the one that is there."""
    function = hand.function(at_least=2)
    if function is None:
        return None
    body = [each for each in function.body if each.kind != model.NOTE]
    body.insert(hand.chance.randrange(len(body)), hand.maker.note())
    function.body = tuple(body)
    return []


def edit_fields(hand: Hand) -> Links | None:
    chosen = hand.pick(each for each in hand.program.classes() if hand.is_free(each))
    if chosen is None:
        return None
    hand.touch(chosen)
    chosen.fields = (*chosen.fields, hand.words.variable() + "_more")
    return []


def decorate(hand: Hand) -> Links | None:
    """Add a decorator, or take the one away that is there."""
    function = hand.function()
    if function is None:
        return None
    function.decorators = () if function.decorators else (hand.maker.decorator(),)
    return []


def change_signature(hand: Hand) -> Links | None:
    """Add, remove or rename a parameter; what a renamed one was used for is renamed too."""
    function = hand.function(at_least=2)
    if function is None:
        return None
    parameters = list(function.parameters)
    place = hand.chance.randint(0, len(parameters))
    what = hand.chance.choice(("add", "remove", "rename"))
    if what == "add" or place == len(parameters):
        parameters.insert(place, hand.maker.parameter())
    elif what == "remove":
        del parameters[place]
    else:
        old, new = parameters[place], hand.maker.parameter()
        parameters[place] = old._replace(name=new.name)
        function.body = tuple(_renamed(each, old.name, new.name) for each in function.body)
    function.parameters = tuple(parameters)
    return []


# What comes and goes


def add_function(hand: Hand) -> Links | None:
    home = hand.pick([*(file.items for file in hand.program.files)])
    function = hand.maker.function()
    hand.touch(function)
    if home is not None:
        home.insert(hand.chance.randint(0, len(home)), function)
    return []


def delete_function(hand: Hand) -> Links | None:
    function = hand.function()
    if function is None:
        return None
    hands.remove(hand.program.home_of(function), function)
    return []


def duplicate(hand: Hand) -> Links | None:
    """The copy has a name of its own, and the original stays what it is."""
    function = hand.function(at_least=4)
    if function is None:
        return None
    copy = dataclasses.replace(function, id=hand.words.id(), name=hand.words.function_name())
    hand.touch(copy)
    hands.place_after(hand.program, function, copy)
    return []


def _renamed(each: Statement, old: str, new: str) -> Statement:
    return each._replace(arguments=tuple(new if word == old else word for word in each.arguments))
