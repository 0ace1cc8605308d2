//! A small SVG writer: shapes with rounded coordinates and escaped text.

use std::fmt::Write;

/// An SVG picture under construction.
#[derive(Debug)]
pub(super) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Where a text hangs on its coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

impl Svg {
    /// An empty picture on white.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut svg = Self {
            width,
            height,
            body: String::new(),
        };
        svg.rect((0.0, 0.0), (width, height), "#ffffff");
        svg
    }

    /// A filled rectangle.
    pub(super) fn rect(&mut self, at: (f64, f64), size: (f64, f64), fill: &str) {
        let ((x, y), (w, h)) = (at, size);
        self.push(&format!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" fill="{fill}"/>"#
        ));
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), color: &str, width: f64) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.push(&format!(
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{color}" stroke-width="{width}"/>"#
        ));
    }

    /// A line through points.
    pub(super) fn polyline(&mut self, points: &[(f64, f64)], color: &str) {
        let mut path = String::new();
        for (x, y) in points {
            // Writing to a string cannot fail.
            let _ = write!(path, "{x:.1},{y:.1} ");
        }
        self.push(&format!(
            r#"<polyline points="{}" fill="none" stroke="{color}" stroke-width="2" stroke-linejoin="round"/>"#,
            path.trim_end()
        ));
    }

    /// A dot whose tip shows on hovering, in a browser even without scripts.
    pub(super) fn dot(&mut self, at: (f64, f64), radius: f64, color: &str, tip: &str) {
        let (x, y) = at;
        self.push(&format!(
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" fill="{color}" stroke="white" stroke-width="1"><title>{}</title></circle>"#,
            escape(tip)
        ));
    }

    /// A text of 12 pixels unless said otherwise.
    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, size: f64, text: &str) {
        let (x, y) = at;
        self.push(&format!(
            r##"<text x="{x:.1}" y="{y:.1}" text-anchor="{}" font-size="{size}" fill="#333333">{}</text>"##,
            anchor.name(),
            escape(text)
        ));
    }

    /// A text turned to read upwards.
    pub(super) fn upward_text(&mut self, at: (f64, f64), text: &str) {
        let (x, y) = at;
        self.push(&format!(
            r##"<text transform="translate({x:.1} {y:.1}) rotate(-90)" text-anchor="middle" font-size="13" fill="#333333">{}</text>"##,
            escape(text)
        ));
    }

    /// Everything drawn inside is cut off at the rectangle; `id` must be unique in the page.
    pub(super) fn clipped(
        &mut self,
        id: &str,
        at: (f64, f64),
        size: (f64, f64),
        draw: impl FnOnce(&mut Self),
    ) {
        let ((x, y), (w, h)) = (at, size);
        let id = escape(id);
        self.push(&format!(
            r#"<clipPath id="{id}"><rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}"/></clipPath><g clip-path="url(#{id})">"#
        ));
        draw(self);
        self.push("</g>");
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// The finished document.
    pub(super) fn finish(self, label: &str) -> String {
        let (w, h) = (self.width, self.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             role=\"img\" aria-label=\"{}\" font-family=\"system-ui, sans-serif\">\n{}</svg>\n",
            escape(label),
            self.body
        )
    }
}

/// Text made safe inside elements and attributes of SVG and HTML.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.dot((1.0, 2.0), 3.0, "red", "<script>&\"'");
        let text = svg.finish("a\"b");
        assert!(text.contains("&lt;script&gt;&amp;&quot;&#39;"));
        assert!(text.contains("a&quot;b") && !text.contains("<script>"));
    }
}
