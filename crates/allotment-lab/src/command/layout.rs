//! `allotment layout`: how the objects of the experiments lie in memory, beside the Java classes
//! that stand for them.

use super::jvm::JvmArguments;
use super::{Failure, print};
use crate::harness::{Experiment, ObjectShape};
use crate::jvm::{JavaField, JavaLayout};
use std::fmt::Write as _;

/// The experiments and JVMs to show.
#[derive(Clone, Debug, clap::Args)]
pub struct LayoutArguments {
    /// Names of experiments [default: all that have objects of their own].
    #[arg(value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,

    /// The JVMs whose classes stand beside them.
    #[command(flatten)]
    pub on_jvms: JvmArguments,
}

/// Prints the layouts.
///
/// # Errors
/// [`Failure::Usage`] for an experiment that has no objects, or for wrong flags.
/// [`Failure::Failed`] if a JVM was asked for by name and has no layouts; ours are printed then.
pub fn layout(arguments: &LayoutArguments, all: &[&Experiment]) -> Result<(), Failure> {
    let chosen = choose(&arguments.experiments, all)?;
    let mut undone = Vec::new();
    let classes: Vec<&str> =
        chosen.iter().flat_map(|(_, shapes)| shapes).filter_map(|shape| shape.java).collect();
    let on_jvms = arguments.on_jvms.layouts(&classes, &mut undone)?;
    let mut text = String::new();
    for (experiment, shapes) in &chosen {
        for ObjectShape { shape, java } in shapes {
            let ours = shape.layout().to_string();
            let _ = writeln!(text, "{experiment}: {ours}");
            for (jvm, layouts) in &on_jvms {
                let place = java.and_then(|java| classes.iter().position(|class| *class == java));
                if let Some(layout) = place.and_then(|place| layouts.get(place)) {
                    let _ = writeln!(text, "{jvm}: {}", table(layout));
                }
            }
        }
    }
    print(&text)?;
    if undone.is_empty() { Ok(()) } else { Err(Failure::Failed(undone.join("; "))) }
}

/// An experiment's name and the shapes of its objects.
type Chosen<'e> = Vec<(&'e str, Vec<ObjectShape>)>;

fn choose<'e>(names: &[String], all: &[&'e Experiment]) -> Result<Chosen<'e>, Failure> {
    let with: Chosen<'e> =
        all.iter().map(|one| (one.name, (one.objects)())).filter(|(_, own)| !own.is_empty()).collect();
    if let Some(name) = names.iter().find(|name| with.iter().all(|(known, _)| known != name)) {
        let there: Vec<&str> = with.iter().map(|(name, _)| *name).collect();
        let there = there.join(", ");
        return Err(Failure::Usage(format!("`{name}` has no objects of its own; {there} have")));
    }
    Ok(with.into_iter().filter(|(name, _)| names.is_empty() || names.iter().any(|one| one == name)).collect())
}

/// A class's layout in the form of ours. Bytes without a field, between fields and at the end, are
/// lost.
fn table(layout: &JavaLayout) -> String {
    let JavaLayout { name, bytes, header_bytes, fields } = layout;
    let mut text = format!("{name}: {bytes} bytes\n  offset    bytes  what    name\n");
    let mut row = |offset: usize, bytes: usize, what: &str, name: &str| {
        let line = format!("{offset:>8} {bytes:>8}  {what:<6}  {name}");
        let _ = writeln!(text, "{}", line.trim_end());
    };
    row(0, *header_bytes, "header", "");
    let (mut end, mut lost) = (*header_bytes, 0);
    for JavaField { offset, bytes, type_name, name } in fields {
        // Fields of a JVM may share bytes with the header, as a length does.
        lost += offset.saturating_sub(end);
        row(*offset, *bytes, type_name, name);
        end = end.max(offset + bytes);
    }
    lost += bytes.saturating_sub(end);
    text += &match lost {
        0 => "alignment loses nothing\n".into(),
        lost => format!("alignment loses {lost} bytes of each object\n"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;

    #[test]
    fn experiments_without_objects_are_refused_by_name() {
        let all = experiments::all();
        assert!(choose(&[], all).unwrap().len() > 3);
        let one = choose(&["lists".into()], all).unwrap();
        assert_eq!((one.len(), one[0].1[0].shape.fixed_bytes()), (1, 32));
        for name in ["clock", "nothing"] {
            let Err(Failure::Usage(text)) = choose(&[name.into()], all) else { panic!("{name}") };
            assert!(text.starts_with(&format!("`{name}` has no objects of its own; ")), "{text}");
        }
    }

    #[test]
    fn a_class_is_told_as_a_shape_is() {
        let field = |offset, bytes, type_name: &str, name: &str| JavaField {
            offset,
            bytes,
            type_name: type_name.into(),
            name: name.into(),
        };
        let fields = vec![field(12, 4, "Node", "next"), field(24, 8, "long", "key")];
        let layout = JavaLayout { name: "Lists$Node".into(), bytes: 40, header_bytes: 12, fields };
        let expected = "\
Lists$Node: 40 bytes
  offset    bytes  what    name
       0       12  header
      12        4  Node    next
      24        8  long    key
alignment loses 16 bytes of each object
";
        assert_eq!(table(&layout), expected);
    }
}
