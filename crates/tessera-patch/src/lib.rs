//! Planes, colour and the partition of a plane into patches.
