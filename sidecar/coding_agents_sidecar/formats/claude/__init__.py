"""What only Claude Code and the runtimes that store sessions as it does have in theirs."""
