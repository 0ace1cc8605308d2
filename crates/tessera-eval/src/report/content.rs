//! What both the Markdown and the HTML report say: headings, sentences and tables.

use super::model::{BdRow, Report, SPEED_RATE, TABLE_RATES};
use super::table::Table;
use crate::bd::SMALL_OVERLAP;
use crate::metrics::Metric;
use std::collections::BTreeMap;

/// Meaning of the marks in [`bd_table`].
pub(super) fn bd_legend() -> String {
    format!(
        "Negative is fewer bits than the anchor at equal quality. PCHIP on log rate, per picture, then averaged; \
         (n) = only n pictures have a figure; * = on some picture the shared quality range is below {:.0} % of \
         either curve; ~ = on some picture a curve is not monotone and the offending points were left out.",
        SMALL_OVERLAP * 100.0
    )
}

/// One sentence about what was measured.
pub(super) fn overview(report: &Report) -> String {
    let pixels: f64 = report
        .pictures
        .iter()
        .map(|p| f64::from(p.width) * f64::from(p.height))
        .sum();
    format!(
        "{} codecs on {} pictures ({:.1} megapixels), {} points, anchor {}; made by {}.",
        report.codecs.len(),
        report.pictures.len(),
        pixels / 1e6,
        report.points.len(),
        report.anchor,
        report.tool
    )
}

/// Mean BD-rates: codecs down, metrics across.
pub(super) fn bd_table(report: &Report) -> Table {
    let first = format!("BD-rate % against {}", report.anchor);
    let titles = report.metrics.iter().map(|m| m.title().to_owned());
    let mean = "mean of metrics".to_owned();
    let mut table = Table::new([first].into_iter().chain(titles).chain([mean]));
    for codec in report.codecs.iter().filter(|c| c.name != report.anchor) {
        let cells = report.metrics.iter().map(|metric| {
            report
                .bd_row(*metric, &codec.name)
                .map_or_else(String::new, bd_cell)
        });
        let mean = report.bd_over_metrics(&codec.name);
        let mean = mean.map_or_else(String::new, |mean| format!("{:+.1}", mean * 100.0));
        table.row([codec.name.clone()].into_iter().chain(cells).chain([mean]));
    }
    table
}

fn bd_cell(row: &BdRow) -> String {
    let Some(spread) = &row.spread else {
        return "refused".into();
    };
    let mut cell = format!("{:+.1}", spread.mean * 100.0);
    if spread.count < row.pictures.len() {
        cell += &format!(" ({})", spread.count);
    }
    cell + flags(row)
}

fn flags(row: &BdRow) -> &'static str {
    match (row.small_overlap > 0, row.non_monotone > 0) {
        (true, true) => " *~",
        (true, false) => " *",
        (false, true) => " ~",
        (false, false) => "",
    }
}

/// How a metric's BD-rates are spread over the pictures.
pub(super) fn spread_table(report: &Report, metric: Metric) -> Table {
    let mut table = Table::new([
        "BD-rate %",
        "mean",
        "median",
        "deviation",
        "best picture",
        "worst picture",
        "pictures",
        "shared range",
    ]);
    let rows = report.bd_rates.iter();
    for row in rows.filter(|row| row.metric == metric && row.codec != report.anchor) {
        let Some(spread) = &row.spread else { continue };
        let percent = |change: f64| format!("{:+.1}", change * 100.0);
        let overlap = row.mean_overlap.unwrap_or(0.0) * 100.0;
        table.row([
            row.codec.clone(),
            percent(spread.mean),
            percent(spread.median),
            format!("{:.1}", spread.deviation * 100.0),
            format!("{} {}", spread.best.picture, percent(spread.best.change)),
            format!("{} {}", spread.worst.picture, percent(spread.worst.change)),
            format!("{} of {}", spread.count, row.pictures.len()),
            format!("{overlap:.0} % of the anchor's{}", flags(row)),
        ]);
    }
    table
}

/// Why figures are missing, each reason once.
pub(super) fn refusals(report: &Report) -> Vec<String> {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for row in report
        .bd_rates
        .iter()
        .filter(|row| row.codec != report.anchor)
    {
        for reason in row.pictures.iter().filter_map(|p| p.refused.as_ref()) {
            let text = format!("{} in {}: {reason}", row.codec, row.metric);
            *reasons.entry(text).or_default() += 1;
        }
    }
    let plural = |count: usize| if count == 1 { "picture" } else { "pictures" };
    reasons
        .into_iter()
        .map(|(text, count)| format!("{text} ({count} {})", plural(count)))
        .collect()
}

/// Mean quality at fixed rates.
pub(super) fn rate_table(report: &Report, metric: Metric) -> Table {
    let first = format!("mean {} at", metric.title());
    let rates = TABLE_RATES.map(|rate| format!("{rate} bpp"));
    let mut table = Table::new([first].into_iter().chain(rates));
    for row in report.at_rates.iter().filter(|row| row.metric == metric) {
        let cells = row.means.iter().map(|(mean, count)| match mean {
            None => "n/a".to_owned(),
            Some(mean) if *count == report.pictures.len() => format!("{mean:.2}"),
            Some(mean) => format!("{mean:.2} ({count})"),
        });
        table.row([row.codec.clone()].into_iter().chain(cells));
    }
    table
}

/// Megapixels per CPU second.
pub(super) fn speed_table(report: &Report) -> Table {
    let first = format!("megapixels per CPU second at {SPEED_RATE} bpp");
    let mut table = Table::new([first.as_str(), "encode", "decode", "threads"]);
    for row in &report.speeds {
        let cell = |speed: Option<f64>| speed.map_or_else(|| "n/a".into(), significant);
        let threads = if row.single_threaded {
            "one"
        } else {
            "not known to be one"
        };
        table.row([
            row.codec.clone(),
            cell(row.encode),
            cell(row.decode),
            threads.into(),
        ]);
    }
    table
}

/// Three significant digits.
fn significant(value: f64) -> String {
    let whole_digits = value.abs().max(1e-9).log10().floor() as i32 + 1;
    let decimals = usize::try_from(3 - whole_digits).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// Versions and settings: what a repetition needs.
pub(super) fn codec_table(report: &Report) -> Table {
    let mut table = Table::new(["codec", "software", "settings", "qualities"]);
    for codec in &report.codecs {
        table.row([
            codec.name.clone(),
            codec.version.clone(),
            codec.settings.clone(),
            codec.qualities.join(" "),
        ]);
    }
    table
}

/// What was left out.
pub(super) fn skip_table(report: &Report) -> Table {
    let mut table = Table::new(["left out", "reason"]);
    for skip in &report.skipped {
        table.row([skip.what.clone(), skip.reason.clone()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn three_digits_whatever_the_size() {
        let texts = [0.034_56, 3.456, 34.56, 3456.0].map(significant);
        assert_eq!(texts, ["0.0346", "3.46", "34.6", "3456"]);
    }
}
