"""What there is to do: tasks in files, their five states, and who may move them.

A task is `<id>.yaml` below the work directory. The directory and its `status` say where in the
lifecycle it is in this checkout; who has it is decided by its open claim, which the room `agents`
keeps. How tasks are shown, and what an agent should do next, is not known here.
"""
