"""The process that may die: it takes jobs from its standard input until that ends.

Its parent keeps the other end open for as long as it lives, so this ends with it. A grammar that
hangs is ended by the limit of its time (`guarded`), parent or not.
"""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import threading

import msgspec

from tether import git
from tether.lineage import cache, encoding, library
from tether.lineage.sandbox import guarded, jobs, recorder, wire

_REQUEST = msgspec.msgpack.Decoder(jobs.Request)


def main(note_descriptor: int, answer_descriptor: int) -> None:
    """Do what comes."""
    # As the command line does: a job makes many objects, and hardly any of them in circles.
    gc.set_threshold(200_000)
    note = recorder.Recorder(note_descriptor)
    os.close(note_descriptor)
    os.set_inheritable(answer_descriptor, False)
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    with open(answer_descriptor, "wb") as out:
        while True:
            request = _REQUEST.decode(asked.get())
            wire.send(out.write, msgspec.msgpack.encode(_answer(request, note)))
            out.flush()


def _listen(asked: queue.SimpleQueue[bytes]) -> None:
    with open(0, "rb", closefd=False) as requests:
        while (request := wire.receive(requests.read)) is not None:
            asked.put(request)
    # Nobody waits for an answer any more, and whatever is written is written as a whole.
    os._exit(0)


def _answer(request: jobs.Request, note: recorder.Recorder) -> wire.Answer:
    limits = request.limits
    parser = guarded.Guarded(note, request.quarantined, limits.parse_seconds, limits.memory_bytes)
    answer = wire.Answer()
    try:
        note.beat()
        answer.result = msgspec.msgpack.encode(_do(request, parser, note))
    except Exception as problem:  # noqa: BLE001 - told to the parent, which raises it
        answer.problem = wire.problem_of(problem)
    answer.failed = [(*each[:2], encoding.path_out(each.path), each.why) for each in parser.failed]
    return answer


def _do(request: jobs.Request, parser: guarded.Guarded, note: recorder.Recorder) -> object:
    job = jobs.TABLE[request.job]
    arguments = msgspec.msgpack.decode(request.arguments, type=job.arguments)
    repository = git.Git(encoding.path_in(request.directory))
    with contextlib.ExitStack() as stack:
        outlines: library.Outlines = parser
        if request.store_dir:
            kept = cache.Cached(encoding.path_in(request.store_dir), parser)
            stack.callback(kept.close)
            outlines = kept
        files = guarded.WatchedLibrary(repository, outlines, parser, note)
        stack.callback(files.close)
        return job.do(files, arguments)
