//! A document as Markdown: answers, verdicts, tables and commands, without charts.

use super::{Document, Section, Table};
use std::fmt::Write;

/// The text.
pub fn markdown(document: &Document, title: &str) -> String {
    let mut text = format!("# {}\n", plain(title));
    if !document.warnings.is_empty() {
        text.push('\n');
    }
    for warning in &document.warnings {
        let _ = writeln!(text, "- warning: {}", plain(warning));
    }
    let answered = document.sections.iter().filter(|section| !section.answers.is_empty());
    let answers: String = answered.map(answers).collect();
    if !answers.is_empty() {
        let _ = write!(text, "\n## Answers\n\n{answers}");
    }
    for section in &document.sections {
        let _ = writeln!(text, "\n## {}\n", plain(&section.name));
        if let Some(question) = &section.question {
            let _ = writeln!(text, "*{}*\n", plain(question));
        }
        for verdict in &section.verdicts {
            let _ = writeln!(text, "- {}", plain(verdict));
        }
        for line in &section.incomplete {
            let _ = writeln!(text, "- \\* {}", plain(line));
        }
        if !section.verdicts.is_empty() || !section.incomplete.is_empty() {
            text.push('\n');
        }
        text += &table(&section.table);
        for note in &section.notes {
            let _ = writeln!(text, "\n{}", plain(note));
        }
        for command in &section.commands {
            let fence = fence(command);
            let _ = writeln!(text, "\n{fence}sh\n{command}\n{fence}");
        }
        for origin in &section.origins {
            let _ = writeln!(text, "\n{}", plain(&origin.summary()));
        }
    }
    text
}

/// The question of a section and its answers, in bold.
fn answers(section: &Section) -> String {
    let question = section.question.as_deref().map_or(String::new(), |text| format!(" *{}*", plain(text)));
    let mut text = format!("- {}:{question}\n", plain(&section.name));
    for answer in &section.answers {
        let _ = writeln!(text, "  - **{}**", plain(answer));
    }
    text
}

/// A fence of backticks that is longer than any in the text, so that the text cannot end the block.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn table(table: &Table) -> String {
    let mut text = String::new();
    if !table.constant.is_empty() {
        let _ = writeln!(text, "{}\n", plain(&table.constant));
    }
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("|{}\n", cells.map(|cell| format!(" {cell} |")).collect::<String>())
    };
    text += &line(&mut table.header.iter().map(|title| plain(&title.text)));
    text += &format!(
        "|{}\n",
        table.header.iter().map(|title| if title.number { "--:|" } else { "---|" }).collect::<String>()
    );
    for row in &table.rows {
        text += &line(&mut row.iter().map(|cell| plain(cell)));
    }
    text
}

/// Text without any meaning to Markdown, on one line.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for character in text.chars() {
        match character {
            '|' | '*' | '_' | '`' | '<' | '[' | '\\' => {
                plain.push('\\');
                plain.push(character);
            }
            control if control.is_control() => plain.push(' '),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;
    use crate::experiments;
    use crate::format::{Entry, Origin, ScoreRow, examples};

    #[test]
    fn tables_are_aligned_and_cells_stay_cells() {
        let row = ScoreRow { benchmark: "org.X.a|b".into(), missing: 1, ..examples::row() };
        let foreign = Entry { row, origin: Origin::default() };
        let arguments = vec!["warning=a *busy* machine".into(), "incomplete=interrupted".into()];
        let origin = Origin { vm_name: "allotment".into(), arguments, ..Origin::default() };
        let ours = Entry { row: ScoreRow { benchmark: "clock.tsc".into(), ..examples::row() }, origin };
        let source = Source { name: "x".into(), entries: vec![ours, foreign] };
        let text = markdown(&Document::of(vec![source], experiments::all()), "a *title*");
        let answers = "# a \\*title\\*\n\n- warning: a \\*busy\\* machine\n\n## Answers\n\n- clock: *What does reading the clock \
                       cost, and what is the shortest time that can be measured here?*\n  - **No answer without a row of mode monotonic in \
                       average time.**\n\n## clock\n";
        assert!(text.starts_with(answers), "{text}");
        assert!(text.contains("- \\* a run is incomplete: interrupted\n"), "{text}");
        assert!(text.contains("| mode | measured |") && text.contains("|---|---|--:|"), "{text}");
        assert!(text.contains("| a\\|b | thrpt | 4\\* | 250.000 |"), "{text}");
    }
}
