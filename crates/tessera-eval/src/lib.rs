//! Metrics, peers, rate-distortion curves and the BatchSVD paper's experiments.
