//! The user that the server runs as.

use std::{os::unix::process::CommandExt, path::Path, process::Command};

use crate::ClusterError;

/// The server's user: the current one, or another one if that is root.
#[derive(Clone, Debug)]
pub(crate) enum Owner {
    Ourselves,
    Other { name: &'static str, uid: u32, gid: u32 },
}

impl Owner {
    pub(crate) fn choose() -> Result<Self, ClusterError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Ourselves);
        }
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| Some(Self::Other { name, uid: id("-u", name)?, gid: id("-g", name)? }))
            .ok_or(ClusterError::NoUser)
    }

    /// A command that runs as the owner.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Self::Other { uid, gid, .. } = self {
            command.uid(*uid).gid(*gid);
        }
        command.current_dir("/").env_remove("PGDATA");
        command
    }

    /// Makes the user the owner of a folder.
    pub(crate) fn take(&self, folder: &Path) -> Result<(), ClusterError> {
        if let Self::Other { uid, gid, .. } = self {
            std::os::unix::fs::chown(folder, Some(*uid), Some(*gid))
                .map_err(ClusterError::at(folder))?;
        }
        Ok(())
    }

    /// Fails if the user cannot reach the folder: every parent folder must be accessible to others.
    pub(crate) fn check_reach(&self, folder: &Path) -> Result<(), ClusterError> {
        let Self::Other { name, .. } = self else { return Ok(()) };
        let entered = self
            .command("/bin/sh".as_ref())
            .args(["-c", "cd -- \"$1\"", "sh"])
            .arg(folder)
            .output();
        if entered.is_ok_and(|output| output.status.success()) {
            return Ok(());
        }
        Err(ClusterError::Unreachable { user: (*name).to_owned(), folder: folder.to_owned() })
    }
}

/// Asks `id` about a user, which also knows users that are not in `/etc/passwd`.
fn id(what: &str, user: &str) -> Option<u32> {
    let output = Command::new("id").args([what, user]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
