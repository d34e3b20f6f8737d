"""What web and workers stand on: the contracts, the records, and the two ways of storing them."""
