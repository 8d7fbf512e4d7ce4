"""What is worth a change in a program, or in how it was recorded: finding, evidence, advice.

A rule is a function that takes the tables of one log (`log.Log`) and gives findings, or nothing
where it does not apply or where the log has no evidence. `registry.RULES` lists all of them.
"""
