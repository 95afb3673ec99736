"""What is found in commits, tasks, documents and records, as edges: each source by itself."""
