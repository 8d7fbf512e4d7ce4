"""Scripts that watch system calls, for the tools that people have.

No text of a log gets into a script but names of calls that have the form of a name in the kernel.
"""
