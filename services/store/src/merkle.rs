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

/// What proves that a leaf is in a tree: the hashes beside its way from the leaf to the root.
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

/// The root that a leaf and the hashes beside its way lead to; nothing if they do not fit a tree of this size.
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
    fn a_leaf_is_proven_by_its_path_and_by_no_other() {
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
    fn is_the_tree_of_the_definition() {
        let leaves: Vec<Hash> = (0..70u8).map(|n| Hash([n; 32])).collect();
        let mut tree = Tree::default();
        for (n, leaf) in leaves.iter().enumerate() {
            assert_eq!(tree.root(), root(&leaves[..n]), "{n} leaves");
            tree.push(leaf);
        }
    }
}
