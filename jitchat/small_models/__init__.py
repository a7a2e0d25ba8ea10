"""Sub-calls: requests to a small model beside the one that answers. All of them are optional."""
