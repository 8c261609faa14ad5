"""The sidecar's own SQLite file: what every source said, and the rows that follow from it. The only SQL for it."""
