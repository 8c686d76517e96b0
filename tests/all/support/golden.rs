//! Expected outputs as files. `BLESS=1` writes them anew; CI never sets it.

use std::path::Path;

/// Compares `text` with the file at `path` below the repository, byte by byte.
#[track_caller]
pub(crate) fn check(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(file.parent().expect("a file is in a directory")).expect("the directory is there");
        std::fs::write(&file, text).expect("the file can be written");
        return;
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(text, expected, "{path} differs; BLESS=1 writes it anew");
}
