//! Whole games, played by a simple policy.
