"""What adapters share, each module named after what it reads."""
