//! The root of a tree of hashes, built as they come (the tree of RFC 6962).

use sha2::{Digest, Sha256};

use crate::Hash;

/// A tree under construction: the roots of its complete parts, each with its height, the largest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree(Vec<(u32, Hash)>);

impl Tree {
    /// One more leaf. Parts of the same height become one.
    pub(crate) fn push(&mut self, leaf: &Hash) {
        let mut node = (0, hash(0, &[leaf]));
        while let Some(&(height, left)) = self.0.last() {
            if height != node.0 {
                break;
            }
            self.0.pop();
            node = (height + 1, hash(1, &[&left, &node.1]));
        }
        self.0.push(node);
    }

    /// The root of everything so far; of nothing it is zero.
    pub(crate) fn root(&self) -> Hash {
        let mut parts = self.0.iter().rev().map(|(_, part)| *part);
        let Some(last) = parts.next() else { return Hash::ZERO };
        parts.fold(last, |right, left| hash(1, &[&left, &right]))
    }
}

/// Leaves and nodes are told apart by their first byte.
fn hash(first: u8, parts: &[&Hash]) -> Hash {
    let mut hash = Sha256::new();
    hash.update([first]);
    for part in parts {
        hash.update(part.0);
    }
    Hash(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: split at the largest power of two below the length.
    fn root(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => Hash::ZERO,
            [leaf] => hash(0, &[leaf]),
            _ => {
                let split = leaves.len().next_power_of_two() / 2;
                hash(1, &[&root(&leaves[..split]), &root(&leaves[split..])])
            }
        }
    }

    #[test]
    fn is_the_tree_of_the_definition() {
        let leaves: Vec<Hash> = (0..70u8).map(|n| Hash([n; 32])).collect();
        let mut tree = Tree::default();
        for (n, leaf) in leaves.iter().enumerate() {
            assert_eq!(tree.root(), root(&leaves[..n]), "{n} leaves");
            tree.push(leaf);
        }
    }
}
