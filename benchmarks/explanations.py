"""Explanations: why a figure falls short, as far as it is understood; shown beneath the benchmark it belongs to."""

EXPLANATIONS: dict[str, str] = {
    "papers.psms": (
        "The swarm as the paper prints it (`clipped`) collapses: with an inertia above 1 and no bound on velocities its "
        "particles stay on the walls of the cube, and up to 96 % of its models have the learner that stands first "
        "(zarbi). `wall = reflect` cures that: it finds lower estimates, with a share for every learner, as in the "
        "paper's figure 2. What remains is the noise of 2-fold BER on 140 to 200 rows (it moves by 4 points with the "
        "seed of the folds): the lowest of 1,010 such estimates is optimistic, so single splits can be far off."
    ),
    "papers.sbm": (
        "Monk-3: opening the features alone gives the paper's model and figures (93.4 and 97.2). The search goes on to "
        "weights that are better in training and worse on the test rows: a few of the training labels of Monk-3 are "
        "wrong on purpose. The plain rows (reference, k, distance) hang on how ties between equal distances are "
        "broken, of which the paper says nothing."
    ),
}
