//! Who measured a row, if it was not this program: the fields in which JMH's files say so.

/// A Java virtual machine that measured a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VirtualMachine {
    /// Its program.
    pub jvm: String,
    /// Its flags.
    pub jvm_args: Vec<String>,
    /// Version of the JDK.
    pub jdk_version: String,
    /// Its own name.
    pub name: String,
    /// Its own version.
    pub version: String,
}
