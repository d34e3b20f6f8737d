"""One file a ticket kind, each with the one function that does its work; no file here knows another."""
