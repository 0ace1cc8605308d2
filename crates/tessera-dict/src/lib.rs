//! The shared dictionary of the Tessera codec: atoms, predictors, priors, file format and store.
