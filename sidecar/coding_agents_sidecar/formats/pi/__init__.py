"""What Pi and the runtimes built on it store, read once for all of them."""
