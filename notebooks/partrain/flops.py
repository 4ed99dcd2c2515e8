"""Floating-point operations of a GPT, with the two terms that 6ND leaves out."""

from partrain.need import need_counts


def megatron_flops(batch, seq, layers, hidden, vocabulary, recompute=True):
    """Floating-point operations of one update of a GPT, attention (not causal) and logits included.

    batch: sequences an update; seq: tokens a sequence; recompute: whether the forward pass is run twice.
    Source: Megatron-LM, arXiv 2104.04473, equation 3; without recomputation arXiv 2205.05198, equation 7.
    """
    need_counts(batch=batch, seq=seq, layers=layers, hidden=hidden, vocabulary=vocabulary)
    forward = 24 * batch * seq * layers * hidden**2  # the matrices: 2 operations for each parameter and token
    attention = seq / (6 * hidden)  # as shares of the matrices
    passes = 4 if recompute else 3  # forward, backward (twice its work), forward again; logits are not run again
    logits = 3 / passes * vocabulary / (12 * layers * hidden)
    return float(passes * forward * (1 + attention + logits))
