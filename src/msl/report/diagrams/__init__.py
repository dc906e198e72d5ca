"""Diagrams of a space: `outline` describes it, `railway` draws it as SVG, `tree` as text."""
