"""Many logs at once: each becomes a file of its own, and what is done is not done again.

`plan` says what the logs are and how their outputs are named, `job` is the work on one of them,
which any process may do, `manifest` keeps what became of it, `pool` hands the work out, and `many`
is what users call.
"""
