"""Session files of Copilot CLI: logs of events, and the single documents that came before them."""
