"""The small words around the verbs by which tasks speak of one another. Data, all in small letters.

A statement is a row of words, with `ID` where an id stands.
"""

from __future__ import annotations

ID = "\1"
"""The word that stands where an id stands."""


def words(value: str) -> frozenset[str]:
    return frozenset(value.split())


# Around a verb

ADVERBS = words(
    "also now then thus therefore finally already again only just really both once later soon"
    " since still never not too even almost first half"
)
BE = words("was were is are been be being got gets get it's that's")
HAVE = words("has have had having did do does")
NEGATIONS = words("not never no nothing none neither nor without cannot nobody hardly")
MODALS = words(
    "would could should might may can will shall must ought maybe perhaps possibly probably"
    " potentially likely please wants want wanted needs need hopes hope plans planned lets let"
)
"""Where one of them stands before a verb in its clause, nothing is said to have been done."""
DOUBTS = words(
    "if unless whether instead rather considered considers consider considering proposal proposed"
    " proposes propose suggested suggests suggest option options alternative alternatives idea"
    " rejected rejects tried tries try attempted attempts attempt avoid avoids avoided avoiding"
    " says said say claims claimed claim thinks thought think believes believed asks asked wonder"
    " wonders wondering supposed supposedly allegedly discuss discussed discusses todo until before"
    " once when whenever how why question imagine suppose assuming provided check"
)
"""The same, wherever in the statement one of them stands before the verb."""
CONDITIONS = words("if unless provided assuming whether once until")
"""The same behind the verb; but `reverts X until …` only says for how long."""
ALMOST = words("almost nearly")
"""Right before the verb: it did not come to it."""
SURELY = words("certainly surely definitely")
"""What is almost so is in doubt."""

# Before a verb: who did it

PRONOUNS = words("this we i it these it's here")
OWN = words("this these our my")
"""`this rewrite`, `our table`: what the task itself did."""
DETERMINERS = words(
    "the a an its their our my his her your every each any all some previously recently already"
    " these those"
)
PREPOSITIONS = words(
    "after before since like unlike as than for to with on at until by about under over during"
    " of in from"
)
DECIDED = words("decided agreed")
FILED = words("filed opened created written tracked made started planned recorded")
LIGHT = FILED | words("a an as direct small short natural quick second first")
"""What stands between a subject and a noun: `X was opened as a follow-up`."""

# Behind a verb: what it was done to

WORK = words(
    "approach approaches change changes work task tasks ticket tickets issue issues story stories"
    " bug item items card fix fixes patch patches commit commits pr decision decisions plan design"
    " implementation version attempt solution effort idea ideas proposal feature merge step hotfix"
    " workaround rework rewrite refactoring draft interim foundation foundations groundwork"
)
"""What of a task stands for the task."""
GAP = WORK | words(
    "the a an our my old older earlier previous prior original initial first second whole entire of"
    " from in by made done begun started laid introduced landed shipped added both part parts most"
    " all half everything what entirely fully completely partly partially directly mostly : ( →"
)
"""What may stand between a verb and the id of the task that it is about."""
ROOTS = words(
    "test tests code review reviews run runs soak load benchmark benchmarks incident outage clean"
    " up cleanup findings numbers measurement measurements retro retrospective postmortem rollout"
    " release migration audit investigation experiment spike results"
)
"""What of a task brings further tasks about."""
WHILE = words(
    "while during when working on in reviewing testing implementing doing fixing debugging landing"
    " finishing writing reading building rebasing merging investigating"
)
FOUND = words("found noticed discovered saw hit turned learned uncovered spotted")
PROBLEMS = words(
    "bug bugs race races issue issues problem problems regression regressions defect defects flake"
    " flakes flakiness crash crashes failure failures error errors deadlock deadlocks leak leaks"
    " gap gaps hole holes mistake mistakes rewrite refactoring need idea task ticket work change"
    " fix redesign cleanup question slowness hang"
)
"""What one finds while working on something else."""
ADDED = words(
    "added introduced made brought shipped landed built wrote did put created changed moved"
)
CARRIED = words("in by with for from of as part")
NO_PART = words("to by with and or see as than if when for like at")
"""Where a description of what was done ends."""
ARTICLES = words("the a an its our their that this")
THINGS = words("style like era test tests timeout type")
"""`TASK-7 style edits` are none of TASK-7."""
FINITE = BE | HAVE | MODALS | words(
    "stays stay remains remain keeps keep follows gets goes comes still covers says took takes"
    " breaks broke means makes made adds"
)  # fmt: skip
"""Behind an id they begin a clause of its own."""
BEHIND = BE | HAVE | ADVERBS | words(
    "in on for with to from by at of and or but as because since so when while which that where"
    " after before during entirely fully completely today yesterday last this the via per than"
    " into over under within without again instead if unless once until"
)  # fmt: skip
"""What may follow `the X` if X is not there to say more of a noun."""
