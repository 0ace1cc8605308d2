//! Tables, written down as Markdown or HTML.

use super::svg::escape;

/// A table; every row has as many cells as the head.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            head: head.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// First column to the left, the others to the right.
    pub(super) fn to_markdown(&self) -> String {
        let line = |cells: &[String]| {
            let safe: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
            format!("| {} |\n", safe.join(" | "))
        };
        let rule = format!(
            "|---|{}\n",
            "---:|".repeat(self.head.len().saturating_sub(1))
        );
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.head) + &rule + &rows
    }

    pub(super) fn to_html(&self) -> String {
        let line = |tag: &str, cells: &[String]| {
            let cells: String = cells
                .iter()
                .map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)))
                .collect();
            format!("<tr>{cells}</tr>\n")
        };
        let rows: String = self.rows.iter().map(|row| line("td", row)).collect();
        let head = line("th", &self.head);
        format!(
            "<div class=\"scroll\"><table>\n<thead>{head}</thead>\n<tbody>{rows}</tbody>\n</table></div>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_keep_odd_text_in_its_cell() {
        let mut table = Table::new(["codec", "a|b"]);
        table.row(["<x>", "1"]);
        assert_eq!(
            table.to_markdown(),
            "| codec | a\\|b |\n|---|---:|\n| <x> | 1 |\n"
        );
        assert!(table.to_html().contains("<td>&lt;x&gt;</td>"));
    }
}
