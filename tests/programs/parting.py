"""Refactorings after which there are more or fewer symbols than before, made of the same lines."""

from __future__ import annotations

from tests.programs import hands
from tests.programs.hands import Hand, Links
from tests.programs.model import Function, Statement
from tests.programs.truth import Link


def extract(hand: Hand) -> Links | None:
    """Some statements become a function that is called in their place."""
    function = hand.function(at_least=6)
    if function is None:
        return None
    body = function.body
    count = hand.chance.randint(3, len(body) // 2)
    place = hand.chance.randint(0, len(body) - count)
    part = Function(hand.words.id(), hand.words.function_name(), body=body[place : place + count])
    call = Statement("call", "", part.name, (hand.words.argument(),), part.id)
    function.body = (*body[:place], call, *body[place + count :])
    hand.touch(part)
    hands.place_after(hand.program, function, part)
    return [Link("split_from", function.id, part.id)]


def inline(hand: Hand) -> Links | None:
    """The statements of a function take the place of its only call, and it is gone."""
    by_id = {each.id: each for each in hand.program.functions() if hand.is_free(each)}
    chosen = hand.pick(
        (host, by_id[each.calls])
        for host in by_id.values()
        for each in host.body
        if each.calls in by_id
        and len(by_id[each.calls].statements) >= 3
        and by_id[each.calls] is not host
    )
    if chosen is None:
        return None
    host, callee = chosen
    hand.touch(host, callee)
    place = next(n for n, each in enumerate(host.body) if each.calls == callee.id)
    host.body = (*host.body[:place], *callee.body, *host.body[place + 1 :])
    hands.remove(hand.program.home_of(callee), callee)
    return [Link("inlined_into", callee.id, host.id)]


def split_function(hand: Hand) -> Links | None:
    """The smaller part of a function becomes another one, and the larger part keeps the name."""
    function = hand.function(at_least=8)
    if function is None:
        return None
    body = function.body
    place = len(body) - hand.chance.randint(3, len(body) // 2 - 1)
    part = Function(hand.words.id(), hand.words.function_name(), body=body[place:])
    function.body = body[:place]
    hand.touch(part)
    hands.place_after(hand.program, function, part)
    return [Link("split_from", function.id, part.id)]
