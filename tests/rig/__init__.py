"""Real WordPress sites for the tests: a private database, the plugin linked and active, a fresh home folder for each test."""
