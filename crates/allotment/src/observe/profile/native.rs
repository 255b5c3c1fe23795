//! Names of native functions, for the file of a profile.
//!
//! With the feature `symbols`, which is on by default, the debug information of the program's files
//! is read when a profile is written, and only then. So a profile opens with names in every tool
//! and on every machine. Without the feature the file has addresses and build ids, and `allotment
//! profile symbolize` or `go tool pprof` names them later, where the files are.
//!
//! Refused: names when a sample is taken. Stacks repeat, and each address is named once here.

use crate::platform::CodeFile;
#[cfg(feature = "symbols")]
use allotment_symbols::{Frame, JitCode, Mapped, Symbols};

#[cfg(feature = "symbols")]
pub(super) use allotment_symbols::Frame as NativeFrame;

/// A function with the line that it is at.
#[cfg(not(feature = "symbols"))]
pub(super) struct NativeFrame {
    pub(super) function: String,
    pub(super) system_name: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// The names of addresses of this process.
#[derive(Default)]
pub(super) struct NativeNames {
    #[cfg(feature = "symbols")]
    symbols: Symbols,
    /// Read when the first address outside files is met.
    #[cfg(feature = "symbols")]
    jit_code: Option<JitCode>,
}

#[cfg(feature = "symbols")]
impl NativeNames {
    /// The functions at an address, innermost first: of the file that it lies in, or else of code
    /// that was made at run time.
    pub(super) fn frames(&mut self, file: Option<&CodeFile>, address: u64) -> Vec<NativeFrame> {
        let Some(CodeFile { start, offset, path, build_id, .. }) = file else {
            let code = self.jit_code.get_or_insert_with(JitCode::of_this_process);
            let named =
                |name: &str| Frame { function: name.into(), system_name: name.into(), ..Frame::default() };
            return code.function(address).map(|function| named(&function.name)).into_iter().collect();
        };
        self.symbols.frames(Mapped { path, build_id, start: *start, offset: *offset }, address)
    }
}

#[cfg(not(feature = "symbols"))]
impl NativeNames {
    /// There are no names without the feature.
    pub(super) fn frames(&mut self, _file: Option<&CodeFile>, _address: u64) -> Vec<NativeFrame> {
        Vec::new()
    }
}
