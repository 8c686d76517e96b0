//! `hotcell inspect`: what a component can reach, without running it.
//!
//! Invariant: a component is text of a stranger too; no name in it can end its line or pretend to be another.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::exit::{Exit, Problem};
use super::{cache, language, terminal};
use crate::language::Language;
use crate::wasm::{self, Authority, COMPONENT_BYTES_MAX, Engine, EngineConfig, Surface};

const LONG_ABOUT: &str = "\
Lists what a guest component can reach.

Every import and export is one line, with the authority it gives. Nothing of the component is run. A sealed component
imports Hotcell's own host interface and nothing else; Hotcell refuses to load any other.";

const EXAMPLES: &str = "\
Examples:
  hotcell inspect --guest javascript
  hotcell inspect target/my-guest.wasm

Exit codes:
  0  sealed: every import is part of the contract
  2  misuse: a bad flag, a missing file, an unknown language
  3  not sealed, or no component at all";

/// List what a guest component can reach
#[derive(Debug, Args)]
#[command(
    long_about = LONG_ABOUT,
    override_usage = "hotcell inspect <COMPONENT | --guest LANGUAGE>",
    after_help = EXAMPLES,
)]
pub(super) struct InspectArgs {
    /// The component's file, plain or compressed with zstd
    #[arg(value_name = "COMPONENT", required_unless_present = "guest")]
    component: Option<PathBuf>,

    /// Inspect the built-in guest: typescript, javascript or python
    #[arg(long, value_name = "LANGUAGE", hide_possible_values = true, conflicts_with = "component",
        value_parser = language::parser())]
    guest: Option<&'static Language>,
}

/// Inspects a component as the arguments say.
pub(super) fn inspect(args: &InspectArgs) -> Result<Exit, Problem> {
    let mut config = EngineConfig::default().with_runs_max(1);
    let bytes: Arc<[u8]> = match (args.guest, &args.component) {
        (Some(language), _) => {
            language::check_built_in(language)?;
            config.cache = cache::open();
            wasm::JAVASCRIPT.into()
        }
        // A stranger's component leaves no trace in the cache.
        (None, Some(path)) => {
            let read = read(path).with_context(|| format!("cannot read `{}`", path.display()));
            read.map_err(Problem::misuse)?.into()
        }
        (None, None) => Arc::default(),
    };
    let engine = Engine::new(config)?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let tokio = tokio.context("cannot start the runtime").map_err(Problem::host)?;
    let surface = tokio.block_on(wasm::inspect(&engine, bytes))?;
    terminal::stdout(&describe(&surface)).context("cannot write to stdout").map_err(Problem::host)?;
    Ok(if surface.is_sealed() { Exit::Completed } else { Exit::Stopped })
}

/// Reads a file up to one byte over what the loader takes, which then says so.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(COMPONENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn describe(surface: &Surface) -> String {
    let mut text = String::new();
    for item in surface.items() {
        text.push_str(&crate::shown::one_line(&item.to_string()));
        text.push('\n');
    }
    let outside = surface.items().iter().filter(|item| item.authority == Authority::Outside).count();
    text.push_str(&match outside {
        0 => "sealed: it reaches what is listed here and nothing else\n".to_owned(),
        1 => "not sealed: 1 import is outside the contract, so Hotcell refuses to load it\n".to_owned(),
        many => format!("not sealed: {many} imports are outside the contract, so Hotcell refuses to load it\n"),
    });
    text
}
