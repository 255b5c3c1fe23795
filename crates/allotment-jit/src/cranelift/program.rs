//! Functions compiled with `cranelift-jit`, and their stack maps in the same step.
//!
//! Code and maps belong together: a function that runs before its maps are known loses its
//! references in the first collection. So a function that is defined here can run only from
//! [`Program::finish`] on. An embedder with its own module uses [`FunctionMaps`] and
//! [`StackMaps::add`] in this order.

use super::{FunctionMaps, StackMapError, StackMaps};
use cranelift_codegen::settings::{self, Configurable, Flags, SetError};
use cranelift_codegen::{CodegenError, Context};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, default_libcall_names};

/// The reason why there is no program.
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
    /// A function's stack maps are unusable.
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
    /// Functions that are defined and not linked yet.
    defined: Vec<(FuncId, FunctionMaps)>,
    /// The addresses of the linked functions.
    linked: Vec<usize>,
}

impl Program {
    /// A program without functions. Functions declared as imports are looked up in `symbols`.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn new(symbols: &[(&str, *const u8)]) -> Result<Program, ProgramError> {
        let mut flags = settings::builder();
        flags.set("opt_level", "speed")?;
        // A walk over frames follows the frame pointers.
        flags.set("preserve_frame_pointers", "true")?;
        // Code may lie more than 2 GiB from its callees.
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

    /// The module, to declare functions in, and for any other use.
    pub fn module(&mut self) -> &mut JITModule {
        &mut self.module
    }

    /// Compiles a declared function. A function defined here, and not in the module itself, has its
    /// stack maps.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn define(&mut self, function: FuncId, context: &mut Context) -> Result<(), ProgramError> {
        self.module.define_function(function, context)?;
        let maps = context.compiled_code().map(FunctionMaps::new).transpose()?;
        self.defined.extend(maps.map(|maps| (function, maps)));
        Ok(())
    }

    /// Links the defined functions. From here on they can run, through
    /// [`JITModule::get_finalized_function`].
    ///
    /// Code that runs a function must satisfy the predicates of [`StackMaps::add`]. The machine
    /// code stays until [`free`](Self::free), even if the program is dropped.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn finish(&mut self) -> Result<(), ProgramError> {
        self.module.finalize_definitions()?;
        for (function, maps) in self.defined.drain(..) {
            let address = self.module.get_finalized_function(function).addr();
            // SAFETY: the module put the code there that the maps were made of, permanently, and
            // compiles with frame pointers. How the function declares its references, and which
            // functions it calls, are predicates of the code that runs it.
            unsafe { self.maps.add(address, maps) };
            self.linked.push(address);
        }
        Ok(())
    }

    /// The places of the references of its functions. Give them as a
    /// [`RootProvider`](allotment::raw::RootProvider) to a heap from which the functions allocate.
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
        // SAFETY: the caller's predicate: no thread runs code in this memory.
        unsafe { self.module.free_memory() };
    }
}
