"""Diagrams of a space: `outline` describes it, `draw_space` draws it as text or as SVG, with the `shapes` of a
railway diagram and `svg` to write them."""
