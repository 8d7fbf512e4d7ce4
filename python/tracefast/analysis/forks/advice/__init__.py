"""What makes starting processes dear or dangerous: rules that name cause, evidence and remedy.

A rule is a function that takes a `Case` and says something, or nothing: `None` where it does not
apply, or where the log has no evidence. Times that the tracer distorts are ranges.
"""
