"""The release file: its tables and their schema, how it is read, and a first draft of one."""
