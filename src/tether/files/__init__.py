"""The only writer of files: atomic, durable, inside its root, and never through a link.

`Root` is a directory that nothing leaves; `Lock` is a lock that dies with its process and says who
holds it. What the bytes mean is not known here. After any crash a file is exactly an old or a new
version; a line that was being appended may be torn, and the next append sets the torn bytes aside.
"""

from tether.files.locks import Holder, Lock, holder
from tether.files.root import TEMP_PREFIX, Root, dress_like, make_directory_like
from tether.files.system import mode_like

__all__ = [
    "TEMP_PREFIX",
    "Holder",
    "Lock",
    "Root",
    "dress_like",
    "holder",
    "make_directory_like",
    "mode_like",
]
