"""The guided tour: seven steps on the demo conversation, in the real app."""
