"""What Aider leaves in a project: its chats, its history of input, and the settings that move both."""
