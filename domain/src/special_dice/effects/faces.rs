//! Different faces.

use serde::{Deserialize, Serialize};

use super::{Kind, within};

/// The die has different faces: the raw value r shows the r-th of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faces {
    /// The six faces.
    pub faces: [u8; 6],
}

impl Kind for Faces {
    fn check(&self) -> Result<(), String> {
        self.faces.iter().try_for_each(|&face| within("a face", face.into(), 1..=6))
    }

    fn text(&self) -> String {
        let faces = self.faces.map(|face| face.to_string());
        format!("Its faces are {}.", faces.join(", "))
    }

    fn faces(&self) -> Option<[u8; 6]> {
        Some(self.faces)
    }
}
