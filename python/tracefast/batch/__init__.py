"""Many logs at once: each becomes a file of its own, and what is done is not done again.

`plan` names the logs and their outputs. `job` is the work on one log, which any process may do.
`manifest` records the result of each job. `pool` hands the jobs out, `runner` checks and runs the
whole batch, and `parse_many` is what users call.
"""
