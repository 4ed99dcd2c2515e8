"""The hidden reference of the course: the right answers, and the wrong ones people give."""
