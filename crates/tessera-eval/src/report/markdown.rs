//! `report.md`: the tables and the plots by file name.

use super::content;
use super::model::Report;
use super::{rd_plot_name, spread_plot_name};

pub(super) fn render(report: &Report) -> String {
    let mut text = String::from("# Rate-distortion report\n\n");
    text += &format!("{}\n\n## BD-rate\n\n", content::overview(report));
    text += &format!(
        "{}\n{}\n",
        content::bd_table(report).to_markdown(),
        content::bd_legend()
    );
    let refusals = content::refusals(report);
    if !refusals.is_empty() {
        text += "\nRefused:\n\n";
        text.extend(refusals.iter().map(|reason| format!("- {reason}\n")));
    }
    for metric in &report.metrics {
        let rd_plot = rd_plot_name(*metric);
        text += &format!(
            "\n## {}\n\n![{}]({rd_plot})\n\n",
            metric.title(),
            metric.title()
        );
        text += &content::rate_table(report, *metric).to_markdown();
        if report.has_spread(*metric) {
            let plot = spread_plot_name(*metric);
            text += &format!("\n{}", content::spread_table(report, *metric).to_markdown());
            text += &format!("\n![BD-rate per picture]({plot})\n");
        }
    }
    text += &format!(
        "\n## Speed\n\n{}",
        content::speed_table(report).to_markdown()
    );
    text += &format!(
        "\n## Codecs\n\n{}",
        content::codec_table(report).to_markdown()
    );
    if !report.skipped.is_empty() {
        text += &format!(
            "\n## Left out\n\n{}",
            content::skip_table(report).to_markdown()
        );
    }
    text
}
