//! Every bound of the file tools.
//!
//! Invariant: whatever a program or a directory tree can choose has a finite bound here. Programs cannot raise them.

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The longest name of a granted directory, in bytes. Names stand in every message that lists them.
pub const GRANT_NAME_BYTES_MAX: usize = 64;

/// The longest path, in bytes. What systems take; a longer one could never be opened.
pub const PATH_BYTES_MAX: usize = 4 * KIB;

/// The most names in one path, and so the depth to which a walk goes. Resolving a path costs time in proportion, and
/// a tree thousands of levels deep is only ever made to hurt.
pub const PATH_NAMES_MAX: usize = 256;

/// The most bytes one `fs_read` answers, and how many it takes where no `length` is given. A text is held whole.
pub const READ_BYTES_MAX: usize = 16 * MIB;

/// The most bytes one `fs_write` takes. The counterpart of [`READ_BYTES_MAX`]: what was written can be read at once.
pub const WRITE_BYTES_MAX: usize = 16 * MIB;

/// Entries that `fs_list` answers where no `limit` is given. About what a reader of the answer can use.
pub const LIST_ENTRIES_DEFAULT: usize = 1_000;

/// The most entries one `fs_list` answers. With the longest paths they are 40 MiB of text.
pub const LIST_ENTRIES_MAX: usize = 10_000;

/// Matches that `fs_search` answers where no `limit` is given. About what a reader of the answer can use.
pub const SEARCH_MATCHES_DEFAULT: usize = 200;

/// The most matches one `fs_search` answers.
pub const SEARCH_MATCHES_MAX: usize = 5_000;

/// The largest file that is searched, in bytes; larger ones are reported as skipped. The same as [`READ_BYTES_MAX`],
/// so that what can be found can be read.
pub const SEARCH_FILE_BYTES_MAX: usize = 16 * MIB;

/// The most bytes one `fs_search` reads, in all files together. It bounds the time a careless pattern takes.
pub const SEARCH_BYTES_MAX: usize = 256 * MIB;

/// The most files one `fs_search` opens. It bounds the time in trees of many small files.
pub const SEARCH_FILES_MAX: usize = 10_000;

/// The longest line that is searched, in bytes, without its end; a file with a longer one is reported as skipped.
/// A pattern's work on one line cannot be interrupted, so this bounds how late a cancellation takes effect: about
/// three seconds with the worst pattern, milliseconds with an honest one.
pub const SEARCH_LINE_BYTES_MAX: usize = 32 * KIB;

/// The most characters of a line in one match. A longer line is cut, and `…` stands where something is missing.
pub const SEARCH_TEXT_CHARS_MAX: usize = 500;

/// The longest search pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 4 * KIB;

/// The largest compiled search pattern, in bytes. With [`SEARCH_LINE_BYTES_MAX`] it bounds the work on one line:
/// counted repetitions compile to programs that take time in proportion to their size for every byte.
pub const PATTERN_PROGRAM_BYTES_MAX: usize = 512 * KIB;

/// The longest `glob`, in bytes. No file name is longer on common systems.
pub const GLOB_BYTES_MAX: usize = 255;

/// The most skipped files or directories an answer names.
pub const SKIPPED_MAX: usize = 100;

/// The most directory entries one walk looks at. A walk that reaches it goes no further and its answer is truncated.
pub const WALK_ENTRIES_MAX: usize = 200_000;

/// The most bytes of paths that a walk holds while it sorts. A walk that reaches it goes no further and its answer is
/// truncated; without it, long names in wide directories would fill the host's memory.
pub const WALK_PENDING_BYTES_MAX: usize = 32 * MIB;

/// How many calls of one set of grants work at one time; more wait their turn. A program may submit thousands of
/// calls at once, and each of them may hold [`READ_BYTES_MAX`] that no account has seen yet.
pub const CALLS_AT_ONCE: usize = 8;

/// The bounds that tests set lower, so that they need no large files.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) read_bytes: usize,
    pub(super) write_bytes: usize,
    pub(super) search_file_bytes: usize,
    pub(super) search_bytes: usize,
    pub(super) search_files: usize,
    pub(super) search_line_bytes: usize,
    pub(super) walk_entries: usize,
    pub(super) walk_pending_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            read_bytes: READ_BYTES_MAX,
            write_bytes: WRITE_BYTES_MAX,
            search_file_bytes: SEARCH_FILE_BYTES_MAX,
            search_bytes: SEARCH_BYTES_MAX,
            search_files: SEARCH_FILES_MAX,
            search_line_bytes: SEARCH_LINE_BYTES_MAX,
            walk_entries: WALK_ENTRIES_MAX,
            walk_pending_bytes: WALK_PENDING_BYTES_MAX,
        }
    }
}
