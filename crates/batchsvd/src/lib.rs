//! Batchwise dictionary learning: Block OMP/OLS, BatchSVD and its baselines.
