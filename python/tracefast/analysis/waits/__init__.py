"""Who waits for whom: waits, those who can never go on, and pairs of waiter and waker."""
