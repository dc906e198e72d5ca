"""The command `msl`: `main.main` is its entry point, `verbs/` has one file per verb, `shared/` what verbs share."""
