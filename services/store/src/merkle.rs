//! An incremental Merkle tree (RFC 6962).

use sha2::{Digest, Sha256};

use crate::Hash;

/// A tree under construction: the roots of its complete subtrees with their heights, largest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree(Vec<(u32, Hash)>);

impl Tree {
    /// Adds a leaf and merges subtrees of equal height.
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

    /// The root so far; zero for an empty tree.
    pub(crate) fn root(&self) -> Hash {
        let mut parts = self.0.iter().rev().map(|(_, part)| *part);
        let Some(last) = parts.next() else { return Hash::ZERO };
        parts.fold(last, |right, left| hash(1, &[&left, &right]))
    }
}

/// The inclusion proof of a leaf: the sibling hashes from the leaf to the root.
pub(crate) fn path(leaves: &[Hash], index: usize) -> Vec<Hash> {
    if leaves.len() < 2 {
        return Vec::new();
    }
    let split = leaves.len().next_power_of_two() / 2;
    let (left, right) = leaves.split_at(split);
    let (mut way, beside) =
        if index < split { (path(left, index), right) } else { (path(right, index - split), left) };
    way.push(root_of(beside));
    way
}

fn root_of(leaves: &[Hash]) -> Hash {
    let mut tree = Tree::default();
    for leaf in leaves {
        tree.push(leaf);
    }
    tree.root()
}

/// The root that a leaf and its proof lead to; `None` if they do not fit a tree of this size.
pub(crate) fn root_of_path(leaf: &Hash, index: u64, size: u64, path: &[Hash]) -> Option<Hash> {
    if index >= size {
        return None;
    }
    let (mut index, mut size, mut lefts) = (index, size, Vec::new());
    while size > 1 {
        let split = size.checked_next_power_of_two()? / 2;
        let left = index < split;
        lefts.push(left);
        (index, size) = if left { (index, split) } else { (index - split, size - split) };
    }
    if lefts.len() != path.len() {
        return None;
    }
    let steps = lefts.iter().rev().zip(path);
    Some(steps.fold(hash(0, &[leaf]), |node, (left, beside)| {
        if *left { hash(1, &[&node, beside]) } else { hash(1, &[beside, &node]) }
    }))
}

/// The first byte distinguishes leaves from inner nodes.
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

    /// The definition in the RFC: split at the largest power of two below the length.
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
    fn an_inclusion_proof_holds_for_its_leaf_only() {
        for size in 1..40u8 {
            let leaves: Vec<Hash> = (0..size).map(|n| Hash([n; 32])).collect();
            for (index, leaf) in leaves.iter().enumerate() {
                let way = path(&leaves, index);
                let found = |leaf, index, size| root_of_path(leaf, index, size, &way);
                let (index, size) = (index as u64, u64::from(size));
                assert_eq!(found(leaf, index, size), Some(root(&leaves)), "{index} of {size}");
                assert_ne!(found(&Hash([99; 32]), index, size), Some(root(&leaves)));
                for other in (0..size + 2).filter(|other| *other != index) {
                    assert_ne!(found(leaf, other, size), Some(root(&leaves)));
                }
            }
        }
        assert_eq!(root_of_path(&Hash::ZERO, 0, u64::MAX, &[]), None);
    }

    #[test]
    fn matches_the_definition() {
        let leaves: Vec<Hash> = (0..70u8).map(|n| Hash([n; 32])).collect();
        let mut tree = Tree::default();
        for (n, leaf) in leaves.iter().enumerate() {
            assert_eq!(tree.root(), root(&leaves[..n]), "{n} leaves");
            tree.push(leaf);
        }
    }
}
