"""What is derived from files and Git, kept so that it need not be derived again.

One SQLite file in the store directory, always local, never synced to the disk on purpose: whatever
happens to it, it is made anew and gives the same answers. Who cannot have its lock works in memory.
"""

from tether.index.database import FILE_NAME, Index
from tether.index.parsed import Parsed, Reader, Record, choose, stamp

__all__ = ["FILE_NAME", "Index", "Parsed", "Reader", "Record", "choose", "stamp"]
