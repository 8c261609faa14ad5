"""What Goose stores: a database, and files of the time before it."""
