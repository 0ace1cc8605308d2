//! Learns Tessera dictionaries from pictures.
