"""Testing: conformance suites for those who write parts of their own."""
