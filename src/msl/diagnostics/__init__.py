"""What a check or a run reports to the user, as data, and how it is written.

- Which file and which characters? -> `source`: `Source`, `Span`, `Position`; `read_regular` reads files safely
- What is wrong? -> `diagnostic`: `Diagnostic`, `Severity`, `Label`, and `Report`, which collects them; `page` of a code
- How is it shown to people? -> `render`: `render`, `full`, `short`, `summary`; `terminal` makes text safe to print
- How is it written for other programs? -> `formats`: JSON, SARIF, GitHub workflow commands
- How does code report a user's mistake? -> `user_error`: `UserError`
- Which name was meant? -> `suggest`: `closest`, `did_you_mean`, `listing`
"""
