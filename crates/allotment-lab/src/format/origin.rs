//! The program that measured a row, in the words of JMH's files.

use allotment_report::page;

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

    /// The program and the machine, as a page shows them.
    pub(crate) fn on_page(&self) -> page::Origin {
        let program = (!self.program.is_empty()).then(|| format!("program={}", self.program));
        let details = program.into_iter().chain(self.arguments.iter().cloned()).collect();
        page::Origin { summary: self.summary(), details }
    }

    /// One line about the program that measured, and its machine.
    fn summary(&self) -> String {
        let join = |parts: &[&str]| {
            parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ")
        };
        if !self.is_ours() {
            let version = if self.jdk_version.is_empty() { &self.vm_version } else { &self.jdk_version };
            let machine = if self.vm_name.is_empty() { "an unnamed program" } else { &self.vm_name };
            let flags = self.arguments.join(" ");
            return join(&[&format!("{machine} {version}"), &flags]).replace(" ,", ",");
        }
        let fact = |name: &str| self.fact(name).unwrap_or_default().to_string();
        let cache = |name: &str| {
            let size = fact(name);
            let size = size.split(',').next().unwrap_or_default();
            if size.is_empty() { String::new() } else { format!("{name} {size}") }
        };
        let kernel = fact("kernel");
        let kernel = if kernel.is_empty() { kernel } else { format!("Linux {kernel}") };
        join(&[
            &format!("allotment {}", self.vm_version),
            &fact("processor"),
            &if fact("CPUs").is_empty() { String::new() } else { format!("CPUs: {}", fact("CPUs")) },
            &cache("L2"),
            &cache("L3"),
            &kernel,
        ])
    }
}
