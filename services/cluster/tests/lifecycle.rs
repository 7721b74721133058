//! The lifecycle of a cluster, with real servers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use cluster::{Cluster, ClusterError, Settings};
use rustix::process::{Pid, test_kill_process};

fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap()
}

/// Queries one value with PostgreSQL's own client.
fn ask(cluster: &Cluster, sql: &str) -> String {
    let output = Command::new("psql")
        .args(["-XAtq", "-d", &cluster.url("postgres"), "-c", sql])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn is_alive(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

#[track_caller]
fn wait_until_gone(pid: i32) {
    let start = Instant::now();
    while is_alive(pid) {
        assert!(start.elapsed() < Duration::from_secs(20), "server {pid} is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn data_survives_a_restart() {
    let folder = folder();
    let cluster = Cluster::start(folder.path(), Settings::Durable).unwrap();
    assert_eq!(ask(&cluster, "SHOW listen_addresses"), "", "no TCP");
    assert_eq!(ask(&cluster, "SHOW fsync"), "on");
    assert_eq!(ask(&cluster, "SHOW synchronous_commit"), "on");
    ask(&cluster, "CREATE TABLE kept AS SELECT 42 AS answer");
    let pid = cluster.pid().unwrap();
    cluster.stop();
    wait_until_gone(pid);

    let cluster = Cluster::start(folder.path(), Settings::Durable).unwrap();
    assert_eq!(ask(&cluster, "SELECT answer FROM kept"), "42");
}

#[test]
fn a_folder_in_use_is_refused() {
    let folder = folder();
    let first = Cluster::start(folder.path(), Settings::Throwaway).unwrap();
    let second = Cluster::start(folder.path(), Settings::Throwaway).unwrap_err();
    assert!(matches!(second, ClusterError::InUse(_)));
    assert!(second.to_string().contains("in use by another running croupier"), "{second}");
    assert_eq!(ask(&first, "SELECT 1"), "1", "the first is not disturbed");
}

#[test]
fn a_killed_server_recovers_committed_data() {
    let folder = folder();
    let cluster = Cluster::start(folder.path(), Settings::Durable).unwrap();
    ask(&cluster, "CREATE TABLE kept AS SELECT 42 AS answer");
    let pid = cluster.pid().unwrap();
    cluster.kill();
    wait_until_gone(pid);
    assert!(folder.path().join("data/postmaster.pid").exists(), "a stale pid file is left");
    let cluster = Cluster::start(folder.path(), Settings::Durable).unwrap();
    assert_eq!(ask(&cluster, "SELECT answer FROM kept"), "42");
}

#[test]
fn a_stale_pid_file_of_another_process_is_handled() {
    let folder = folder();
    Cluster::start(folder.path(), Settings::Durable).unwrap().stop();
    let pid_file = folder.path().join("data/postmaster.pid");
    std::fs::write(&pid_file, format!("{}\n/nowhere\n", std::process::id())).unwrap();
    let cluster = Cluster::start(folder.path(), Settings::Durable).unwrap();
    assert_eq!(ask(&cluster, "SELECT 1"), "1");
}

/// After a reboot the old process id may belong to another PostgreSQL.
#[test]
fn another_server_is_left_alone() {
    let (ours, theirs) = (folder(), folder());
    Cluster::start(ours.path(), Settings::Durable).unwrap().stop();
    let other = Cluster::start(theirs.path(), Settings::Throwaway).unwrap();
    let pid_file = ours.path().join("data/postmaster.pid");
    std::fs::write(&pid_file, format!("{}\n/nowhere\n", other.pid().unwrap())).unwrap();
    let cluster = Cluster::start(ours.path(), Settings::Durable).unwrap();
    assert_eq!(ask(&cluster, "SELECT 1"), "1");
    assert_eq!(ask(&other, "SELECT 1"), "1", "the other one lives");
}

#[test]
fn a_durable_cluster_is_not_removed() {
    let folder = tempfile::Builder::new().prefix("croupier %?#").tempdir_in("/tmp").unwrap();
    let cluster = Cluster::start(folder.path(), Settings::Durable).unwrap();
    ask(&cluster, "CREATE TABLE kept AS SELECT 42 AS answer");
    cluster.stop();
    let refused = Cluster::start(folder.path(), Settings::Throwaway).unwrap_err();
    assert!(matches!(refused, ClusterError::NotThrowaway(_)), "{refused}");
    let cluster = Cluster::start(folder.path(), Settings::Durable).unwrap();
    assert_eq!(ask(&cluster, "SELECT answer FROM kept"), "42");
}

#[test]
fn a_throwaway_cluster_leaves_nothing_behind() {
    let folder = folder();
    Cluster::start(folder.path(), Settings::Throwaway).unwrap().stop();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Runs the test program in a child process that starts a cluster and waits to be killed.
#[test]
fn the_server_dies_with_its_croupier() {
    if let Some(folder) = std::env::var_os("CLUSTER_TEST_CHILD") {
        let _cluster = Cluster::start(Path::new(&folder), Settings::Durable).unwrap();
        std::thread::sleep(Duration::from_mins(2));
        return;
    }
    let folder = folder();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_server_dies_with_its_croupier"])
        .env("CLUSTER_TEST_CHILD", folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid_file = folder.path().join("data/postmaster.pid");
    let start = Instant::now();
    let ready = || std::fs::read_to_string(&pid_file).is_ok_and(|text| text.contains("ready"));
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = std::fs::read_to_string(&pid_file).unwrap();
    let pid = text.lines().next().unwrap().parse().unwrap();
    assert!(is_alive(pid));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until_gone(pid);
    let cluster = Cluster::start(folder.path(), Settings::Durable).unwrap();
    assert_eq!(ask(&cluster, "SELECT 1"), "1");
}

#[test]
fn a_wrong_override_is_reported() {
    if std::env::var_os("CLUSTER_TEST_OVERRIDE").is_some() {
        let error = Cluster::start(folder().path(), Settings::Throwaway).unwrap_err().to_string();
        assert_eq!(
            error,
            "CROUPIER_POSTGRES_BIN is /nowhere, but there is no initdb and postgres in it"
        );
        return;
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_wrong_override_is_reported"])
        .env("CLUSTER_TEST_OVERRIDE", "yes")
        .env("CROUPIER_POSTGRES_BIN", "/nowhere")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}
