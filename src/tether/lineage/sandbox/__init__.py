"""Grammars at work in a process that may hang or die without taking anybody along.

A grammar is native code and cannot be stopped from within. So a whole job ("trace this symbol")
runs in a child (`child`), which notes each file before it parses it (`recorder`). When the child
dies, the parent (`running`) reads the note, puts that file into quarantine and starts over. `jobs`
has what can be done, `guarded` how the child parses, `wire` what goes between the two. Whether an
answer is right is not known here.
"""

from tether.lineage.sandbox.jobs import Limits, Told
from tether.lineage.sandbox.running import Sandbox

__all__ = ["Limits", "Sandbox", "Told"]
