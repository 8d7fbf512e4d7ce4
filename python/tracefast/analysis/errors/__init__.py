"""Which calls failed: alike ones in one row, the searches of a program in one row each."""
