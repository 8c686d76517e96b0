//! How tools are presented to a model, and the one rule that makes the presentation binding.
//!
//! Invariant: [`collapses`] is the only place that decides it. The wire list, the executor and the prompt ask it, so what is
//! announced is what is enforced.

use crate::prompt::discovery;
use crate::tool::Tool;

use super::view::View;

/// The name of the transport: the one tool through which a model runs programs.
pub const RUN_CODE: &str = "run_code";

/// The name of the tool with which programs find tools, where there are too many to declare.
pub const SEARCH_TOOLS: &str = "search_tools";

/// The name of the tool that gives programs the declarations of tools, where there are too many to declare.
pub const DESCRIBE_TOOLS: &str = "describe_tools";

/// Names no tool may take, in any mode: the transport, and the two tools of programs whose tools are too many to declare.
pub const RESERVED_NAMES: [&str; 3] = [RUN_CODE, SEARCH_TOOLS, DESCRIBE_TOOLS];

/// How a scope's tools are presented to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new way of presenting tools changes what every caller must do")]
pub enum Mode {
    /// One function per tool.
    #[default]
    Native,
    /// Only `run_code`; every other tool is reached from inside a program.
    Code,
    /// One function per tool, and `run_code`.
    Both,
}

impl Mode {
    /// The published name: `native`, `code` or `both`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Code => "code",
            Self::Both => "both",
        }
    }

    /// Whether `run_code` exists in this mode.
    #[must_use]
    pub const fn presents_run_code(self) -> bool {
        match self {
            Self::Native => false,
            Self::Code | Self::Both => true,
        }
    }
}

impl Mode {
    /// Whether tools other than `run_code` can be called directly.
    #[must_use]
    pub fn announces_tools(self) -> bool {
        !collapses("", self, Nesting::Direct)
    }
}

/// Who makes a call. Decided once, when the call is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a call has a live parent or it has none")]
pub enum Nesting {
    /// The model: no live parent lent its token.
    Direct,
    /// A running execution, which lent its token.
    Nested {
        /// Whether one of its ancestors is `run_code`.
        in_program: bool,
    },
}

/// Whether a call of a visible tool is refused because the mode does not announce it.
#[must_use]
pub fn collapses(name: &str, mode: Mode, nesting: Nesting) -> bool {
    mode == Mode::Code && nesting == Nesting::Direct && name != RUN_CODE
}

/// What a name means to a call.
#[derive(Debug)]
pub(crate) enum Resolved {
    /// This tool.
    Tool(Tool),
    /// A visible tool that the mode hides from the model.
    Collapsed,
    /// Nothing: absent, hidden, or `run_code` where it cannot be called.
    Unknown,
}

impl View {
    /// The one lookup of the execution path.
    pub(crate) fn resolve(&self, name: &str, nesting: Nesting) -> Resolved {
        if name == RUN_CODE && nesting == (Nesting::Nested { in_program: true }) {
            return Resolved::Unknown;
        }
        if nesting == (Nesting::Nested { in_program: true })
            && [SEARCH_TOOLS, DESCRIBE_TOOLS].contains(&name)
            && self.needs_discovery()
        {
            return discovery::tool(name).map_or(Resolved::Unknown, Resolved::Tool);
        }
        match self.get(name) {
            Some(_) if collapses(name, self.mode(), nesting) => Resolved::Collapsed,
            Some(tool) => Resolved::Tool(tool.clone()),
            None => Resolved::Unknown,
        }
    }

    /// The tools a model is told of, sorted by name.
    pub(crate) fn presented(&self) -> impl Iterator<Item = &Tool> {
        self.tools().filter(|tool| !collapses(tool.name(), self.mode(), Nesting::Direct))
    }
}
