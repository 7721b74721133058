//! A new migration is part of the binary: cargo must know.

#![allow(clippy::print_stdout, reason = "this is how a build script speaks")]

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
