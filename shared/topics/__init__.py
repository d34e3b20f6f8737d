"""Topics: each fact about a video is copied to every subscription whose filter passes it, and waits there by itself."""
