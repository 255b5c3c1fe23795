//! Functions compiled with `cranelift-jit`, and their stack maps in the same step.
//!
//! Code and maps belong together: a function that runs before its maps are known loses its references in the first
//! collection. So whoever defines a function here has it run only from [`Program::finish`] on. An embedder with a module of
//! its own does the same with [`FunctionMaps`] and [`StackMaps::add`].

use super::{FunctionMaps, StackMapError, StackMaps};
use cranelift_codegen::settings::{self, Configurable, Flags, SetError};
use cranelift_codegen::{CodegenError, Context};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, default_libcall_names};

/// Why there is no program.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Cranelift does not know this machine.
    #[error("Cranelift makes no code for this machine: {0}")]
    Machine(&'static str),
    /// Cranelift does not know a setting.
    #[error(transparent)]
    Setting(#[from] SetError),
    /// Cranelift has no code for the settings.
    #[error(transparent)]
    Code(#[from] CodegenError),
    /// A function cannot be declared, defined or linked.
    #[error(transparent)]
    Module(#[from] Box<ModuleError>),
    /// A function's stack maps are of no use.
    #[error(transparent)]
    StackMap(#[from] StackMapError),
}
crate::debug::debug_is_display!(ProgramError);

impl From<ModuleError> for ProgramError {
    fn from(error: ModuleError) -> ProgramError {
        ProgramError::Module(Box::new(error))
    }
}

/// Functions of this process.
pub struct Program {
    module: JITModule,
    maps: StackMaps,
    /// Defined, and not linked yet.
    defined: Vec<(FuncId, FunctionMaps)>,
    /// The addresses of those that are linked.
    linked: Vec<usize>,
}

impl Program {
    /// No functions yet. Those that are declared as imports are found among `symbols`.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn new(symbols: &[(&str, *const u8)]) -> Result<Program, ProgramError> {
        let mut flags = settings::builder();
        flags.set("opt_level", "speed")?;
        // What a walk over frames follows.
        flags.set("preserve_frame_pointers", "true")?;
        // Code may lie more than 2 GiB from what it calls.
        flags.set("use_colocated_libcalls", "false")?;
        flags.set("is_pic", "false")?;
        let machine = cranelift_native::builder().map_err(ProgramError::Machine)?;
        let mut builder = JITBuilder::with_isa(machine.finish(Flags::new(flags))?, default_libcall_names());
        builder.symbols(symbols.iter().copied());
        Ok(Program {
            module: JITModule::new(builder),
            maps: StackMaps::default(),
            defined: Vec::new(),
            linked: Vec::new(),
        })
    }

    /// The module, to declare functions in, and whatever else a module is for.
    pub fn module(&mut self) -> &mut JITModule {
        &mut self.module
    }

    /// Compiles a function that was declared. Defined here, and not in the module itself, it has its stack maps.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn define(&mut self, function: FuncId, context: &mut Context) -> Result<(), ProgramError> {
        self.module.define_function(function, context)?;
        let maps = context.compiled_code().map(FunctionMaps::new).transpose()?;
        self.defined.extend(maps.map(|maps| (function, maps)));
        Ok(())
    }

    /// Links what was defined: from here on it can run, through [`JITModule::get_finalized_function`].
    ///
    /// Who runs a function keeps what [`StackMaps::add`] says of it. The code stays until [`free`](Self::free), also where the
    /// program is dropped.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn finish(&mut self) -> Result<(), ProgramError> {
        self.module.finalize_definitions()?;
        for (function, maps) in self.defined.drain(..) {
            let address = self.module.get_finalized_function(function).addr();
            // SAFETY: the module put the code there that the maps were made of, for good, and compiles with frame pointers. How
            // its references are declared, and what it calls, is a predicate of whoever runs it.
            unsafe { self.maps.add(address, maps) };
            self.linked.push(address);
        }
        Ok(())
    }

    /// Where the references of its functions lie: what a heap that they allocate from is given as a
    /// [`RootProvider`](allotment::raw::RootProvider).
    pub fn stack_maps(&self) -> &StackMaps {
        &self.maps
    }

    /// Gives the memory of all functions back, and forgets their stack maps.
    ///
    /// # Safety
    /// - No thread is in one of the functions, nor will be.
    pub unsafe fn free(self) {
        for address in self.linked {
            // SAFETY: the caller's predicate.
            unsafe { self.maps.remove(address) };
        }
        // SAFETY: as above.
        unsafe { self.module.free_memory() };
    }
}
