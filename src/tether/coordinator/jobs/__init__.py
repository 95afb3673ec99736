"""Jobs: pieces of work done by processes that outlive the coordinator which started them.

Each job has a directory `agents/<agent_id>/` and one wrapper process that runs its steps there:

    job.json      what to do; written once by whoever starts it
    lock          held by the wrapper, alone, for as long as it lives; others share it to look
    start.json    which process the wrapper is; written under the lock before anything runs
    output.log    what the steps said
    exit.json     what became of them; written under the lock when nothing of them runs any more
    abandoned     nothing may begin here any more; written under the shared lock
    wrapper.log   what the wrapper itself has to say, which is nothing when all is well

Whoever can share the lock knows that no wrapper runs, and that none begins while it is shared.
From this alone follows what a job is (`looking`): no clock, no pid and no memory is asked. An id is
used for one job and never again. What the work is about is not known here.
"""
