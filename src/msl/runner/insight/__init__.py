"""What a run has found out, beside its winner.

- Which are the best models, and how far is the winner ahead of those that need no search? -> `leaderboard`, `baselines`
- How often were the rows looked at? -> `ledger`
- What mattered, and what should be changed in the spec? -> `look_back`, with `explain_model` and `suggestions`
"""
