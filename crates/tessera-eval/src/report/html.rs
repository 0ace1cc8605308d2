//! `report.html`: one file with everything inside; it asks nothing of the network.

use super::model::Report;
use super::svg::escape;
use super::viewer::Exhibit;
use super::{ReportError, content, plots};
use crate::metrics::Metric;

const STYLE: &str = include_str!("assets/report.css");
const SCRIPT: &str = include_str!("assets/report.js");

pub(super) fn render(report: &Report, exhibits: &[Exhibit]) -> Result<String, ReportError> {
    let sections = [
        section("bd", "BD-rate", &bd_section(report)),
        section("curves", "Curves", &curve_section(report)),
        section("viewer", "Side by side", &viewer_section(report, exhibits)?),
        section("spread", "Picture by picture", &spread_section(report)),
        section("rates", "Quality at fixed rates", &rate_section(report)),
        section("speed", "Speed", &speed_section(report)),
        section(
            "codecs",
            "Codecs and settings",
            &content::codec_table(report).to_html(),
        ),
        skip_section(report),
    ];
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Rate-distortion report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>Rate-distortion report</h1>\n{}</header>\n<main>\n{}</main>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        paragraph(&content::overview(report)),
        sections.concat()
    ))
}

fn section(id: &str, title: &str, content: &str) -> String {
    format!(
        "<section id=\"{id}\">\n<h2>{}</h2>\n{content}</section>\n",
        escape(title)
    )
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

fn bd_section(report: &Report) -> String {
    let mut html = content::bd_table(report).to_html() + &paragraph(&content::bd_legend());
    let refusals = content::refusals(report);
    if !refusals.is_empty() {
        let items = refusals
            .iter()
            .map(|reason| format!("<li>{}</li>", escape(reason)));
        html += &format!(
            "<details><summary>Refused figures ({})</summary><ul>{}</ul></details>\n",
            refusals.len(),
            items.collect::<String>()
        );
    }
    html
}

/// Every plot is in the page; the script shows the one that the two menus name.
fn curve_section(report: &Report) -> String {
    let scopes = || {
        let pictures = report.pictures.iter().map(|p| Some(p.name.as_str()));
        [None].into_iter().chain(pictures)
    };
    let metrics: String = report
        .metrics
        .iter()
        .map(|m| option(m.name(), m.title()))
        .collect();
    let pictures: String = scopes()
        .map(|scope| option(scope.unwrap_or(""), scope.unwrap_or("mean of all pictures")))
        .collect();
    let plots = report.metrics.iter().flat_map(|metric| {
        scopes().map(move |scope| figure(*metric, scope, &plots::rd_plot(report, *metric, scope)))
    });
    format!(
        "<p class=\"controls\"><label>Metric <select id=\"plot-metric\">{metrics}</select></label> \
         <label>Picture <select id=\"plot-picture\">{pictures}</select></label></p>\n\
         <div id=\"plots\">{}</div>\n",
        plots.collect::<String>()
    )
}

fn option(value: &str, text: &str) -> String {
    format!(
        "<option value=\"{}\">{}</option>",
        escape(value),
        escape(text)
    )
}

fn figure(metric: Metric, picture: Option<&str>, svg: &str) -> String {
    let picture = escape(picture.unwrap_or(""));
    format!("<figure data-metric=\"{metric}\" data-picture=\"{picture}\" hidden>\n{svg}</figure>\n")
}

fn spread_section(report: &Report) -> String {
    let one = |metric: &Metric| {
        let plot = plots::spread_plot(report, *metric)?;
        let table = content::spread_table(report, *metric).to_html();
        Some(format!(
            "<h3>{}</h3>\n<figure>{plot}</figure>\n{table}",
            escape(metric.title())
        ))
    };
    report.metrics.iter().filter_map(one).collect()
}

fn rate_section(report: &Report) -> String {
    let tables = report
        .metrics
        .iter()
        .map(|m| content::rate_table(report, *m).to_html());
    paragraph(
        "Means over the pictures whose ladder reaches the rate; (n) where that is not all of them.",
    ) + &tables.collect::<String>()
}

fn speed_section(report: &Report) -> String {
    let note = "CPU time, so that other load disturbs it little; a codec not known to use one thread may look \
                slower here than it is on an idle machine.";
    content::speed_table(report).to_html() + &paragraph(note)
}

fn skip_section(report: &Report) -> String {
    if report.skipped.is_empty() {
        return String::new();
    }
    section(
        "skipped",
        "Left out",
        &content::skip_table(report).to_html(),
    )
}

/// The stage is markup, the exhibits are JSON that the script reads.
fn viewer_section(report: &Report, exhibits: &[Exhibit]) -> Result<String, ReportError> {
    if exhibits.is_empty() {
        return Ok(paragraph("This report was made without pictures."));
    }
    let pictures: String = exhibits
        .iter()
        .map(|e| option(&e.picture, &e.picture))
        .collect();
    let shown = report.codecs.iter().map(|c| c.name.as_str());
    let codecs: String = shown
        .filter(|name| exhibits[0].coded.iter().any(|c| c.codec == *name))
        .chain(["original"])
        .map(|name| option(name, name))
        .collect();
    // A closing tag inside the JSON would end the script element early.
    let data = serde_json::to_string(exhibits)?.replace("</", "<\\/");
    Ok(format!(
        include_str!("assets/viewer.html"),
        pictures = pictures,
        codecs = codecs,
        data = data
    ))
}
