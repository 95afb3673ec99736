"""What can be seen from here: looks at an agent's process and asks the pure judge."""

from __future__ import annotations

from collections.abc import Callable

from tether import clock, config, host
from tether.agents import liveness, model
from tether.hints import NamedTuple


class Lookout(NamedTuple):
    """A place to look from, with its eyes, its running time and its patience."""

    here: host.Here
    host_name: str = host.name()
    limits: liveness.Limits = liveness.Limits()
    human_stale_ms: int = 604_800_000
    beat_ms: int = 15_000
    lease_ms: int = 900_000
    observe: Callable[[int], host.Sighting] = host.observe
    monotonic_ms: Callable[[], int] = host.monotonic_ms

    def verdict(self, agent: model.Agent, stale_ms: int | None = None) -> liveness.Verdict:
        """Is this agent alive, as far as can be seen? `stale_ms` replaces the usual patience."""
        process = agent.process
        can_look = liveness.can_look(process, self.here)
        evidence = liveness.Evidence(
            process=process,
            here=self.here,
            sighting=self.observe(process.pid) if process is not None and can_look else None,
            silent_ms=self.silent_ms(agent),
            lease_ms=clock.parse(agent.lease_until) - clock.parse(agent.last_beat_at),
            running_ms=self.monotonic_ms(),
        )
        return liveness.judge(evidence, self._limits_for(agent, stale_ms))

    def shown_verdict(self, agent: model.Agent) -> liveness.Verdict:
        """`verdict` for people: of a row that is damaged nothing is known."""
        try:
            return self.verdict(agent)
        except ValueError:
            return liveness.Verdict("suspect", "its row in the store is damaged")

    def silent_ms(self, agent: model.Agent) -> int:
        """How long ago its last beat was."""
        then = liveness.Moment(
            clock.parse(agent.last_beat_at), agent.beat_boot_id, agent.beat_monotonic_ms
        )
        now = liveness.Moment(clock.parse(agent.read_at), self.here.boot_id, self.monotonic_ms())
        return liveness.elapsed_ms(then, now)

    def patience_ms(self, agent: model.Agent) -> int:
        """How long this agent may be silent before anybody looks."""
        return self.human_stale_ms if agent.kind == model.HUMAN else self.limits.stale_ms

    def beat(self) -> dict[str, object]:
        """What a statement that writes a beat needs to know."""
        return {
            "lease_ms": self.lease_ms,
            "beat_boot_id": self.here.boot_id,
            "beat_monotonic_ms": self.monotonic_ms(),
        }

    def lost_pid(self, agent: model.Agent) -> int | None:
        """The pid of a process that is certainly over, although its agent goes on."""
        is_lost = agent.process is not None and self.verdict(agent).is_certain
        return agent.pid if is_lost else None

    def lease(self) -> dict[str, object]:
        """What a statement that renews leases needs to know: those of one beat ago are fresh."""
        return {"lease_ms": self.lease_ms, "fresh_ms": self.lease_ms - self.beat_ms}

    def _limits_for(self, agent: model.Agent, stale_ms: int | None) -> liveness.Limits:
        patience_ms = self.patience_ms(agent) if stale_ms is None else stale_ms
        return self.limits._replace(stale_ms=patience_ms)


def of(settings: config.Settings) -> Lookout:
    """The lookout of this process."""

    def ms(name: str) -> int:
        return settings.integer(name) * 1000

    return Lookout(
        here=host.here(),
        limits=liveness.Limits(
            stale_ms=ms("agents.stale_seconds"),
            grace_ms=ms("agents.grace_seconds"),
            namespace_grace_ms=ms("agents.namespace_grace_seconds"),
        ),
        human_stale_ms=ms("agents.human_stale_seconds"),
        beat_ms=ms("agents.beat_seconds"),
        lease_ms=ms("agents.lease_seconds"),
    )
