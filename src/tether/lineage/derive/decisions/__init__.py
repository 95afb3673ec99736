"""Decision files: what they say of decisions, tasks and code, as plain values and edges. Pure.

Texts are read as data. Nothing here looks at a clock, a disk or an index: who calls brings the
paths and the texts, `read` reads one file, `named` gives all of them names, `Register` knows which
decision a text means, `Tree` which files a name stands for, and `edges` puts that together.
"""

from tether.lineage.derive.decisions.edging import edges
from tether.lineage.derive.decisions.model import (
    Decision,
    Governed,
    Mentioned,
    Named,
    Passage,
)
from tether.lineage.derive.decisions.naming import Register, named
from tether.lineage.derive.decisions.places import is_decision_file
from tether.lineage.derive.decisions.reading import read
from tether.lineage.derive.decisions.suspecting import Suspected, suspected
from tether.lineage.derive.decisions.trees import Meant, Tree, matching, parts_of

__all__ = [
    "Decision",
    "Governed",
    "Meant",
    "Mentioned",
    "Named",
    "Passage",
    "Register",
    "Suspected",
    "Tree",
    "edges",
    "is_decision_file",
    "matching",
    "named",
    "parts_of",
    "read",
    "suspected",
]
