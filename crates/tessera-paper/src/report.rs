//! What an experiment hands back, and its three forms: terminal, Markdown and JSON.

use crate::grid::Grid;
use crate::method::Method;
use crate::published::{Published, PublishedTable};
use serde::Serialize;
use serde_json::{Value, json};

/// One measured cell: a method on a set, with the paper's figure where there is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The set, named as its data file.
    pub set: String,
    /// The method.
    pub method: Method,
    /// Mean of the samples' l2 errors, in the units of the data.
    pub mean: f64,
    /// Standard deviation of the samples' l2 errors.
    pub std: f64,
    /// Non-zeros in the whole code.
    pub nnz: usize,
    /// What the paper prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<Published>,
}

impl Row {
    /// The row with the figure the paper prints for it, if it prints one.
    pub(crate) fn beside(mut self, table: &PublishedTable) -> Self {
        self.paper = table.figure(&self.set, self.method);
        self
    }
}

/// A table of measured cells.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Short name: "1a", "2b", "openset", ...
    #[serde(rename = "table")]
    pub id: &'static str,
    /// What the table shows, for readers.
    pub title: String,
    /// What one printed unit is in the units of the data; JSON is always in the units of the data.
    #[serde(skip)]
    pub unit: f64,
    /// The cells, set by set, methods in column order.
    pub rows: Vec<Row>,
}

/// A figure that belongs to a report.
#[derive(Debug, Clone)]
pub struct Figure {
    /// File name without folder.
    pub name: String,
    /// PNG bytes.
    pub png: Vec<u8>,
}

/// The outcome of an experiment.
#[derive(Debug, Clone)]
pub struct Report {
    /// The experiment's name, which is also the stem of its files.
    pub name: &'static str,
    /// The seed that reproduces it.
    pub seed: u64,
    /// At least one table.
    pub tables: Vec<Table>,
    /// What a reader should know to judge the figures, computed from them.
    pub remarks: Vec<String>,
    /// Figures to be written beside the report.
    pub figures: Vec<Figure>,
}

impl Table {
    /// The cell of one set and method.
    pub fn cell(&self, set: &str, method: Method) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.set == set && row.method == method)
    }

    /// The sets in the order in which they appear.
    pub fn sets(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.set.as_str()))
    }

    /// The methods in the order in which they appear.
    pub fn methods(&self) -> Vec<Method> {
        distinct(self.rows.iter().map(|row| row.method))
    }

    /// Two lines per set, the paper's figures above ours; one line where the paper has none.
    fn grid(&self) -> Grid {
        let methods = self.methods();
        let mut header = vec!["set".to_owned(), unit_label(self.unit), "nnz".to_owned()];
        header.extend(methods.iter().map(|method| method.label().to_owned()));
        let mut grid = Grid::new(header);
        for set in self.sets() {
            let cells = |text: &dyn Fn(&Row) -> String| -> Vec<String> {
                let cell = |&method: &Method| self.cell(set, method).map(text).unwrap_or_default();
                methods.iter().map(cell).collect()
            };
            let printed = cells(&|row| {
                row.paper
                    .map_or(String::new(), |paper| self.text(1, paper.mean, paper.std))
            });
            if printed.iter().any(|cell| !cell.is_empty()) {
                grid.push([set.to_owned(), "paper".to_owned(), String::new()], printed);
            }
            let measured = cells(&|row| self.text(2, row.mean, row.std));
            grid.push(
                [set.to_owned(), "ours".to_owned(), self.budget(set)],
                measured,
            );
        }
        grid
    }

    /// The non-zeros of the set's last column: the batchwise method, whose budget the table is about.
    fn budget(&self, set: &str) -> String {
        let last = self.rows.iter().rfind(|row| row.set == set);
        last.map_or(String::new(), |row| row.nnz.to_string())
    }

    fn text(&self, decimals: usize, mean: f64, std: f64) -> String {
        format!(
            "{:.decimals$}({:.decimals$})",
            mean / self.unit,
            std / self.unit
        )
    }
}

impl Report {
    /// The name of the report's Markdown file.
    pub fn file_name(&self) -> String {
        format!("{}.md", self.name)
    }

    /// The report for a terminal.
    pub fn to_terminal(&self) -> String {
        let tables = self
            .tables
            .iter()
            .map(|table| format!("{}\n{}", heading(table), table.grid().to_terminal()));
        self.assemble(tables.collect(), |remark| format!("{remark}\n"))
    }

    /// The report as Markdown; figures are linked by name.
    pub fn to_markdown(&self) -> String {
        let mut parts = vec![format!("# {}, seed {}\n", self.name, self.seed)];
        for table in &self.tables {
            parts.push(format!(
                "## {}\n\n{}",
                heading(table),
                table.grid().to_markdown()
            ));
        }
        let figures = self
            .figures
            .iter()
            .map(|picture| format!("![{0}]({0})\n", picture.name));
        parts.extend(figures);
        self.assemble(parts, |remark| format!("{remark}\n"))
    }

    fn assemble(&self, mut parts: Vec<String>, paragraph: impl Fn(&String) -> String) -> String {
        parts.extend(self.remarks.iter().map(paragraph));
        parts.join("\n")
    }

    /// The report as JSON: the first table is the object itself, further tables have the same
    /// layout below `"further"`.
    pub fn to_json(&self) -> Value {
        let mut value = json!(self.tables.first());
        value["seed"] = json!(self.seed);
        value["remarks"] = json!(self.remarks);
        value["further"] = json!(self.tables.get(1..).unwrap_or_default());
        value
    }
}

fn heading(table: &Table) -> String {
    format!("{}: {}", table.id, table.title)
}

fn unit_label(unit: f64) -> String {
    if unit >= 1.0 {
        format!("x{unit}")
    } else {
        format!("x{unit:e}")
    }
}

fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.fold(Vec::new(), |mut seen, item| {
        if !seen.contains(&item) {
            seen.push(item);
        }
        seen
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let row = |set: &str, method, mean, paper| Row {
            set: set.to_owned(),
            method,
            mean,
            std: 3.1,
            nnz: 18_000,
            paper,
        };
        let paper = Some(Published {
            mean: 17.0,
            std: 3.0,
        });
        let rows = vec![
            row("lena", Method::Ksvd, 19.2, None),
            row("lena", Method::Batch, 17.04, paper),
        ];
        let table = |id| Table {
            id,
            title: "patches".into(),
            unit: 10.0,
            rows: rows.clone(),
        };
        Report {
            name: "table1",
            seed: 7,
            tables: vec![table("1a"), table("1b")],
            remarks: vec!["As expected.".into()],
            figures: Vec::new(),
        }
    }

    #[test]
    fn json_has_the_agreed_layout() {
        let value = report().to_json();
        assert_eq!(value["table"], "1a");
        let row = &value["rows"][1];
        assert_eq!(
            (&row["set"], &row["method"], &row["nnz"]),
            (&json!("lena"), &json!("batch"), &json!(18_000))
        );
        assert_eq!(
            (&row["mean"], &row["std"], &row["paper"]["mean"]),
            (&json!(17.04), &json!(3.1), &json!(17.0))
        );
        assert_eq!(value["further"][0]["table"], "1b");
        assert!(value["rows"][0].get("paper").is_none());
    }

    #[test]
    fn paper_and_ours_stand_in_the_same_column() {
        let text = report().to_terminal();
        let lines: Vec<&str> = text.lines().collect();
        let paper = lines.iter().find(|line| line.contains("paper")).unwrap();
        let ours = lines.iter().find(|line| line.contains("ours")).unwrap();
        let column = lines[1].find("Batch").unwrap();
        assert!(paper[column..].starts_with("1.7(0.3)"), "{text}");
        assert!(ours[column..].starts_with("1.70(0.31)"), "{text}");
        assert!(text.contains("As expected."));
    }

    #[test]
    fn markdown_is_a_table_with_remarks() {
        let text = report().to_markdown();
        assert!(
            text.contains("| lena | ours | 18000 | 1.92(0.31) | 1.70(0.31) |"),
            "{text}"
        );
        assert!(text.contains("As expected."));
    }
}
