"""What Cursor stores: its editor's databases, its command line's, transcripts of both, and a documented database."""
