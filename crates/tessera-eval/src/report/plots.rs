//! The plots: rate-distortion curves and the spread of BD-rates over the pictures.

use super::axis::Axis;
use super::model::{BdRow, Report};
use super::svg::{Anchor, Svg};
use crate::metrics::Metric;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 48.0;
const GRID: &str = "#e4e4e4";

/// Okabe and Ito's colours, distinguishable with any colour vision; then they repeat.
const COLORS: [&str; 8] = [
    "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a7a00",
];

/// The colour of the n-th codec, the same in every plot.
pub(super) fn color(index: usize) -> &'static str {
    COLORS[index % COLORS.len()]
}

/// A codec's line: its place among the codecs, its name, and (bpp, value, quality).
struct Series<'a> {
    index: usize,
    name: &'a str,
    points: Vec<(f64, f64, &'a str)>,
}

/// The curves of a metric: averaged over the pictures, or of one picture.
pub(super) fn rd_plot(report: &Report, metric: Metric, picture: Option<&str>) -> String {
    let series: Vec<Series<'_>> = report
        .codecs
        .iter()
        .enumerate()
        .map(|(index, codec)| Series {
            index,
            name: &codec.name,
            points: match picture {
                None => mean_points(report, metric, &codec.name),
                Some(picture) => picture_points(report, metric, &codec.name, picture),
            },
        })
        .collect();
    let scope = match picture {
        None => format!("mean of {} pictures", report.pictures.len()),
        Some(picture) => picture.to_owned(),
    };
    let title = format!("{} against rate, {scope}", metric.title());
    let id = format!("clip-{metric}-{}", picture.unwrap_or("mean"));
    draw_curves(&series, metric, &title, &id)
}

fn mean_points<'a>(report: &'a Report, metric: Metric, codec: &str) -> Vec<(f64, f64, &'a str)> {
    let mut curves = report.curves.iter();
    let curve = curves.find(|c| c.metric == metric && c.codec == codec);
    let points = curve.map_or(&[][..], |c| &c.points);
    points
        .iter()
        .map(|p| (p.bpp, p.value, p.quality.as_str()))
        .collect()
}

fn picture_points<'a>(
    report: &'a Report,
    metric: Metric,
    codec: &'a str,
    picture: &'a str,
) -> Vec<(f64, f64, &'a str)> {
    let mut points: Vec<_> = report
        .points_of(codec, picture)
        .filter_map(|p| Some((p.bpp(), p.value(metric)?, p.quality.as_str())))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn draw_curves(series: &[Series<'_>], metric: Metric, title: &str, id: &str) -> String {
    let mut svg = Svg::new(WIDTH, HEIGHT);
    let all = || series.iter().flat_map(|s| &s.points);
    let x = Axis::logarithmic(all().map(|p| p.0), (LEFT, WIDTH - RIGHT));
    let values = all().map(|p| p.1.max(lowest_shown(metric)));
    let upward = Axis::linear(values, (HEIGHT - BOTTOM, TOP));
    let y = if metric.lower_is_better() {
        upward.reversed()
    } else {
        upward
    };
    svg.text((LEFT, 21.0), Anchor::Start, 15.0, title);
    draw_grid(&mut svg, &x, &y);
    svg.text(
        (WIDTH / 2.0, HEIGHT - 10.0),
        Anchor::Middle,
        13.0,
        "bits per pixel (log scale)",
    );
    svg.upward_text((16.0, (TOP + HEIGHT - BOTTOM) / 2.0), metric.title());
    let size = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    svg.clipped(id, (LEFT, TOP), size, |svg| {
        for line in series {
            draw_series(svg, line, &x, &y, metric);
        }
    });
    draw_legend(&mut svg, series);
    svg.finish(title)
}

/// SSIMULACRA 2 falls without bound; what lies below "unusable" would only squeeze the rest.
fn lowest_shown(metric: Metric) -> f64 {
    if metric == Metric::Ssimulacra2 {
        -20.0
    } else {
        f64::NEG_INFINITY
    }
}

fn draw_grid(svg: &mut Svg, x: &Axis, y: &Axis) {
    for (value, label) in x.ticks() {
        let at = x.at(value);
        svg.line((at, TOP), (at, HEIGHT - BOTTOM), GRID, 1.0);
        svg.text((at, HEIGHT - BOTTOM + 16.0), Anchor::Middle, 12.0, &label);
    }
    for (value, label) in y.ticks() {
        let at = y.at(value);
        svg.line((LEFT, at), (WIDTH - RIGHT, at), GRID, 1.0);
        svg.text((LEFT - 6.0, at + 4.0), Anchor::End, 12.0, &label);
    }
}

fn draw_series(svg: &mut Svg, series: &Series<'_>, x: &Axis, y: &Axis, metric: Metric) {
    let color = color(series.index);
    let path: Vec<(f64, f64)> = series
        .points
        .iter()
        .map(|p| (x.at(p.0), y.at(p.1)))
        .collect();
    svg.polyline(&path, color);
    for (at, (bpp, value, quality)) in path.iter().zip(&series.points) {
        let name = series.name;
        let title = metric.title();
        svg.dot(
            *at,
            4.0,
            color,
            &format!("{name}, q {quality}: {bpp:.4} bpp, {value:.3} {title}"),
        );
    }
}

/// Bottom right: where curves that only rise never are.
fn draw_legend(svg: &mut Svg, series: &[Series<'_>]) {
    let shown: Vec<&Series<'_>> = series.iter().filter(|s| !s.points.is_empty()).collect();
    let left = WIDTH - RIGHT - 150.0;
    let top = HEIGHT - BOTTOM - 12.0 - 19.0 * shown.len() as f64;
    for (row, series) in shown.iter().enumerate() {
        let y = top + 19.0 * row as f64 + 12.0;
        svg.line((left, y), (left + 22.0, y), color(series.index), 2.5);
        svg.text((left + 28.0, y + 4.0), Anchor::Start, 12.0, series.name);
    }
}

/// BD-rates picture by picture: one row of dots per codec, the mean as a bar.
pub(super) fn spread_plot(report: &Report, metric: Metric) -> Option<String> {
    const ROW: f64 = 34.0;
    const NAMES: f64 = 150.0;
    let rows: Vec<_> = report
        .codecs
        .iter()
        .enumerate()
        .filter(|(_, codec)| codec.name != report.anchor)
        .filter_map(|(i, codec)| Some((i, report.bd_row(metric, &codec.name)?)))
        .filter(|(_, row)| row.spread.is_some())
        .collect();
    if rows.is_empty() {
        return None;
    }
    let height = TOP + ROW * rows.len() as f64 + BOTTOM;
    let mut svg = Svg::new(WIDTH, height);
    let changes = || {
        rows.iter()
            .flat_map(|(_, row)| &row.pictures)
            .filter_map(|p| Some(p.rate?.change * 100.0))
    };
    let x = Axis::linear(changes().chain([0.0]), (NAMES, WIDTH - RIGHT));
    let title = format!("BD-rate per picture, {}", metric.title());
    svg.text((12.0, 21.0), Anchor::Start, 15.0, &title);
    for (value, label) in x.ticks() {
        let at = x.at(value);
        svg.line((at, TOP), (at, height - BOTTOM), GRID, 1.0);
        svg.text((at, height - BOTTOM + 16.0), Anchor::Middle, 12.0, &label);
    }
    svg.line(
        (x.at(0.0), TOP),
        (x.at(0.0), height - BOTTOM),
        "#888888",
        1.5,
    );
    let caption = format!(
        "% of bits against {} at equal quality (left is better)",
        report.anchor
    );
    svg.text(
        ((NAMES + WIDTH) / 2.0, height - 10.0),
        Anchor::Middle,
        13.0,
        &caption,
    );
    for (place, (index, row)) in rows.iter().enumerate() {
        let y = TOP + ROW * (place as f64 + 0.5);
        svg.text((NAMES - 10.0, y + 4.0), Anchor::End, 13.0, &row.codec);
        draw_spread(&mut svg, &x, y, row, color(*index));
    }
    Some(svg.finish(&title))
}

/// Draws the changes of one codec's rates along a row: a dot for each picture, a line for their mean.
fn draw_spread(svg: &mut Svg, x: &Axis, y: f64, row: &BdRow, colour: &str) {
    for picture in &row.pictures {
        if let Some(rate) = picture.rate {
            let change = rate.change * 100.0;
            let tip = format!("{} on {}: {change:+.1} %", row.codec, picture.picture);
            svg.dot((x.at(change), y), 5.0, colour, &tip);
        }
    }
    if let Some(spread) = &row.spread {
        let at = x.at(spread.mean * 100.0);
        svg.line((at, y - 12.0), (at, y + 12.0), colour, 3.0);
    }
}
