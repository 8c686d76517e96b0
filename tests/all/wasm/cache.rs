//! Compiled guests between processes: written once, used again, and never used where somebody else could have written them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use hotcell::ErrorKind;
use hotcell::wasm::{Cache, Engine, EngineConfig, WasmRuntime};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::rig::{Seen, completed, load_on, request, run};

/// A cache of a test's own.
struct Place {
    directory: TempDir,
}

/// What tells whether a file was written anew.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    inode: u64,
    mode: u32,
    bytes: Vec<u8>,
}

impl Place {
    /// An empty one.
    fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a directory") }
    }

    /// One with the entry of the polite guest.
    async fn filled() -> (Self, Written) {
        let place = Self::new();
        place.run("polite", "1").await;
        let written = place.written();
        (place, written)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("cache")
    }

    /// Loads a guest as a new process would, and runs it.
    async fn run(&self, guest: &str, value: &str) {
        let cache = Cache::open_ambient(self.path()).expect("the cache opens");
        run_with(cache, guest, value).await;
    }

    /// All files in the cache.
    fn entries(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path()).expect("it is readable");
        entries.map(|entry| entry.expect("it is readable").path()).collect()
    }

    /// The path of the only entry.
    fn entry(&self) -> PathBuf {
        let entries = self.entries();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.into_iter().next().expect("there is one")
    }

    fn written(&self) -> Written {
        let entry = self.entry();
        let metadata = fs::symlink_metadata(&entry).expect("it is there");
        assert!(metadata.is_file());
        Written {
            inode: metadata.ino(),
            mode: metadata.mode() & 0o7777,
            bytes: fs::read(&entry).expect("it is readable"),
        }
    }

    /// Loads the polite guest once more and says that the entry was written anew, as it was.
    async fn is_rebuilt(&self, what: &str, before: &Written) {
        let spoilt = fs::symlink_metadata(self.entry()).expect("it is there").ino();
        self.run("polite", "1").await;
        let after = self.written();
        assert_ne!(after.inode, spoilt, "{what}: the entry was used");
        assert_eq!((after.mode, &after.bytes), (0o600, &before.bytes), "{what}");
    }
}

async fn run_with(cache: Cache, guest: &str, value: &str) {
    let engine = Engine::new(EngineConfig::default().with_runs_max(1).with_cache(cache)).expect("an engine");
    let runtime = WasmRuntime::new(load_on(&engine, guest).await.expect("a guest"));
    assert_eq!(Seen::from(run(&runtime, request("0")).await), completed(value));
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

#[tokio::test]
async fn an_entry_is_written_for_this_user_alone_and_used_again() {
    let (place, written) = Place::filled().await;
    assert_eq!(fs::metadata(place.path()).expect("it is there").mode() & 0o7777, 0o700);
    assert_eq!(written.mode, 0o600);
    let name = place.entry().file_name().expect("it has one").to_str().expect("it is UTF-8").to_owned();
    let (digests, ending) = name.split_once('.').expect("it has an ending");
    assert_eq!((digests.len(), ending), (64 + 1 + 16, "cwasm"));
    for _ in 0..2 {
        place.run("polite", "1").await;
        assert_eq!(place.written(), written, "a new process uses it");
    }
}

#[tokio::test]
async fn a_damaged_entry_is_rebuilt() {
    let (place, written) = Place::filled().await;
    let whole = &written.bytes;
    let flipped = |place: usize| {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        bytes
    };
    for (what, bytes) in [
        ("a bit of the digest", flipped(0)),
        ("a bit of the component's digest", flipped(40)),
        ("a bit in the middle", flipped(whole.len() / 2)),
        ("the last bit", flipped(whole.len() - 1)),
        ("half of it", whole[..whole.len() / 2].to_vec()),
        ("a digest and no more", whole[..32].to_vec()),
        ("nothing", Vec::new()),
        ("a byte too many", [&whole[..], &[0]].concat()),
        ("something else", b"\x7fELF".repeat(1000)),
    ] {
        fs::write(place.entry(), bytes).expect("it is ours");
        place.is_rebuilt(what, &written).await;
    }
}

#[tokio::test]
async fn an_entry_that_others_can_write_is_rebuilt() {
    let (place, written) = Place::filled().await;
    for mode in [0o620, 0o602, 0o666] {
        set_mode(&place.entry(), mode);
        place.is_rebuilt(&format!("mode {mode:o}"), &written).await;
    }
    // Reading is no danger.
    set_mode(&place.entry(), 0o644);
    let readable = place.written();
    place.run("polite", "1").await;
    assert_eq!(place.written(), readable);
}

#[tokio::test]
async fn a_linked_entry_is_not_followed() {
    let (place, written) = Place::filled().await;
    let elsewhere = place.directory.path().join("elsewhere");
    let entry = place.entry();
    fs::rename(&entry, &elsewhere).expect("it is ours");
    symlink(&elsewhere, &entry).expect("the name is free");
    place.is_rebuilt("a link to a good entry", &written).await;
    assert_eq!(fs::read(&elsewhere).expect("it is still there"), written.bytes);
}

#[tokio::test]
async fn an_entry_that_is_no_file_does_not_hold_up_a_load() {
    let (place, written) = Place::filled().await;
    let entry = place.entry();
    fs::remove_file(&entry).expect("it is ours");
    mknodat(CWD, &entry, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("the name is free");
    place.is_rebuilt("a pipe", &written).await;
    fs::remove_file(&entry).expect("it is ours");
    fs::create_dir(&entry).expect("the name is free");
    place.run("polite", "1").await;
    assert_eq!(place.entries(), [entry], "a draft is left");
}

#[tokio::test]
async fn an_entry_of_another_guest_is_not_used() {
    let (place, _) = Place::filled().await;
    let polite = place.entry();
    place.run("members", "5").await;
    let entries = place.entries();
    let other = entries.iter().find(|&path| *path != polite).expect("the other guest has one");
    fs::copy(&polite, other).expect("it is ours");
    place.run("members", "5").await;
}

#[tokio::test]
async fn a_directory_that_others_can_write_is_refused() {
    let (place, _) = Place::filled().await;
    for mode in [0o770, 0o702, 0o777, 0o1777] {
        set_mode(&place.path(), mode);
        let error = Cache::open_ambient(place.path()).expect_err("others can write it");
        let message = format!(
            "the cache directory `{}` belongs to another user or can be written by others; use one that is yours alone \
             (mode 700)",
            place.path().display()
        );
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Host, message), "mode {mode:o}");
    }
    set_mode(&place.path(), 0o755);
    place.run("polite", "1").await;
}

#[tokio::test]
async fn a_linked_directory_is_refused() {
    let (place, _) = Place::filled().await;
    let link = place.directory.path().join("link");
    symlink(place.path(), &link).expect("the name is free");
    let error = Cache::open_ambient(&link).expect_err("it is a link");
    let message = format!("cannot open the cache directory `{}`", link.display());
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Host, message));
}

#[tokio::test]
async fn a_file_is_no_cache() {
    let place = Place::new();
    fs::write(place.path(), "").expect("it is ours");
    let error = Cache::open_ambient(place.path()).expect_err("it is a file");
    let message = format!("cannot create the cache directory `{}`", place.path().display());
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Host, message));
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_is_no_reason_to_fail() {
    let place = Place::new();
    let cache = Cache::open_ambient(place.path()).expect("the cache opens");
    // Whoever runs this, nothing can be made in a directory that is gone.
    fs::remove_dir(place.path()).expect("it is empty");
    run_with(cache, "polite", "1").await;
    let (place, written) = Place::filled().await;
    set_mode(&place.path(), 0o500);
    place.run("polite", "1").await;
    assert_eq!(place.written(), written);
    set_mode(&place.path(), 0o700);
}

#[tokio::test]
async fn loads_at_the_same_time_leave_one_good_entry() {
    let place = Place::new();
    tokio::join!(
        place.run("polite", "1"),
        place.run("polite", "1"),
        place.run("polite", "1"),
        place.run("polite", "1")
    );
    let written = place.written();
    place.run("polite", "1").await;
    assert_eq!(place.written(), written);
}
