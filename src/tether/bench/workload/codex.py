"""Rollouts of Codex CLI, in the shapes that version 0.166.0 writes."""

from __future__ import annotations

import random

from tether.bench.workload import claude, model, stamps, transcripts, truth

SOURCE = "codex:rollout"
_LINE = '{"timestamp":"%s","ordinal":%d,"type":"%s","payload":%s}\n'
_META = (
    '{"session_id":"%s","id":"%s","timestamp":"%s","cwd":"%s","runtime_workspace_roots":["%s"],'
    '"originator":"codex_exec","cli_version":"0.166.0","source":"exec","thread_source":"user",'
    '"model_provider":"openai","history_mode":"paginated","git":{"commit_hash":"%040x",'
    '"branch":"main"}}'
)
_USER = (
    '{"type":"message","id":"msg_%s","role":"user","content":[{"type":"input_text","text":"%s"}],'
    '"internal_chat_message_metadata_passthrough":{"turn_id":"%s","content_item_kinds":'
    '["user.text"]}}'
)
_AGENT = (
    '{"type":"message","status":"completed","id":"msg_%s","role":"assistant","content":[{"type":'
    '"output_text","text":"%s","annotations":[]}],"internal_chat_message_metadata_passthrough":'
    '{"turn_id":"%s","content_item_kinds":["unknown"]}}'
)
_ITEM = (
    '{"type":"item_completed","thread_id":"%s","turn_id":"%s","item":{"type":"%s","id":"%s",%s},'
    '"started_at_ms":%d,"completed_at_ms":%d}'
)
_TOKENS = (
    '{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,'
    '"cache_write_input_tokens":0,"output_tokens":%d,"reasoning_output_tokens":10,"total_tokens":%d'
    '},"model_context_window":258400},"rate_limits":{"limit_id":"codex","limit_name":null,"primary":'
    '{"used_percent":37.5,"window_minutes":300,"resets_at":%d},"secondary":{"used_percent":12.0,'
    '"window_minutes":10080,"resets_at":%d},"plan_type":null,"rate_limit_reached_type":null}}'
)
_TURN = (
    '{"type":"%s","turn_id":"%s","root_turn_id":"%s","started_at":%d,"model_context_window":258400,'
    '"collaboration_mode_kind":"default"}'
)
_RAN = "Chunk ID: %06x\\nWall time: 0.0000 seconds\\nProcess exited with code 0\\nOutput:\\n%s"


class Page:
    """One rollout, while it is written."""

    def __init__(
        self,
        place: claude.Place,
        session: model.Session,
        world: transcripts.World,
        note: truth.Truth,
        rng: random.Random,
    ) -> None:
        self._place = place
        self._session = session
        self._world = world
        self._truth = note
        self._rng = rng
        self._turn = session.uuid
        self._ordinal = 0
        self._tokens = 4000
        self.lines = self.tagged = self.messages = 0

    @property
    def counts(self) -> claude.Counts:
        return claude.Counts(self.lines, self.tagged, self.messages)

    def begin(self, at: int) -> None:
        session, root = self._session.uuid, self._place.root
        head = self._rng.getrandbits(160)
        stamp = stamps.millis(at)
        self._line(at, "session_meta", _META % (session, session, stamp, root, root, head))

    def put(self, at: int, step: transcripts.Step) -> None:
        """Write one step. What is said stands there twice, with one time."""
        form = step.form
        if form in (transcripts.TEXT, transcripts.THOUGHT):
            self._message(at, step, "AgentMessage", "assistant")
        elif form == transcripts.PROMPT:
            self._start_turn(at)
            self._message(at, step, "UserMessage", "user")
        elif form == transcripts.COMPACT:
            payload = f'{{"message":"{step.text}","replacement_history":[],"window_number":1}}'
            self._line(at, "compacted", payload)
            self.messages += 1
            self._tell(at, step)
        else:
            self._run(at, step)

    def rest(self, at: int) -> None:
        """The turn is over."""
        turn, began = self._turn, at // 1000
        self._line(at, "event_msg", _TURN % ("task_complete", turn, turn, began))

    def dangle(self, at: int) -> None:
        """A command is called, and nothing comes back."""
        self._call(at, "make test", f"{self._rng.getrandbits(32):08x}")

    def _start_turn(self, at: int) -> None:
        turn = f"{self._rng.getrandbits(128):032x}"
        self._turn = f"{turn[:8]}-{turn[8:12]}-7{turn[13:16]}-8{turn[17:20]}-{turn[20:]}"
        values = (self._turn, self._turn, at // 1000)
        self._line(at, "event_msg", _TURN % ("task_started", *values))

    def _message(self, at: int, step: transcripts.Step, item: str, role: str) -> None:
        number = f"{self._rng.getrandbits(32):08x}"
        kind = "text" if role == "user" else "Text"
        content = f'"content":[{{"type":"{kind}","text":"{step.text}"}}]'
        self._line(at, "event_msg", self._item(at, item, number, content))
        template = _USER if role == "user" else _AGENT
        self._line(at, "response_item", template % (number, step.text, self._turn))
        self.messages += 1
        self._tell(at, step, lines=2)
        self._place.keep(role, step.text, at)

    def _run(self, at: int, step: transcripts.Step) -> None:
        rng, pools = self._rng, self._world.pools
        call = f"{rng.getrandbits(32):08x}"
        is_output = step.form == transcripts.OUTPUT
        command = "git log --oneline" if is_output else rng.choice(pools.commands)
        output = step.text if is_output else rng.choice(pools.outputs)
        self._call(at, command, call)
        if not is_output and rng.random() < 0.3:
            self._change(at, call)
        answer = _RAN % (rng.getrandbits(24), output)
        payload = f'{{"type":"function_call_output","id":"fco_{call}","call_id":"call_{call}",'
        self._line(at + 40, "response_item", f'{payload}"output":"{answer}"}}')
        self.messages += 1
        self._tell(at + 40, step)
        self._count(at + 41)

    def _call(self, at: int, command: str, call: str) -> None:
        inner = command.replace("\\", "\\\\").replace('"', '\\"')
        payload = (
            f'{{"type":"function_call","status":"completed","id":"fc_{call}","name":"exec_command",'
            f'"arguments":"{{\\"cmd\\": \\"{inner}\\"}}","call_id":"call_{call}"}}'
        )
        self._line(at, "response_item", payload)
        self.messages += 1

    def _change(self, at: int, call: str) -> None:
        path = f"{self._place.root}/{self._rng.choice(self._world.pools.paths)}"
        code = self._rng.choice(self._world.pools.codes)
        changes = f'"changes":{{"{path}":{{"type":"update","unified_diff":"{code}"}}}}'
        item = self._item(at, "FileChange", f"call_{call}", f'{changes},"status":"completed"')
        self._line(at, "event_msg", item)

    def _count(self, at: int) -> None:
        self._tokens += 900
        used = (self._tokens, self._tokens // 2, self._tokens // 9, self._tokens * 10 // 9)
        resets = (at // 1000 + 3 * 3600, at // 1000 + 5 * 86400)
        self._line(at, "event_msg", _TOKENS % (*used, *resets))

    def _item(self, at: int, item: str, number: str, content: str) -> str:
        return _ITEM % (self._session.uuid, self._turn, item, number, content, at, at)

    def _tell(self, at: int, step: transcripts.Step, lines: int = 1) -> None:
        for task, kind in step.found:
            self._truth.note(task, kind, at, SOURCE, self._place.path, self._session.project)
        if step.found:
            self.tagged += lines
        if step.trap:
            named = [task for task, _ in step.found]
            self._truth.trap(step.trap, where=self._place.path, at=stamps.millis(at), tasks=named)

    def _line(self, at: int, kind: str, payload: str) -> None:
        self._place.write(_LINE % (stamps.millis(at), self._ordinal, kind, payload))
        self._ordinal += 1
        self.lines += 1
