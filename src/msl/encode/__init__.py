"""Between models of a space and points of the unit cube.

decode points, encode models          codec.space_to_codec, codec.Codec
what each dimension means             codec.space_to_layout, layout.Layout
random models, all models             sample.sample, sample.enumerate_models
how a node gets its dimensions        compile, which makes plans (value_plan, step_plan) that read columns
numbers as positions in [0, 1]        scale
draws by priors and weights           priors
"""
