"""The guided tour: five steps on the demo conversation, in the real app."""
