"""What Hermes Agent stores: a database for each profile, and transcripts of the time before it."""
