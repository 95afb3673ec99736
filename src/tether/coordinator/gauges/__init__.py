"""How much is left: of an agent's context, and of what its account may use.

Read from what agents write down themselves, or told by a command of the user's. Credentials are
nobody's business here: no key file is opened and no vendor is asked.
"""
