"""What several strategies share.

swarm        positions, velocities, personal bests and leaders of particle swarms
variation    mutation, crossover, elitism
surrogate    a forest that predicts losses, and expected improvement
pareto       dominance, fronts, crowding, hypervolume, an ε-archive
initialise   first points, and points of models not seen before
simplex      the method of Nelder and Mead
"""
