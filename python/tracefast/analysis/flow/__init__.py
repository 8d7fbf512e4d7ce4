"""Where data went, what files were for, and the named parts of a run."""
