"""Pools of worker processes: how they were started, what they did, what all of them read."""
