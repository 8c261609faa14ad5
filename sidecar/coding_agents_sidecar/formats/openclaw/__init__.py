"""What OpenClaw stores, in its three forms: files, a database, and JSON documents."""
