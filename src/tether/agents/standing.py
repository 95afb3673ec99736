"""How a session is, whether it is still here or not."""

from __future__ import annotations

from tether.agents import lookout, model, roll


def of_agent(rows: roll.Rows, spot: lookout.Lookout, agent: model.Agent) -> tuple[str, str]:
    """Its state and the reason: alive, suspect, expired, dead, or `ended` if it said so itself."""
    if agent.is_here:
        verdict = spot.shown_verdict(agent)
        return verdict.state, verdict.reason
    if agent.status == "stale":
        return roll.retired(rows, agent.session_id)
    return "ended", "it has ended"


def of_session(rows: roll.Rows, spot: lookout.Lookout, session_id: str) -> tuple[str, str]:
    """The same; both empty for one that was never here."""
    agent = roll.get(rows, session_id) if session_id else None
    return of_agent(rows, spot, agent) if agent is not None else ("", "")
