"""Report: spaces and runs made visible — pictures, tables and texts for people."""
