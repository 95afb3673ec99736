"""What was taken out of functions and put into them, by small files before and after."""

from __future__ import annotations

from tests.unit.lineage.test_matching import source
from tether.lineage import matching, parting

WHOLE = """def report(orders):
    total = sum(order.price for order in orders)
    print(title(orders))
    send(total, currency(orders))
"""


def links(before: dict[str, str], after: dict[str, str]) -> set[tuple[str, str, str]]:
    olds = [source(*each) for each in sorted(before.items())]
    news = [source(*each) for each in sorted(after.items())]
    paths = [each.path for each in news]
    pairs = [(n, paths.index(old.path)) for n, old in enumerate(olds) if old.path in paths]
    matcher = matching.Matcher(olds, news, pairs)
    matcher.run()
    return {
        (each.relation, each.before.qualified, each.after.qualified)
        for each in parting.matches(matcher)
        if each.relation != "same" and each.before and each.after
    }


def in_one(before: str, after: str, path: str = "a.py") -> set[tuple[str, str, str]]:
    return links({path: before}, {path: after})


def test_what_is_taken_out_may_call_its_variables_otherwise() -> None:
    after = """def report(orders):
    total = amount(orders)
    print(title(orders))
    send(total, currency(orders))

def amount(items):
    return sum(item.price for item in items)
"""
    assert in_one(WHOLE, after) == {("split_from", "report", "amount")}


def test_a_call_stands_where_a_constructor_of_a_like_type_stood() -> None:
    before = "class T { void test() { final FileWorker w = new FileWorker(); w.run(); } }"
    after = """class T { void test() { final FileWorker w = makeWorker(); w.run(); }
  FileWorker makeWorker() { return new QuickFileWorker(); } }"""
    assert in_one(before, after, "T.java") == {("split_from", "T.test", "T.makeWorker")}


def test_what_is_taken_out_of_what_is_taken_out_is_of_the_first_too() -> None:
    after = """def report(orders):
    finish(orders)

def finish(orders):
    total = amount(orders)
    print(title(orders))
    send(total, currency(orders))

def amount(orders):
    return sum(order.price for order in orders)
"""
    found = in_one(WHOLE, after)
    assert ("split_from", "report", "amount") in found


def test_a_function_of_another_file_is_not_meant_where_one_of_its_name_is() -> None:
    before = {"a.py": "def test():\n    page = Page(1, 2)\n    page.show()\n", "b.py": "A = 1\n"}
    helper = "\n\ndef page_of(a):\n    return Page(a, 2)\n"
    after = {
        "a.py": "def test():\n    page = page_of(1)\n    page.show()\n" + helper,
        "b.py": "class B:\n    def page_of(a):\n        return Page(a, 2)\n",
    }
    assert links(before, after) == {("split_from", "test", "page_of")}


def test_commas_inside_of_types_are_not_between_parameters() -> None:
    before = "class T { void a(Map<String, Long> m) { int n = m.size(); show(n, m.get(1)); } }"
    after = """class T { void a(Map<String, Long> m) { tell(m, 1); }
  void tell(Map<String, Long> all, int key) { int n = all.size(); show(n, all.get(key)); } }"""
    assert in_one(before, after, "T.java") == {("split_from", "T.a", "T.tell")}


def test_a_constructor_calls_another_one_that_has_its_content_now() -> None:
    before = "class T { T(int a) { check(a); this.a = a; open(a, limit); } }"
    after = """class T { T(int a) { this(a, 0); }
  T(int a, int b) { check(a); this.a = a; open(a, limit); } }"""
    assert in_one(before, after, "T.java") == {("split_from", "T.T", "T.T")}


def test_the_second_half_of_a_function_is_split_from_it_though_nobody_calls_it() -> None:
    lines = [f"    step_{n}(alpha, beta_{n})\n" for n in range(8)]
    before = "def whole(alpha):\n" + "".join(lines)
    after = f"def whole(alpha):\n{''.join(lines[:4])}\ndef half(alpha):\n{''.join(lines[4:])}"
    assert in_one(before, after) == {("split_from", "whole", "half")}


def test_a_remark_before_the_first_statement_is_no_part_of_the_body() -> None:
    lines = [f"    step_{n}(alpha_{n})\n" for n in range(9)]
    before = "def whole():\n" + "".join(lines)
    after = f"def whole():\n{''.join(lines[:6])}\ndef half():\n    # Then.\n{''.join(lines[6:])}"
    assert in_one(before, after) == {("split_from", "whole", "half")}


def test_what_was_put_into_its_caller_is_told() -> None:
    before = "def run(a):\n    prepare(a)\n    return go(a)\n\n"
    before += "def prepare(x):\n    clean(x.name)\n    lock(x, 3)\n"
    after = "def run(a):\n    clean(a.name)\n    lock(a, 3)\n    return go(a)\n"
    assert in_one(before, after) == {("inlined_into", "prepare", "run")}


def test_a_question_over_several_lines_is_one_statement() -> None:
    before = {
        "a.js": "function draw(s) {\n  var top = s < 0 ? low(s, 0) : high(s, 0);\n}\n",
        "b.js": "",
    }
    after = {
        "a.js": "function draw(s) {\n  var top = limit(s);\n}\n",
        "b.js": """function limit(s) {
  return s.isOpen ? 0 :
    low < 0 && high < 0 ? high :
    low > 0 && high > 0 ? low : s.first(s.last());
}
""",
    }
    assert links(before, after) == set()


def test_the_member_of_a_parameters_name_is_not_the_parameter() -> None:
    before = """class Bill {
  Bill(Order order, Tax tax) {
    this.total = order.sum().plus(tax.of(order));
    print(order);
  }
}"""
    after = """class Bill {
  Bill(Order order, Tax tax) {
    this(order.sum().plus(tax.of(order)), null);
    print(order);
  }
  Bill(Money total, Date due) {
    this.total = total;
    this.due = due;
  }
}"""
    assert in_one(before, after, "Bill.java") == {("split_from", "Bill.Bill", "Bill.Bill")}


def test_what_is_given_to_a_call_tells_nothing_of_what_is_called() -> None:
    before = """class A { void go() {
  var job = new Job(new Step(left, right, top, bottom));
  job.run();
} }"""
    after = """class A { void go() {
  var job = Job.maker().setStart(new Step(left, right, top, bottom)).make();
  job.run();
} }"""
    maker = "class M {\n M setStart(Step value) {\n this.start = value;\n return this;\n }\n}"
    assert links({"A.java": before}, {"A.java": after, "M.java": maker}) == set()


def test_the_same_numbers_say_nothing() -> None:
    before = {
        "a.js": "function sum(all) {\n  var up = 0, down = 0;\n  add(all, up);\n}\n",
        "b.js": "",
    }
    after = {
        "a.js": "function sum(all) {\n  var up = start(), down = up;\n  add(all, up);\n}\n",
        "b.js": "function start() {\n  var x = 0, y = 0;\n  return x + y;\n}\n",
    }
    assert links(before, after) == set()


def test_a_function_like_another_that_does_not_call_it_is_not_of_it() -> None:
    before = """def test_one():
    book = open_book("one", pages=3, lines=20)
    book.turn(first, 3, 20)
    assert book.read() == "end of one"
"""
    after = """def test_one():
    book = open_book("one", pages=4)
    assert book.read() == "four of one"

def test_two():
    book = open_book("two", pages=3, lines=20)
    book.turn(second, 3, 20)
    assert book.read() == "end of two"
"""
    assert in_one(before, after) == set()


def test_a_statement_that_only_calls_does_not_stand_for_any_that_is_gone() -> None:
    before = """function plan(box) {
  var given = this.chart.options;
  show(box);
}
"""
    after = """function plan(box) {
  show(box);
  attach(box);
}
function attach(box) {
  var title = new Title({ ctx: box.ctx, options: 1, chart: box });
  box.title = title;
}
"""
    assert in_one(before, after, "a.js") == set()


def test_a_call_on_a_class_is_of_that_class() -> None:
    before = {"A.java": "class A { void a(B b) { String t = text(b, 7); b.tell(b.turn(t, 7)); } }"}
    after = {
        "A.java": "class A { void a(B b) { String t = text(b, 7); Turner.turn(b, t, 7); } }",
        "Turner.java": "class Turner { static void turn(B b, String t, int n) { go(t).to(b); } }",
        "Other.java": "class Other { void turn(B b, String t, int n) { b.tell(b.turn(t, n)); } }",
    }
    assert links(before, after) == set()


def test_a_call_on_super_is_of_what_the_class_is_built_on() -> None:
    before = """class Base:
    pass

class Part(Base):
    def __init__(self, size, name):
        self.size = limited(size, 10)
        self.name = name
"""
    after = """class Base:
    def __init__(self, size):
        self.size = limited(size, 10)

class Part(Base):
    def __init__(self, size, name):
        super().__init__(size)
        self.name = name

class Other(Base):
    def __init__(self, size):
        self.size = limited(size, 10)
        self.when = moment(place, time)
"""
    assert in_one(before, after) == {("split_from", "Part.__init__", "Base.__init__")}


def test_a_constructor_is_not_called_by_who_only_says_this() -> None:
    before = """class T {
  T() {
  }
  void load() {
    Kind kind = kindOf(name, 3);
    this.all = kind.all();
  }
}"""
    after = """class T {
  T() {
  }
  T(String name) {
    Kind kind = kindOf(name, 3);
  }
  void load() {
    this.all = this.kind.all();
  }
}"""
    assert in_one(before, after, "T.java") == set()


def test_who_makes_something_in_another_file_stands_where_it_was_made() -> None:
    before = {
        "A.java": "class A { Pool a() { return new Pool(size); } }",
        "B.java": "class B { void b() { use(new Pool(3)); } }",
        "C.java": "class C { void c() { use(other.size()); } }",
        "Pool.java": "class Pool { Pool(int size) { this.size = size; } }",
    }
    after = {
        "A.java": "class A { Pool a() { return Pool.of(size); } }",
        "B.java": "class B { void b() { use(Pool.of(3)); } }",
        "C.java": "class C { void c() { use(Pool.of(4)); } }",
        "Pool.java": """class Pool {
  Pool(int size) { this.size = size; }
  static Pool of(int size) { return new Pool(Limits.check(size), new Clock()); }
}""",
    }
    assert links(before, after) == {
        ("split_from", "A.a", "Pool.of"),
        ("split_from", "B.b", "Pool.of"),
    }


def test_what_is_gone_from_two_classes_went_up_to_what_they_are_built_on() -> None:
    one = "class One extends Base { boolean isLive() { return A.equals(kind) || B.equals(kind); } }"
    two = "class Two extends Base { boolean isLive() { return B == kind || list.has(kind); } }"
    other = "class Other { boolean isLive() { return rows.stream().any(row::live); } }"
    before = {"1.java": one, "2.java": two, "3.java": other, "B.java": "class Base { int a; }"}
    after = {
        "1.java": "class One extends Base { }",
        "2.java": "class Two extends Base { }",
        "3.java": "class Other { }",
        "B.java": "class Base { int a; boolean isLive() { return kinds(kind).live(); } }",
    }
    assert links(before, after) == {
        ("merged_into", "One.isLive", "Base.isLive"),
        ("merged_into", "Two.isLive", "Base.isLive"),
    }


def test_what_is_gone_went_down_to_what_is_built_on_its_class() -> None:
    heir = "class {}(Base):\n    b = 2\n"
    before = "class Base:\n    a = 1\n    def area(self, unit):\n"
    before += "        shape = outline(self.width, self.height)\n        return unit.of(shape)\n"
    before += heir.format("Disc") + heir.format("Ring")
    after = "class Base:\n    a = 1\n" + heir.format("Disc")
    after += "    def area(self, *, unit):\n        return circles.get(3 * radius, default=unit)\n"
    after += heir.format("Ring") + "    def area(self, a, b):\n        yield from rings(a, b, 7)\n"
    assert in_one(before, after) == {("split_from", "Base.area", "Disc.area")}


def test_what_only_holds_a_function_has_its_content() -> None:
    before = """function isSized() {
  return {
    compare: function (actual, size) {
      if (!actual || !(actual instanceof Chart)) { fail(actual); }
      return actual.size === size;
    }
  };
}
"""
    after = """function isChart() {
  return {
    compare: function (actual) {
      if (!actual || !(actual instanceof Chart)) { fail(actual); }
    }
  };
}
function isSized() {
  return {
    compare: function (actual, size) {
      isChart().compare(actual);
      return actual.size === size;
    }
  };
}
"""
    assert ("split_from", "isSized.compare", "isChart") in in_one(before, after, "a.js")


def test_copies_become_one_under_another_name() -> None:
    start = "    data = open(path).read()\n    check(data, path)\n    log.info('loaded')\n"
    before = f"def load_json(path):\n{start}    return json.loads(data)\n\n"
    before += f"def load_yaml(path):\n{start}    return yaml.safe_load(data)\n\n"
    before += "def size(path):\n    return os.stat(path).st_size\n"
    after = f"def load(path, kind):\n{start}    if kind == 'json':\n"
    after += "        return json.loads(data)\n    return yaml.safe_load(data)\n"
    [(relation, gone, survivor)] = in_one(before, after)
    assert (relation, survivor) == ("merged_into", "load")
    assert gone in ("load_json", "load_yaml")


def test_two_statements_that_say_much_are_split_from_their_function() -> None:
    start = "def load(path):\n    data = open(path).read()\n    check(data, path, limit)\n"
    end = "    log.info(loaded, path, size)\n    return decode(data, encoding, errors)\n"
    assert in_one(start + end, f"{start}\ndef decoded():\n{end}") == {
        ("split_from", "load", "decoded")
    }
    short = "    log.info(path)\n    return data\n"
    assert in_one(start + short, f"{start}\ndef decoded():\n{short}") == set()


def test_word_for_word_it_says_more_than_its_calls_do() -> None:
    body = "    first = open(path).read()\n    check(first, limit, path)\n"
    body += "    log.info(loaded, path, size)\n    return decode(first, encoding)\n"
    other = "class B:\n    def load(self, one):\n        return one\n"
    before = {
        "a.py": "def start(path):\n    begin(path)\n    load(path)\n    end(path)\n",
        "b.py": f"def load(path: str, limit: int, size: int, encoding: str):\n{body}\n{other}",
    }
    after = {"a.py": f"def start(path):\n    begin(path)\n{body}    end(path)\n", "b.py": other}
    assert ("inlined_into", "load", "start") in links(before, after)
