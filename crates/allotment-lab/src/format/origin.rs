//! What measured a row, in the words of JMH's files.

/// What measured a row, in JMH's words. Empty where a release does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// `jvm`: path of the program.
    pub program: String,
    /// `jvmArgs`: of our files the machine and the settings, one `key=value` each; of others the JVM's flags.
    pub arguments: Vec<String>,
    /// `jdkVersion`; `n/a` in our files.
    pub jdk_version: String,
    /// `vmName`; `allotment` in our files.
    pub vm_name: String,
    /// `vmVersion`.
    pub vm_version: String,
}

impl Origin {
    /// Whether the row is one of ours and not a JVM's.
    pub fn is_ours(&self) -> bool {
        self.vm_name == super::json::VM_NAME
    }

    /// The value of a circumstance of ours; none for a JVM.
    pub fn fact(&self, name: &str) -> Option<&str> {
        if !self.is_ours() {
            return None;
        }
        self.arguments.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='))
    }
}
