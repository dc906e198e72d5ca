"""What several strategies share.

swarm        positions, velocities, personal bests and leaders of particle swarms
native_units the units that a swarm moves in: those of the cube, or of the values
mutation_and_crossover   variation of a population, and elitism
surrogate    a forest that predicts losses, and expected improvement
pareto       dominance, fronts, crowding, hypervolume, an ε-archive
initialise   first points, and points of models not seen before
"""
