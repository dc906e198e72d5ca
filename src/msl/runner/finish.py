"""Finish a run: fit the winner on all rows, and choose, evaluate and fit the ensemble in the time that is left.

The ensemble is used for predictions only if it is better than the best model alone, on rows held out from both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import sum_to_one
from msl.blocks.ensembles import (
    CommitteeClassifier,
    CommitteeRegressor,
    StackedCommitteeClassifier,
    StackedCommitteeRegressor,
    as_probabilities,
    stack_columns,
    voted,
)
from msl.evaluate.final_fits import COMMON_FOLDS, FitRequest, FittedModel
from msl.evaluate.metrics import score
from msl.evaluate.outcome import Failure, failure_of
from msl.runner.choose_members import (
    EnsembleMembers,
    Shortlist,
    VoteEstimate,
    choose_members,
    choose_voting,
    estimate_of_outputs,
    estimate_vote,
    make_members,
    objectives_of_votes,
    row_metric,
    shortlist,
    vote_estimates,
    vote_outputs,
)
from msl.runner.choose_winner import Candidate, Verdict, ranked_candidates
from msl.runner.confidence_intervals import (
    HeldOut,
    halves_requests,
    outputs_request,
    requested_resampling,
    reuses_outputs,
    row_estimates,
)
from msl.runner.corrected_estimate import Competition
from msl.runner.judged_outputs import DrawnChoice
from msl.runner.loop import SearchResult
from msl.runner.plan import Plan
from msl.runner.stored_ensembles import Allowance, EnsembleChoice, Greedy, Replay, Stack, Stacked
from msl.runner.time_limit import FinalTasks
from msl.runner.trained_model import Trained, trained_model
from msl.space.spec import Estimate
from msl.space.values import Model
from msl.workers.task import AnyTask

#: The number of best models that are tried: a run has no winner if none of them can be fitted on all rows.
_MOST_TRIED = 5
#: The share of the remaining time that the members of an ensemble may take, by prediction.
_MEMBERS_SHARE = 0.8

Committee = CommitteeClassifier | CommitteeRegressor | StackedCommitteeClassifier | StackedCommitteeRegressor
#: The held-out outputs of models, by model and estimate.
_Outputs = dict[tuple[Model, Estimate], tuple[Floats, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """The ensemble of a run, whether it is used to predict, and why. `estimate` is None if it was not evaluated."""

    members: EnsembleMembers
    is_used: bool
    why: str
    estimate: VoteEstimate | None = None
    test_outputs: Floats | None = None
    #: The choice of the members in draws of the rows, if they were chosen by stored outputs.
    replay: Replay | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Finished:
    """The result of a run: `used` is the model or ensemble for predictions, `best_alone` the best model if `used` is an
    ensemble.

    `held` are the held-out outputs of the best model, by estimate, and `test_outputs` those for the rows of a test
    table; `no_test` says why there are none. `failures` are those of better models that could not be fitted on all
    rows. `halves` are the outputs of the best model fitted on halves of the rows, where there was time for them.
    """

    best: Candidate
    used: Trained
    best_alone: Trained | None = None
    ensemble: Ensemble | None = None
    held: Mapping[Estimate, HeldOut] = field(default_factory=dict)
    test_outputs: Floats | None = None
    no_test: str = ""
    failures: tuple[Failure, ...] = ()
    warnings: tuple[str, ...] = ()
    halves: Mapping[Estimate, HeldOut] = field(default_factory=dict)


_NOTHING_KEPT = Competition(why="no outputs are kept")


def finish(
    plan: Plan,
    found: SearchResult,
    verdict: Verdict,
    tasks: FinalTasks,
    test_rows: Floats | None = None,
    among: Competition = _NOTHING_KEPT,
) -> Finished | Failure | None:
    """Finishes a run. Returns None if the search has no winner, and a failure if no model can be fitted on all rows.

    `among` are the models whose outputs are kept.
    """
    if verdict.best is None:
        return None
    return _Finish(plan, found, tasks, test_rows, among).finish(verdict.best)


class _Finish:
    def __init__(
        self, plan: Plan, found: SearchResult, tasks: FinalTasks, test_rows: Floats | None, among: Competition
    ) -> None:
        self._plan, self._found, self._tasks, self._test_rows, self._among = plan, found, tasks, test_rows, among
        self._outputs: _Outputs = {}
        self._fitted: dict[Model, FittedModel] = {}
        #: The ensemble that was chosen by stored outputs.
        self._chosen: Ensemble | None = None
        self._failures: list[Failure] = []
        self._warnings: dict[str, None] = {}

    def finish(self, best: Candidate) -> Finished | Failure:
        plan = self._plan
        listed = Shortlist(())
        if self._found.ending != "interrupted":  # whoever stops a run should only wait for its best model
            listed = shortlist(plan, self._found)
            listed = listed if listed.combine is not None else self._affordable(listed)
        winner = self._fit_winner(best, listed)
        if winner is None:
            return self._failures[0]
        fitted = self._fitted[winner.model]
        alone = trained_model(plan, winner.model, fitted.estimator)
        held = self._held_out(winner.model, row_estimates(plan), winner)
        ensemble = None if plan.spec.ensemble is None else self._ensemble(listed, winner)
        halves = self._halves(winner)
        messages = (tuple(self._failures), tuple(self._warnings))
        rest = (ensemble, held, fitted.outputs, fitted.no_outputs, *messages, halves)
        if ensemble is None or not ensemble.is_used:
            return Finished(winner, alone, None, *rest)
        committee = trained_model(plan, winner.model, self._committee(ensemble.members), ensemble.members)
        return Finished(winner, committee, alone, *rest)

    # --- the winner ---

    def _fit_winner(self, best: Candidate, listed: Shortlist) -> Candidate | None:
        """Fits the best model that can be fitted on all rows, and computes the outputs of members at the same time."""
        others = [one for one in ranked_candidates(self._plan, self._found) if one.model != best.model]
        for candidate in [best, *others][:_MOST_TRIED]:
            is_known = listed.combine is not None
            self._reuse_outputs(candidate)
            of_votes = vote_estimates(self._plan) if len(listed.candidates) > 1 and not is_known else []
            wanted = [(candidate.model, estimate) for estimate in [*row_estimates(self._plan), *of_votes]]
            if not listed.is_choice and not is_known:
                wanted += self._outputs_of_members(listed.candidates)
            fits = [FitRequest(candidate.model, self._test_rows)]
            if listed.combine is not None:
                self._chosen = self._chosen_by_outputs(listed, listed.combine, candidate)
                fits += self._missing_fits(self._chosen, candidate)
            self._run_tasks(fits, wanted, candidate)
            if candidate.model in self._fitted:
                return candidate
        return None

    def _reuse_outputs(self, candidate: Candidate) -> None:
        """Takes the outputs of a model from the store where there are many of them."""
        choice = self._among.choice
        if choice is None or choice.confirmed or candidate.repeats != 1 or not reuses_outputs(self._plan):
            return
        n_classes = self._plan.job.dataset.n_classes
        for one in choice.judged:
            if one.model == candidate.model and one.evaluation.inputs.repeat == candidate.repeat:
                for estimate, held in one.held.items():
                    if held.classes and self._plan.spec.ensemble is not None:
                        continue  # what votes may have to be probabilities
                    codes = n_classes and held.outputs[0].ndim == 1
                    pools = (np.eye(n_classes)[pool] if codes else pool.astype(np.float64) for pool in held.outputs)
                    self._outputs[candidate.model, estimate] = tuple(pools)

    def _outputs_of_members(self, candidates: Sequence[Candidate]) -> list[tuple[Model, Estimate]]:
        """The outputs that are needed to estimate the vote of these candidates."""
        if len(candidates) < 2:
            return []
        return [(one.model, estimate) for estimate in vote_estimates(self._plan) for one in candidates]

    def _run_tasks(
        self, fits: Sequence[FitRequest], wanted: Sequence[tuple[Model, Estimate]], scored: Candidate, needed: int = 1
    ) -> None:
        """Fits models, the first `needed` of them without a time limit, and computes outputs that are not known yet."""
        missing = [pair for pair in dict.fromkeys(wanted) if pair not in self._outputs]
        tasks: list[AnyTask] = [*fits, *(outputs_request(model, estimate, scored) for model, estimate in missing)]
        outcomes = self._tasks.run(tasks, needed=min(needed, len(fits)))
        for outcome in outcomes:
            self._warnings.update(dict.fromkeys(() if outcome is None else outcome.warnings))
        for place, (fit, outcome) in enumerate(zip(fits, outcomes, strict=False)):
            if outcome is not None and outcome.failure is not None:
                self._failures += [outcome.failure] if place < needed else []
            elif outcome is not None:
                self._fitted[fit.model] = outcome.product
        for pair, outcome in zip(missing, outcomes[len(fits) :], strict=True):
            if outcome is not None and outcome.failure is None:
                self._outputs[pair] = outcome.product

    def _held_out(self, model: Model, estimates: Sequence[Estimate], scored: Candidate) -> dict[Estimate, HeldOut]:
        """The held-out outputs of a model, by estimate, as far as they are known."""
        return {
            estimate: HeldOut(requested_resampling(self._plan, outputs_request(model, estimate, scored)), outputs)
            for estimate in estimates
            if (outputs := self._outputs.get((model, estimate))) is not None
        }

    def _halves(self, winner: Candidate) -> dict[Estimate, HeldOut]:
        """What the corrected estimate needs to know of the training rows, unless whoever stopped the run waits."""
        if self._found.ending == "interrupted":
            return {}
        requests = halves_requests(self._plan, winner)
        found: dict[Estimate, HeldOut] = {}
        for request, outcome in zip(requests, self._tasks.run(requests), strict=True):
            if outcome is not None and outcome.failure is None:
                found[request.estimate] = HeldOut(requested_resampling(self._plan, request), outcome.product)
        return found

    # --- the ensemble ---

    def _affordable(self, listed: Shortlist) -> Shortlist:
        """The shortlist without the candidates that there is no time for."""
        affordable = self._tasks.affordable(listed.candidates, _MEMBERS_SHARE)
        return replace(listed, candidates=tuple(affordable))

    def _ensemble(self, listed: Shortlist, winner: Candidate) -> Ensemble | None:
        """The ensemble that the spec asks for, with its members fitted if it is used."""
        if listed.combine is not None:
            return self._stored_ensemble(listed, listed.combine, winner)
        chosen = self._choose(listed, winner) if listed.is_choice else list(listed.candidates)
        always = self._plan.spec.ensemble is not None and bool(self._plan.spec.ensemble["always"])
        self._run_tasks([], self._outputs_of_members(chosen), winner)
        chosen = [one for one in chosen if always or self._has_outputs(one)]
        if len(chosen) < 2:
            return self._no_ensemble(winner)
        ensemble = self._compare_with_winner(chosen, winner, always)
        if not ensemble.is_used:
            return ensemble
        self._fit_members(ensemble.members, winner)
        fitted = [one for one in chosen if one.model in self._fitted]
        if len(fitted) < len(chosen) or ensemble.estimate is None:  # no time for the others, or they cannot be fitted
            ensemble = (
                self._compare_with_winner(fitted, winner, always) if len(fitted) > 1 else self._no_ensemble(winner)
            )
        return self._with_test_outputs(ensemble) if ensemble.is_used else ensemble

    def _fit_members(self, members: EnsembleMembers, winner: Candidate) -> None:
        models = dict.fromkeys(one.model for one in members.candidates)
        self._run_tasks([FitRequest(m, self._test_rows) for m in models if m not in self._fitted], [], winner, needed=0)

    def _missing_fits(self, ensemble: Ensemble, winner: Candidate) -> list[FitRequest]:
        """The fits of members beside the winner, if they are used."""
        models = dict.fromkeys(one.model for one in ensemble.members.candidates if ensemble.is_used)
        return [FitRequest(m, self._test_rows) for m in models if m != winner.model and m not in self._fitted]

    def _chosen_by_outputs(self, listed: Shortlist, combine: Greedy | Stack, winner: Candidate) -> Ensemble:
        """The ensemble that is chosen by stored outputs, before anything is fitted: so all fits are made at once."""
        alone = EnsembleMembers((winner,), (1.0,))
        choice = self._among.choice
        if choice is None or winner.model not in choice.models:
            return Ensemble(alone, False, f"nothing to choose members by: {self._among.why or 'its outputs are gone'}")
        if not objectives_of_votes(self._plan):
            return Ensemble(alone, False, "no objective can be computed for an ensemble from outputs that are kept")
        return self._choose_stored(listed.candidates, combine, winner, choice)

    def _stored_ensemble(self, listed: Shortlist, combine: Greedy | Stack, winner: Candidate) -> Ensemble | None:
        """The ensemble that was chosen by stored outputs, of members that are fitted."""
        ensemble, choice = self._chosen, self._among.choice
        if ensemble is None or not ensemble.is_used:
            return ensemble
        fitted = [one for one in listed.candidates if one.model in self._fitted]
        if any(one not in fitted for one in ensemble.members.candidates):  # no time for them, or they cannot be fitted
            assert choice is not None
            ensemble = self._choose_stored(fitted, combine, winner, choice)
        return self._with_test_outputs(ensemble) if ensemble.is_used else ensemble

    def _choose_stored(
        self, listed: Sequence[Candidate], combine: Greedy | Stack, winner: Candidate, among: DrawnChoice
    ) -> Ensemble:
        """The members among these candidates, and whether they are better than the winner on rows left out."""
        plan, tasks = self._plan, self._tasks
        always = plan.spec.ensemble is not None and bool(plan.spec.ensemble["always"])
        _, objective = objectives_of_votes(plan)[0]
        seconds = {one.model: 0.0 if one.model in self._fitted else tasks.costs.of_fit(one.model) for one in listed}
        # Never less than half of what there is: what follows is foretold with caution, and the last evaluation of a
        # search ends late.
        left = max(tasks.limit.left - tasks.costs.closing, tasks.limit.left / 2) * tasks.width
        if winner.model not in self._fitted:  # it is fitted at the same time, whatever that takes
            left, seconds[winner.model] = max(left - tasks.costs.of_fit(winner.model), left / 2), 0.0
        allowance = Allowance(seconds, left * _MEMBERS_SHARE)
        place = plan.objectives.index(objective)
        choice = EnsembleChoice(
            among, place, [one.model for one in listed], allowance, lambda gives: choose_voting(plan, gives)
        )
        if winner.model not in choice.models:
            why = "the store has the classes alone that the best model predicts: it was evaluated without an ensemble"
            return Ensemble(EnsembleMembers((winner,), (1.0,)), False, why)
        if len(choice.models) < 2:
            return self._no_ensemble(winner)
        try:
            return self._combined(choice, combine, listed, winner, always)
        except Exception as reason:  # of any class: that of a last learner, or of a metric, does not cost the run
            alone = EnsembleMembers((winner,), (1.0,))
            return Ensemble(alone, False, f"the ensemble fails with {failure_of(reason, '').message}")

    def _combined(
        self,
        choice: EnsembleChoice,
        combine: Greedy | Stack,
        listed: Sequence[Candidate],
        winner: Candidate,
        always: bool,
    ) -> Ensemble:
        """The members of a choice, and what draws of the rows say of them."""
        plan = self._plan
        name, objective = objectives_of_votes(plan)[0]
        models, combined = choice.combined(combine)
        by_model = {one.model: one for one in listed}
        members = EnsembleMembers(
            tuple(by_model[model] for model, weight in zip(models, combined.weights, strict=True) if weight),
            tuple(float(weight) for weight in combined.weights if weight),
            choice.voting,
            combined.final if isinstance(combined, Stacked) else None,
        )
        if len(members.candidates) < 2:
            return Ensemble(members, False, "no other model makes it better on the rows held out")
        replay = choice.replay(combine, plan.spec.budget.time)
        estimate = self._stored_estimate(members, choice, combine, winner)
        sign = 1.0 if objective.minimize else -1.0
        both = f"{name} {sign * replay.mean(replay.left_out):.4g} against {sign * replay.mean(replay.alone):.4g}"
        is_better = replay.ahead > 0.0
        why = f"better than the best model alone where both are chosen anew and judged on rows left out, {both}"
        if not is_better:
            why = f"{len(members.candidates)} models together are not better on rows left out, {both}"
        return Ensemble(members, is_better or always, _ALWAYS if always else why, estimate, replay=replay)

    def _stored_estimate(
        self, members: EnsembleMembers, choice: EnsembleChoice, combine: Greedy | Stack, winner: Candidate
    ) -> VoteEstimate:
        """The estimate of an ensemble on the rows that its members were judged on."""
        if members.final is not None:
            estimate = choice.estimate
            splits = requested_resampling(self._plan, outputs_request(winner.model, estimate, members.candidates[0]))
            stacked = HeldOut(splits, tuple(choice.judged_by_folds(combine)))
            alone = HeldOut(splits, choice.held_out(members.candidates[0].model, estimate))
            return estimate_of_outputs(self._plan, {estimate: stacked}, {estimate: alone})
        estimates = vote_estimates(self._plan)
        held = {}
        for estimate in estimates:
            splits = requested_resampling(self._plan, outputs_request(winner.model, estimate, members.candidates[0]))
            held[estimate] = [HeldOut(splits, choice.held_out(one.model, estimate)) for one in members.candidates]
        best = {estimate: each[0] for estimate, each in held.items()}
        return estimate_vote(self._plan, members, held, best)

    def _has_outputs(self, candidate: Candidate) -> bool:
        return all((candidate.model, estimate) in self._outputs for estimate in vote_estimates(self._plan))

    def _no_ensemble(self, winner: Candidate) -> Ensemble:
        if self._found.ending == "interrupted":
            why = "the run was interrupted before an ensemble was built"
        elif self._tasks.limit.seconds is not None and len(shortlist(self._plan, self._found).candidates) > 1:
            why = "there was no time left for other models beside it"
        else:
            why = "there is no other model that could vote with it"
        return Ensemble(EnsembleMembers((winner,), (1.0,)), False, why)

    def _choose(self, listed: Shortlist, winner: Candidate) -> list[Candidate]:
        """Members chosen by their outputs on `COMMON_FOLDS`, whose splits are not those of the search."""
        plan = self._plan
        self._run_tasks([], [(one.model, COMMON_FOLDS) for one in listed.candidates], winner)
        pool = [one for one in listed.candidates if (one.model, COMMON_FOLDS) in self._outputs]
        if len(pool) < 2:
            return pool
        rows = requested_resampling(plan, outputs_request(winner.model, COMMON_FOLDS, winner)).pools[0]
        metric = row_metric(plan)
        voting = choose_voting(plan, (sum_to_one(self._outputs[one.model, COMMON_FOLDS][0]) for one in pool))

        def vote(chosen: Sequence[Candidate]) -> Floats:
            members = EnsembleMembers(tuple(chosen), (1.0,) * len(chosen), voting)
            return vote_outputs(plan, members, [self._outputs[one.model, COMMON_FOLDS] for one in chosen])[0]

        def loss(outputs: Floats) -> float:
            value = score(metric, rows.y, outputs, rows.weights)
            return -value if metric.larger_is_better else value

        return choose_members(plan, replace(listed, candidates=tuple(pool)), vote, loss)

    def _compare_with_winner(self, chosen: Sequence[Candidate], winner: Candidate, always: bool) -> Ensemble:
        """The ensemble of these models: it is used if it is better than the winner, or if the spec says `always`."""
        plan = self._plan
        estimates = vote_estimates(plan)
        held_winner = self._held_out(winner.model, estimates, winner)
        if not all(map(self._has_outputs, chosen)) or held_winner.keys() != set(estimates):
            voting = choose_voting(plan, (self._gives_probabilities(one) for one in chosen))
            members = make_members(plan, chosen, voting)
            return Ensemble(members, always, _ALWAYS if always else "there was no time left to evaluate their vote")
        held = {
            estimate: [self._held_out(one.model, [estimate], winner)[estimate] for one in chosen]
            for estimate in estimates
        }
        gives = (sum_to_one(np.concatenate(one.outputs)) for one in held[estimates[0]])
        members = make_members(plan, chosen, choose_voting(plan, gives if plan.job.dataset.n_classes else ()))
        estimate = estimate_vote(plan, members, held, held_winner)
        figures = f"on rows held out from both, {estimate.metric} {estimate.ensemble:.4g} against {estimate.best:.4g}"
        why = f"better than the best model alone {figures}"
        if not estimate.is_better:
            why = f"the vote of {len(chosen)} models is not better {figures}"
        return Ensemble(members, estimate.is_better or always, _ALWAYS if always else why, estimate)

    def _gives_probabilities(self, candidate: Candidate) -> bool:
        """Whether a model gives probabilities; true if that is not known because it is not fitted."""
        fitted = self._fitted.get(candidate.model)
        return fitted is None or fitted.gives_probabilities

    def _committee(self, members: EnsembleMembers) -> Committee:
        fitted = [self._fitted[one.model] for one in members.candidates]
        n_classes = self._plan.job.dataset.n_classes
        if members.final is not None:
            stacked = StackedCommitteeClassifier if n_classes else StackedCommitteeRegressor
            gives = [one.gives_probabilities for one in fitted]
            return stacked.of_fitted([one.estimator for one in fitted], members.final, n_classes, gives)
        kind = CommitteeClassifier if n_classes else CommitteeRegressor
        gives = [one.gives_probabilities for one in fitted]
        return kind.of_fitted([one.estimator for one in fitted], members.weights, members.voting, n_classes, gives)

    def _with_test_outputs(self, ensemble: Ensemble) -> Ensemble:
        """The ensemble with its outputs for the rows of the test table, if there is one."""
        members, n_classes = ensemble.members, self._plan.job.dataset.n_classes
        fitted = [self._fitted[one.model] for one in members.candidates]
        outputs = [one.outputs for one in fitted if one.outputs is not None]
        if len(outputs) < len(fitted):
            return ensemble
        if members.voting == "soft" and n_classes:
            gives = [one.gives_probabilities for one in fitted]
            outputs = [as_probabilities(*each) for each in zip(outputs, gives, strict=True)]
        if members.final is not None:
            vote = members.final.outputs(stack_columns(outputs))
        else:
            vote = voted(outputs, members.weights, n_classes, members.voting)
        return replace(ensemble, test_outputs=vote)


_ALWAYS = "the spec says `always = true`"
