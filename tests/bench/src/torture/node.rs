//! A real node: a process that is killed and started again at the same address.

use std::{
    error::Error,
    fs::File,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// How long a node may take to finish pending requests.
const LAST_REQUESTS: Duration = Duration::from_secs(20);

/// Above this amount, in dollars, a remedy needs a second person.
pub(super) const REMEDY_LIMIT: u32 = 100;

/// The program next to this one.
pub(super) fn program() -> Result<PathBuf, Box<dyn Error>> {
    let here = std::env::current_exe()?;
    let program = here.parent().ok_or("no folder")?.join("croupier");
    if program.exists() {
        return Ok(program);
    }
    let release = if cfg!(debug_assertions) { "" } else { " --release" };
    Err(format!("there is no {}; run: cargo build{release} --bin croupier", program.display())
        .into())
}

/// The environment of nodes and of other subcommands.
#[derive(Clone, Debug)]
pub(super) struct NodeSettings {
    pub(super) program: PathBuf,
    pub(super) url: String,
    pub(super) folder: PathBuf,
}

impl NodeSettings {
    /// A subcommand of the program, with a clean environment.
    fn task(&self) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CROUPIER_") {
                command.env_remove(name);
            }
        }
        command.env("DATABASE_URL", &self.url).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Runs a subcommand; returns its output. An exit code other than 0 is an error.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
        let output = self.task().args(arguments).output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(said);
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        let what = arguments.join(" ");
        Err(format!("croupier {what} ended with {}:\n{said}{complaint}", output.status).into())
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) address: SocketAddr,
    number: usize,
    place: NodeSettings,
    child: Child,
}

impl Node {
    /// Starts a node at a free address.
    pub(super) fn new(number: usize, place: &NodeSettings) -> Result<Self, Box<dyn Error>> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = start(number, address, place)?;
        Ok(Self { address, number, place: place.clone(), child })
    }

    /// Kills it.
    pub(super) fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }

    /// Starts it again, at the same address.
    pub(super) fn revive(&mut self) -> std::io::Result<()> {
        self.child = start(self.number, self.address, &self.place)?;
        Ok(())
    }

    /// Handles a node that ended though it was not killed: if it never became ready, for lack of a
    /// database, it is started again, as a supervisor would do; a node that was ready must not end.
    pub(super) fn maintain(&mut self) -> Result<(), Box<dyn Error>> {
        let Some(status) = self.child.try_wait()? else { return Ok(()) };
        if self.serves() {
            return Err(format!("node {} ended by itself: {status}", self.number).into());
        }
        Ok(self.revive()?)
    }

    /// Whether it is ready.
    pub(super) fn serves(&self) -> bool {
        let said = std::fs::read_to_string(output_file(&self.place.folder, self.number));
        said.is_ok_and(|said| said.contains("GraphQL"))
    }

    /// Stops it gracefully; it must exit with 0.
    pub(super) fn stop(&mut self) -> Result<(), Box<dyn Error>> {
        let pid = Pid::from_raw(i32::try_from(self.child.id())?).ok_or("no process")?;
        kill_process(pid, Signal::INT)?;
        let begun = Instant::now();
        while begun.elapsed() < LAST_REQUESTS {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    return Err(format!("node {} stopped with {status}", self.number).into());
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        Err(format!("node {} does not stop", self.number).into())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The file with the output of the current process.
fn output_file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("node-{number}.out"))
}

fn start(number: usize, address: SocketAddr, place: &NodeSettings) -> std::io::Result<Child> {
    // The file with the stderr of all its processes.
    let complaints = File::options()
        .create(true)
        .append(true)
        .open(place.folder.join(format!("node-{number}.log")))?;
    place
        .task()
        .args(["serve", "--listen", &address.to_string(), "--log", "warn", "--connections", "8"])
        .args(["--actor-rate", "0", "--address-rate", "0", "--sign-in-rate", "0"])
        .args(["--guest-rate", "0", "--first-money", "500", "--access-minutes", "1440"])
        .args(["--remedy-limit", &REMEDY_LIMIT.to_string(), "--data"])
        .arg(place.folder.join("data"))
        .stdout(File::create(output_file(&place.folder, number))?)
        .stderr(complaints)
        .spawn()
}
