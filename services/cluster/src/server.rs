//! The server process.

use std::{
    fs::File,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::{ADMINISTRATOR, ClusterError, PATIENCE, Settings, folder::Folder, owner::Owner};

/// Runs the server until it ends or we do: however we die, our end of the pipe on standard input
/// closes, and the server is stopped. A throwaway folder is removed with it.
const GUARD: &str = r#"
throwaway=$1; folder=$2; sockets=$3; shift 3
exec 3<&0
"$@" </dev/null 3<&- & server=$!
(read -r _ <&3; kill -INT $server 2>/dev/null) & reader=$!
wait $server; code=$?
kill $reader 2>/dev/null
[ "$throwaway" = yes ] &&
  rm -rf "$folder/data" "$folder/data.new" "$folder/lock" "$folder/postgres.log" "$sockets"
exit $code
"#;

const TICK: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct Server {
    guard: Child,
}

impl Server {
    pub(crate) fn start(
        bin: &Path,
        folder: &Folder,
        owner: &Owner,
        settings: Settings,
    ) -> Result<Self, ClusterError> {
        let log = File::create(folder.log()).map_err(ClusterError::at(folder.log()))?;
        owner.take(&folder.log())?;
        let errors = log.try_clone().map_err(ClusterError::at(folder.log()))?;
        let throwaway = if settings == Settings::Throwaway { "yes" } else { "no" };
        let mut command = owner.command("/bin/sh".as_ref());
        command.args(["-c", GUARD, "guard", throwaway]).arg(folder.path()).arg(folder.socket());
        command.arg(bin.join("postgres")).arg("-D").arg(folder.data());
        command.arg("-k").arg(folder.socket());
        command.args(options(settings).iter().flat_map(|option| ["-c", option]));
        // A Ctrl-C at the terminal is for us; we stop the server ourselves.
        command.process_group(0).stdin(Stdio::piped());
        command.stdout(log).stderr(errors);
        let stale = pid_file(&folder.data());
        let start = Instant::now();
        loop {
            let guard = command.spawn().map_err(ClusterError::at("/bin/sh"))?;
            let mut server = Self { guard };
            match server.wait_until_ready(folder, stale.as_deref()) {
                Ok(()) => return Ok(server),
                // After a hard kill the last backends need a moment to notice it and exit; they
                // still write to the log meanwhile.
                Err(ClusterError::Failed { .. })
                    if start.elapsed() < PATIENCE && memory_in_use(&folder.log()) =>
                {
                    sleep(TICK * 10);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn wait_until_ready(
        &mut self,
        folder: &Folder,
        stale: Option<&str>,
    ) -> Result<(), ClusterError> {
        let start = Instant::now();
        loop {
            let status = pid_file(&folder.data());
            if status.as_deref() != stale && status.as_deref().is_some_and(is_ready) {
                return Ok(());
            }
            let ended = self.guard.try_wait().is_ok_and(|status| status.is_some());
            // Crash recovery may take any time.
            let starting = status.as_deref() != stale && status.is_some();
            if ended || (start.elapsed() > PATIENCE && !starting) {
                self.stop();
                let log = std::fs::read_to_string(folder.log()).unwrap_or_default();
                return Err(ClusterError::Failed { program: "postgres", output: tail(&log) });
            }
            sleep(TICK);
        }
    }

    /// Closes the pipe, which makes the guard stop the server, and waits.
    pub(crate) fn stop(&mut self) {
        drop(self.guard.stdin.take());
        let start = Instant::now();
        while start.elapsed() < PATIENCE && self.guard.try_wait().is_ok_and(|s| s.is_none()) {
            sleep(TICK);
        }
    }

    /// Kills all processes at once, like a crash of the machine. They may have ended already.
    pub(crate) fn kill(&mut self, data: &Path) {
        if let Some(server) = running_pid(data).and_then(Pid::from_raw) {
            kill_process(server, Signal::STOP).ok();
            for backend in
                backends(server.as_raw_nonzero().get()).into_iter().filter_map(Pid::from_raw)
            {
                kill_process(backend, Signal::KILL).ok();
            }
            kill_process(server, Signal::KILL).ok();
        }
        self.stop();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The child processes of a server; none if the system does not support listing them.
pub(crate) fn backends(server: i32) -> Vec<i32> {
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
    children.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn memory_in_use(log: &Path) -> bool {
    std::fs::read_to_string(log).is_ok_and(|log| log.contains("still in use"))
}

fn options(settings: Settings) -> &'static [&'static str] {
    match settings {
        Settings::Durable => &[
            "listen_addresses=",
            "max_connections=400",
            "shared_buffers=512MB",
            "max_wal_size=4GB",
            "checkpoint_timeout=15min",
            // A batch with a conflict is an error by design; its statement need not be logged each
            // time.
            "log_min_error_statement=panic",
        ],
        Settings::Throwaway => &[
            "listen_addresses=",
            "max_connections=200",
            "fsync=off",
            "synchronous_commit=off",
            "full_page_writes=off",
            "autovacuum=off",
            "max_wal_size=4GB",
        ],
    }
}

/// Creates a cluster in the folder. It is built elsewhere and moved into place, so that a crash
/// half-way leaves nothing that looks like a cluster.
pub(crate) fn create(
    bin: &Path,
    folder: &Folder,
    owner: &Owner,
    settings: Settings,
) -> Result<(), ClusterError> {
    let building = folder.path().join("data.new");
    if building.exists() {
        std::fs::remove_dir_all(&building).map_err(ClusterError::at(&building))?;
    }
    let mut command = owner.command(&bin.join("initdb"));
    command.arg("-D").arg(&building).args(["-U", ADMINISTRATOR, "--auth=trust"]);
    command.args(["--encoding=UTF8", "--no-locale", "--no-instructions"]);
    if settings == Settings::Throwaway {
        command.arg("--no-sync");
    }
    let output = command.output().map_err(ClusterError::at(bin.join("initdb")))?;
    if !output.status.success() {
        let output = String::from_utf8_lossy(&output.stderr);
        return Err(ClusterError::Failed { program: "initdb", output: tail(&output) });
    }
    std::fs::rename(&building, folder.data()).map_err(ClusterError::at(folder.data()))
}

/// Stops a server of this folder that outlived its croupier. We hold the folder's lock, so no live
/// process needs that server.
pub(crate) fn stop_orphan(data: &Path) -> Result<(), ClusterError> {
    for signal in [Signal::INT, Signal::QUIT, Signal::KILL] {
        let Some(pid) = running_pid(data).and_then(Pid::from_raw) else { break };
        kill_process(pid, signal).ok();
        let start = Instant::now();
        while start.elapsed() < PATIENCE / 6 && test_kill_process(pid).is_ok() {
            sleep(TICK);
        }
    }
    replace_stale_pid(data)
}

/// A stale pid file may contain the id of an unrelated process, and PostgreSQL would then refuse to
/// start. The file also names the shared memory that a remaining backend may still use, which
/// PostgreSQL must check: so the file is kept, with the id of a process that does not exist.
fn replace_stale_pid(data: &Path) -> Result<(), ClusterError> {
    let Some(text) = pid_file(data) else { return Ok(()) };
    let Some((named, rest)) = text.split_once('\n') else { return Ok(()) };
    let is_alive = |pid: i32| Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok());
    if !named.trim().parse().is_ok_and(is_alive) || running_pid(data).is_some() {
        return Ok(());
    }
    let unused = (1..4_000_000).rev().find(|&pid| !is_alive(pid)).unwrap_or(i32::MAX);
    let path = data.join("postmaster.pid");
    std::fs::write(&path, format!("{unused}\n{rest}")).map_err(ClusterError::at(path))
}

/// The server's process id, if its pid file names a running PostgreSQL.
pub(crate) fn running_pid(data: &Path) -> Option<i32> {
    let pid = pid_file(data)?.lines().next()?.trim().parse().ok()?;
    test_kill_process(Pid::from_raw(pid)?).ok()?;
    // Process ids are reused: this one may now belong to another process, even another PostgreSQL.
    // Ours was started with our folder as an argument.
    let arguments = arguments_of(pid);
    let ours = arguments.contains(&*data.to_string_lossy());
    (ours && arguments.contains("postgres")).then_some(pid)
}

/// The arguments of a process; empty if it is gone or the system does not support it.
fn arguments_of(pid: i32) -> String {
    let arguments = if cfg!(target_os = "linux") {
        std::fs::read(format!("/proc/{pid}/cmdline"))
    } else {
        let mut ps = std::process::Command::new("ps");
        ps.args(["-o", "args=", "-p", &pid.to_string()]).output().map(|output| output.stdout)
    };
    String::from_utf8_lossy(&arguments.unwrap_or_default()).into_owned()
}

/// The eighth line of the pid file says `ready` once connections are accepted.
fn is_ready(status: &str) -> bool {
    status.lines().nth(7).is_some_and(|line| line.trim() == "ready")
}

fn pid_file(data: &Path) -> Option<String> {
    std::fs::read_to_string(data.join("postmaster.pid")).ok()
}

/// The last lines of a program's output.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}
