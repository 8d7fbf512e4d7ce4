"""`files`, and the other tables about files: accesses, page cache, inode map."""
