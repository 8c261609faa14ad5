"""The session files of Continue, of today and of 2023, and the list of them that lies beside."""
