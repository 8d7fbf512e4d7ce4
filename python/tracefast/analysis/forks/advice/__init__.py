"""What makes starting processes expensive or dangerous: cause, evidence and remedy.

A rule is a function that takes a `Case` and gives an `Advice`, or None where it does not apply or
the log has no evidence. Times that the tracer distorts are ranges.
"""
