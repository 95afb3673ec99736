"""Who is who after a commit, by small files before and after it."""

from __future__ import annotations

from tether.lineage import changes, extracting, languages, matching, namesakes, sources

LOAD = """    def load(self, path, mode):
        handle = open_handle(path, mode)
        answer = handle.read_all()
        check_size(answer, self.limit)
        return decode(answer)
"""


def source(path: str, text: str) -> sources.Source:
    language = languages.of_path(path)
    assert language is not None
    data = text.encode()
    return sources.Source(path, data, extracting.extract(language, data))


def partners(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """What each symbol before is called after, where files keep their paths."""
    olds = [source(*each) for each in sorted(before.items())]
    news = [source(*each) for each in sorted(after.items())]
    paths = [each.path for each in news]
    pairs = [(n, paths.index(old.path)) for n, old in enumerate(olds) if old.path in paths]
    matcher = matching.Matcher(olds, news, pairs)
    matcher.run()
    return {
        olds[old[0]].symbols[old[1]].qualified: news[found.after[0]]
        .symbols[found.after[1]]
        .qualified
        for old, found in matcher.by_before.items()
    }


def in_one(before: str, after: str, path: str = "a.py") -> dict[str, str]:
    return partners({path: before}, {path: after})


def test_a_name_that_another_one_has_now_does_not_take_the_content_with_it() -> None:
    body = "    pmf = normal(prng.rand(n))\n    check(pmf)\n    return Scalar(pmf, base=n)\n"
    joint = "    words = product(range(size), repeat=length)\n    return Joint(list(words))\n"
    before = f"def random(n, prng):\n{body}\ndef random_joint(length, size):\n{joint}"
    after = f"def random_scalar(n, prng):\n{body}\ndef random(length, size):\n{joint}"
    assert in_one(before, after) == {"random": "random_scalar", "random_joint": "random"}


def test_a_name_stays_with_the_one_that_calls_its_old_content() -> None:
    after = "class A:\n" + LOAD.replace("load(", "load_raw(")
    after += "    def load(self, path):\n        return self.load_raw(path, 'r')\n"
    assert in_one("class A:\n" + LOAD, after)["A.load"] == "A.load"


def test_a_name_goes_to_one_that_does_much_else_beside_calling_its_old_content() -> None:
    after = "class A:\n" + LOAD.replace("load(", "load_file(")
    after += "    def load(self, *given):\n        first = given[0]\n"
    after += "        if isinstance(first, Stream):\n            return self.attach(first)\n"
    after += "        return self.load_file(*given)\n"
    assert in_one("class A:\n" + LOAD, after)["A.load"] == "A.load_file"
    more = after.replace("load(self, *given)", "load(self, path, mode, given)")
    assert in_one("class A:\n" + LOAD, more)["A.load"] == "A.load"


def test_a_short_function_is_known_by_the_calls_that_were_renamed() -> None:
    before = "def size(of):\n    return of.n\n\ndef use(x):\n    log(size(x))\n    return x\n"
    after = (
        "def amount(of, by=1):\n    return of.n\n\ndef use(x):\n    log(amount(x))\n    return x\n"
    )
    assert in_one(before, after)["size"] == "amount"


def test_the_only_ones_left_in_a_class_need_less_in_common() -> None:
    same = "        open_all(self.items)\n        self.count += len(self.items)\n"
    before = f"class A:\n    def first(self):\n{same}        return read(one, two, three)\n"
    after = f"class A:\n    def other(self, a):\n{same}        write(a.uno, a.due, b)\n"
    assert in_one(before, after)["A.first"] == "A.other"
    more = after + "    def third(self, b):\n        return close(b)\n"
    assert "A.first" not in in_one(before, more)


def test_a_class_without_a_body_moves_by_its_name_alone() -> None:
    before = {"core.py": "class IndexingError(Exception):\n    pass\n", "errors.py": "A = 1\n"}
    after = {"core.py": "B = 1\n", "errors.py": "class IndexingError(Exception):\n    x = 1\n"}
    assert partners(before, after)["IndexingError"] == "IndexingError"


def test_a_class_that_moved_and_was_renamed_is_known_by_its_members() -> None:
    inside = (
        LOAD + "\n    def close(self):\n        self.handle.close()\n        self.limit = None\n"
    )
    before = {"a.py": "class JsonReader:\n" + inside, "b.py": "A = 1\n"}
    changed = inside.replace("handle", "channel").replace("answer", "data")
    after = {"a.py": "B = 1\n", "b.py": "class JsonFileReader:\n" + changed}
    assert partners(before, after)["JsonReader"] == "JsonFileReader"


def test_the_order_of_files_decides_nothing() -> None:
    before = {f"{n}.py": f"def f{n}(a):\n    x = g(a)\n    return h{n}(x, a)\n" for n in range(4)}
    texts = [text.replace("def f", "def new_f") for text in before.values()]
    after = {f"{9 - n}.py": text for n, text in enumerate(texts)}
    found = partners(before, after)
    renamed = {f"z{9 - int(path[0])}.py": text for path, text in before.items()}
    assert partners(renamed, after) == found


def test_one_that_stands_between_the_same_neighbours_needs_less_in_common() -> None:
    first = "def first(a):\n    return open_first(a, 1)\n\n"
    last = "def last(z):\n    return close_last(z, 9)\n\n"
    more = "def more(b):\n    return amount(b, 5)\n\n"
    old = "def find(name, where):\n    known = where.tasks()\n    for each in known:\n"
    old += "        if each.name == name:\n            return each\n    raise Missing(name)\n\n"
    new = "def load(name, where):\n    known = where.tasks()\n    return known[name]\n\n"
    before = first + old + last
    assert in_one(before, first + new + last + more)["find"] == "load"
    assert "find" not in in_one(before, first + last + more + new)


def test_of_two_copies_the_one_between_the_same_neighbours_is_the_old_one() -> None:
    first = "def first(a):\n    return open_first(a, 1)\n\n"
    last = "def last(z):\n    return close_last(z, 9)\n\n"
    body = "    known = where.tasks()\n    check(known, limit)\n    return known[name]\n\n"
    before = f"{first}def find(name, where):\n{body}{last}"
    copy, kept = f"def copy(name, where):\n{body}", f"def kept(name, where):\n{body}"
    assert in_one(before, copy + first + kept + last)["find"] == "kept"
    assert in_one(before, first + copy + last + kept)["find"] == "copy"


def test_a_short_method_keeps_its_name_when_its_owner_is_called_otherwise() -> None:
    before = "draw.clip = function(ctx, to) {\n  ctx.save();\n  clip(to);\n};\n"
    before += "draw.unclip = function(ctx) {\n  ctx.restore();\n};\n"
    after = before.replace("draw.", "canvas.").replace("ctx.restore()", "ctx.restoreAll()")
    assert in_one(before, after, "a.js")["draw.unclip"] == "canvas.unclip"


def numbered(*bodies: tuple[int, str]) -> str:
    return "".join(
        f"def test_{number}():\n    one = make({word}, {word}_limit)\n"
        f"    check(one.{word}, one.size)\n    assert one.{word}() == [{word}, {word}_rest]\n\n"
        for number, word in bodies
    )


def test_names_that_move_up_by_one_leave_the_content_where_it_is() -> None:
    before = numbered((1, "red"), (2, "green"), (3, "blue"))
    after = numbered((1, "new"), (2, "red"), (3, "green"), (4, "blue"))
    told = {"test_1": "test_2", "test_2": "test_3", "test_3": "test_4"}
    assert in_one(before, after) == told


def test_a_rewritten_function_keeps_its_name_if_no_other_has_its_content() -> None:
    before = numbered((1, "red"))
    assert in_one(before, numbered((1, "new"), (2, "green"))) == {"test_1": "test_1"}


def test_of_overloads_the_one_with_the_same_parameters_stays_the_same() -> None:
    steps = "".join(f"p.write{n}(out{n}, limit{n}, a.{n}); " for n in range(20))
    body = f" {{ Pack p = open(a); {steps}}}\n"
    before = f"class A {{\n  void send(int a){body}}}\n"
    after = (
        "class A {\n  void send(int a) { Task t = new Task(a, now); queue.add(t); t.start(); }\n"
    )
    after += f"  void send(int a, boolean b){body}}}\n"
    olds, news = source("A.java", before), source("A.java", after)
    matcher = matching.Matcher([olds], [news], [(0, 0)])
    matcher.run()
    assert news.symbols[matcher.by_before[0, 1].after[1]].signature == "(int a)"


def test_of_many_that_moved_in_their_file_names_tell_who_is_compared() -> None:
    words = [4 * chr(97 + number) for number in range(25)]
    call = "limit, size, rest, more, other, depth, width, height"
    olds = [f"def load_{w}_user(self):\n    check(one, {w}, {call})\n" for w in words]
    news = [f"    def read_{w}_user(self):\n        check(two, {w}, {call})\n" for w in words]
    told = in_one("".join(olds), "class B:\n" + "".join(news))
    assert told == {f"load_{w}_user": f"B.read_{w}_user" for w in words}


def test_a_function_that_stays_in_its_file_needs_less_than_one_that_leaves_it() -> None:
    before = "class A:\n" + LOAD
    after = "def fetch(path, mode):\n    handle = open_handle(path, mode)\n"
    after += "    answer = handle.read_all(chunked)\n    return decode(answer, path)\n\n"
    after += "class A:\n    pass\n"
    assert in_one(before, after)["A.load"] == "fetch"
    moved = partners({"a.py": before}, {"a.py": "class A:\n    pass\n", "b.py": after[:150]})
    assert "A.load" not in moved


def test_a_test_that_gets_another_sentence_has_only_another_name() -> None:
    before = source("a.js", "it('adds up', () => {\n  check(cart.sum(), 3, limit);\n});\n")
    after = source("a.js", 'it("adds it", () => {\n  check(cart.sum(), 3, limit);\n});\n')
    assert changes.kinds(before, 0, after, 0, keeps_container=True) == ("rename",)


def test_how_sure_it_is_has_two_digits() -> None:
    body = "    first = read(a)\n    second = check(first)\n    return write(second)\n"
    before = source("a.py", f"def load(a):\n{body}")
    after = source("a.py", f"def store(a):\n{body.replace('check', 'test')}")
    matcher = matching.Matcher([before], [after], [(0, 0)])
    matcher.run()
    [found] = matcher.by_after.values()
    assert 0.5 < found.confidence < 1
    assert found.confidence == round(found.confidence, 2)


def test_of_very_many_with_one_name_each_keeps_its_place() -> None:
    before = "".join(f"## Fixed\n\n- thing {n} was wrong in some way\n\n" for n in range(400))
    after = before.replace("wrong", "bad")
    olds, news = source("a.md", before), source("a.md", after)
    matcher = matching.Matcher([olds], [news], [(0, 0)])
    matcher.run()
    assert {old: found.after for old, found in matcher.by_before.items()} == {
        (0, number): (0, number) for number in range(400)
    }
    group = namesakes.Group(olds, list(range(400)), news, list(range(400)))
    assert len(list(group.ranked())) <= namesakes.MAX_PAIRS


def test_of_very_many_that_lost_their_signature_each_content_is_found() -> None:
    numbers = range(60)
    body = "    value = a + {0}\n    return helper_{0}(value, a, limit_{0})\n\n\n"
    before = "".join(f"def fun_{n}(a):\n{body.format(n)}" for n in numbers)
    after = "".join(
        f"def fun_{n}(a, b):\n    return [a] * {n}\n\n\ndef new_{n}(a):\n{body.format(n)}"
        for n in numbers
    )
    assert in_one(before, after) == {f"fun_{n}": f"new_{n}" for n in numbers}


def test_renamed_classes_are_where_their_members_are() -> None:
    load = LOAD
    count = "    def count(self, words):\n        totals = {}\n        for word in words:\n"
    count += "            totals[word] = totals.get(word, 0) + 1\n        return totals\n"
    much = "".join(f"        step_{n}(self.limit, part_{n}, rest_{n})\n" for n in range(30))
    more = f"    def work(self):\n{much}"
    before = f"class First:\n{load}{more}\nclass Second:\n{count}{more}"
    after = f"class One:\n{count}\nclass Two:\n{load}"
    told = in_one(before, after)
    assert (told["First"], told["Second"]) == ("Two", "One")
    # A member of a name that both have tells nothing.
    same = "class {0}:\n    def run(self):\n        return start(self, {1}, limit, rest)\n"
    before = same.format("First", 1) + same.format("Second", 2)
    after = same.format("One", 3) + "    def more(self):\n        pass\n" + same.format("Two", 4)
    matcher = matching.Matcher([source("a.py", before)], [source("a.py", after)], [(0, 0)])
    matcher.match_names()
    assert not matcher.by_before
