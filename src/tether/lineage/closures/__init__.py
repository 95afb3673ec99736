"""Questions that people ask of the edges, each with a name, an opinion and typed results.

The walking is done by the database. Everything has a limit, cycles end, and what was left out is
said.
"""
