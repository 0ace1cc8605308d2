//! A grid of texts, drawn with spaces for terminals or with pipes for Markdown.

/// A header and rows of the same length.
pub(crate) struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    pub(crate) fn new(header: Vec<String>) -> Self {
        Self {
            header,
            rows: Vec::new(),
        }
    }

    /// Adds a row made of its leading cells and the rest; it must be as long as the header.
    pub(crate) fn push(&mut self, leading: impl IntoIterator<Item = String>, rest: Vec<String>) {
        let row: Vec<String> = leading.into_iter().chain(rest).collect();
        debug_assert_eq!(row.len(), self.header.len());
        self.rows.push(row);
    }

    /// Columns aligned with spaces, a rule below the header.
    pub(crate) fn to_terminal(&self) -> String {
        let widths: Vec<usize> = (0..self.header.len())
            .map(|column| self.width(column))
            .collect();
        let line = |row: &Vec<String>| {
            let cells = row
                .iter()
                .zip(&widths)
                .map(|(cell, &width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        let rule = widths.iter().map(|&width| "-".repeat(width)).collect();
        let lines = [&self.header, &rule].into_iter().chain(&self.rows);
        lines.map(line).collect()
    }

    /// A Markdown table.
    pub(crate) fn to_markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let rule = vec!["---".to_owned(); self.header.len()];
        let lines = [&self.header, &rule].into_iter().chain(&self.rows);
        lines.map(line).collect()
    }

    fn width(&self, column: usize) -> usize {
        let cells = std::iter::once(&self.header).chain(&self.rows);
        cells
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    }
}
