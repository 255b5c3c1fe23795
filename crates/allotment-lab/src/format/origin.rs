//! The program that measured a row, in the words of JMH's files.

/// The program that measured a row, in JMH's words. A field is empty where a release lacks it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// `jvm`: path of the program.
    pub program: String,
    /// `jvmArgs`: in the lab's files the machine and the settings, one `key=value` each; in other
    /// files the JVM's flags.
    pub arguments: Vec<String>,
    /// `jdkVersion`; `n/a` in the lab's files.
    pub jdk_version: String,
    /// `vmName`; `allotment` in the lab's files.
    pub vm_name: String,
    /// `vmVersion`.
    pub vm_version: String,
}

impl Origin {
    /// Whether the lab, and not a JVM, measured the row.
    pub fn is_ours(&self) -> bool {
        self.vm_name == super::json::VM_NAME
    }

    /// The value of one of the lab's circumstances; `None` for a JVM.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts(name).next()
    }

    /// The values of a circumstance that may be there several times; none for a JVM.
    pub fn facts<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let arguments = if self.is_ours() { self.arguments.as_slice() } else { &[] };
        arguments.iter().filter_map(move |argument| argument.strip_prefix(name)?.strip_prefix('='))
    }
}
