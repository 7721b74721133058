//! The domain has no dependencies with access to clock, network, disk or randomness.

use std::{collections::BTreeSet, process::Command};

/// The allowed dependencies. Before adding a crate, read its code: it must only compute.
const PURE: [&str; 33] = [
    // serialisation
    "itoa",
    "memchr",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "zmij",
    // hashing: SHA-256, HKDF
    "block-buffer",
    "cfg-if",
    "cmov",
    "const-oid",
    "cpufeatures",
    "crypto-common",
    "ctutils",
    "digest",
    "hkdf",
    "hmac",
    "hybrid-array",
    "sha2",
    "typenum",
    // ChaCha20 from a given key
    "ppv-lite86",
    "rand_chacha",
    "rand_core",
    "zerocopy",
    // values and errors
    "domain",
    "thiserror",
    "uuid",
    // run by the compiler only
    "proc-macro2",
    "quote",
    "syn",
    "thiserror-impl",
    "unicode-ident",
    "zerocopy-derive",
];

#[test]
fn dependencies_are_pure() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package=domain", "--edges=normal", "--prefix=none", "--format={p} {f}"])
        .args(["--offline", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    let used: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(used.contains("domain") && used.len() > 10, "cargo tree says: {tree}");

    let unknown: Vec<_> = used.iter().filter(|name| !PURE.contains(name)).collect();
    assert!(unknown.is_empty(), "not known to be pure: {unknown:?}");

    // Features that would add a source of randomness or a clock to pure crates.
    for line in tree.lines() {
        for feature in ["v4", "v7", "rng", "getrandom", "os_rng", "sys_rng"] {
            let features = line.rsplit(' ').next().unwrap_or_default().split(',');
            assert!(!features.into_iter().any(|f| f == feature), "{line}");
        }
    }
}

/// The standard library also has a clock, a disk and a network.
#[test]
fn sources_are_pure() {
    let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            for part in ["fs", "net", "io", "env", "process", "time", "thread", "os"] {
                let named =
                    [format!("std::{part}"), format!("    {part}::"), format!("{{{part}::")];
                let found = named.iter().find(|name| text.contains(name.as_str()));
                assert_eq!(found, None, "in {}", path.display());
            }
        }
    }
    assert!(files > 20, "the sources were found");
}
