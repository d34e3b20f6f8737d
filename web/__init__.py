"""What people and programs meet: pages, the JSON API, and the delivery of media."""
