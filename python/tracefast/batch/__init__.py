"""Parse many logs, each into a file of its own, and skip those that are already done.

`plan` names the logs and their outputs. `job` is the work on one log, which any process may do.
`manifest` records the result of each job. `pool` hands the jobs out, `runner` checks and runs the
whole batch, and `parse_many` is what users call. `threads` is for tables of many logs, too.
"""
