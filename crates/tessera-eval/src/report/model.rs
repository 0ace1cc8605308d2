//! What a report says, computed once from the points; every output format only writes it down.

use super::spread::Spread;
use crate::bd::{BdRate, BdRefusal, RdCurve, bd_rate};
use crate::codec::Codec;
use crate::curve::Pchip;
use crate::metrics::Metric;
use crate::points::Point;
use crate::run::{Ladder, Skip, Source};
use serde::Serialize;
use std::collections::BTreeMap;

/// Rates of the quality table, in bits per pixel.
pub const TABLE_RATES: [f64; 3] = [0.25, 0.5, 1.0];

/// The rate at which speeds are compared.
pub const SPEED_RATE: f64 = 0.75;

/// A codec as the report names it.
#[derive(Clone, Debug, Serialize)]
pub struct CodecInfo {
    /// Short name.
    pub name: String,
    /// Software and version.
    pub version: String,
    /// Settings besides the quality.
    pub settings: String,
    /// Whether its timings are those of one thread.
    pub single_threaded: bool,
    /// Qualities measured.
    pub qualities: Vec<String>,
}

impl CodecInfo {
    /// Describes a codec of a run.
    #[must_use]
    pub fn of(ladder: &Ladder) -> Self {
        let codec: &dyn Codec = &*ladder.codec;
        Self {
            name: codec.name().to_owned(),
            version: codec.version(),
            settings: codec.settings(),
            single_threaded: codec.single_threaded(),
            qualities: ladder.qualities.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A picture as the report names it.
#[derive(Clone, Debug, Serialize)]
pub struct PictureInfo {
    /// Name in the points.
    pub name: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl From<&Source> for PictureInfo {
    fn from(source: &Source) -> Self {
        Self {
            name: source.name.clone(),
            width: source.width,
            height: source.height,
        }
    }
}

/// Everything a report is made of.
#[derive(Clone, Debug)]
pub struct ReportInput {
    /// Codecs, in the order of tables; the first is "ours" to the viewer.
    pub codecs: Vec<CodecInfo>,
    /// Pictures, in order.
    pub pictures: Vec<PictureInfo>,
    /// Metrics, in order; the first one ranks pictures.
    pub metrics: Vec<Metric>,
    /// The codec that BD-rates compare with.
    pub anchor: String,
    /// The points.
    pub points: Vec<Point>,
    /// What was left out.
    pub skipped: Vec<Skip>,
}

/// One picture's BD-rate, or why there is none.
#[derive(Clone, Debug, Serialize)]
pub struct PictureBd {
    /// The picture.
    pub picture: String,
    /// The figure and its range.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BdRate>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Points of either curve left out because a cheaper one was as good.
    pub non_monotone: usize,
}

/// A codec's BD-rates against the anchor in one metric.
#[derive(Clone, Debug, Serialize)]
pub struct BdRow {
    /// The codec.
    pub codec: String,
    /// The metric.
    pub metric: Metric,
    /// Average and extremes over the pictures that have a figure.
    pub spread: Option<Spread>,
    /// Average part of the anchor's quality range that both curves share.
    pub mean_overlap: Option<f64>,
    /// Pictures whose shared range is small.
    pub small_overlap: usize,
    /// Pictures where a curve is not monotone.
    pub non_monotone: usize,
    /// Picture by picture.
    pub pictures: Vec<PictureBd>,
}

/// A codec's mean quality at fixed rates.
#[derive(Clone, Debug, Serialize)]
pub struct RateRow {
    /// The codec.
    pub codec: String,
    /// The metric.
    pub metric: Metric,
    /// Per rate of [`TABLE_RATES`]: the mean and how many pictures reach the rate.
    pub means: Vec<(Option<f64>, usize)>,
}

/// A codec's speed in megapixels per CPU second at [`SPEED_RATE`].
#[derive(Clone, Debug, Serialize)]
pub struct SpeedRow {
    /// The codec.
    pub codec: String,
    /// Encoding.
    pub encode: Option<f64>,
    /// Decoding.
    pub decode: Option<f64>,
    /// Whether one thread did it all.
    pub single_threaded: bool,
}

/// A point of a mean curve.
#[derive(Clone, Debug, Serialize)]
pub struct MeanPoint {
    /// The quality.
    pub quality: String,
    /// Mean bits per pixel.
    pub bpp: f64,
    /// Mean metric.
    pub value: f64,
}

/// A codec's curve, averaged over the pictures at each quality.
#[derive(Clone, Debug, Serialize)]
pub struct MeanCurve {
    /// The codec.
    pub codec: String,
    /// The metric.
    pub metric: Metric,
    /// By rising rate.
    pub points: Vec<MeanPoint>,
}

/// The finished figures.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What made the report.
    pub tool: String,
    /// The codec that BD-rates compare with.
    pub anchor: String,
    /// Metrics, in order.
    pub metrics: Vec<Metric>,
    /// Pictures, in order.
    pub pictures: Vec<PictureInfo>,
    /// Codecs, in order.
    pub codecs: Vec<CodecInfo>,
    /// What was left out.
    pub skipped: Vec<Skip>,
    /// BD-rates, metric by metric.
    pub bd_rates: Vec<BdRow>,
    /// Quality at fixed rates.
    pub at_rates: Vec<RateRow>,
    /// Speeds.
    pub speeds: Vec<SpeedRow>,
    /// Mean curves.
    pub curves: Vec<MeanCurve>,
    /// The points themselves, for per-picture plots.
    #[serde(skip)]
    pub points: Vec<Point>,
}

impl Report {
    /// Computes the figures.
    #[must_use]
    pub fn new(input: ReportInput) -> Self {
        let grouped = Grouped::new(&input.points);
        let pairs: Vec<(Metric, &CodecInfo)> = input
            .metrics
            .iter()
            .flat_map(|metric| input.codecs.iter().map(|codec| (*metric, codec)))
            .collect();
        let pictures = &input.pictures;
        Self {
            tool: format!("tessera-eval {}", env!("CARGO_PKG_VERSION")),
            bd_rates: pairs
                .iter()
                .map(|(m, c)| grouped.bd_row(*m, &c.name, &input.anchor, pictures))
                .collect(),
            at_rates: pairs
                .iter()
                .map(|(m, c)| grouped.rate_row(*m, &c.name, pictures))
                .collect(),
            speeds: input
                .codecs
                .iter()
                .map(|c| grouped.speed_row(c, pictures))
                .collect(),
            curves: pairs
                .iter()
                .map(|(m, c)| grouped.mean_curve(*m, &c.name))
                .collect(),
            anchor: input.anchor,
            metrics: input.metrics,
            pictures: input.pictures,
            codecs: input.codecs,
            skipped: input.skipped,
            points: input.points,
        }
    }

    /// The BD-rates of a codec in a metric.
    #[must_use]
    pub fn bd_row(&self, metric: Metric, codec: &str) -> Option<&BdRow> {
        let mut rows = self.bd_rates.iter();
        rows.find(|row| row.metric == metric && row.codec == codec)
    }

    /// The BD-rate of a codec on average over the metrics, each counting the same: the mean of the logarithms of its rates.
    /// `None` unless there are at least two metrics and it has a figure in all that allow one.
    #[must_use]
    pub fn bd_over_metrics(&self, codec: &str) -> Option<f64> {
        let metrics = self.metrics.iter().filter(|m| m.bd_refusal().is_none());
        let logarithms: Vec<f64> = metrics
            .map(|metric| {
                let spread = self.bd_row(*metric, codec)?.spread.as_ref()?;
                Some((1.0 + spread.mean).ln())
            })
            .collect::<Option<_>>()?;
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        (logarithms.len() > 1).then(|| mean.exp_m1())
    }

    /// Whether any codec has a BD-rate against the anchor in a metric.
    #[must_use]
    pub fn has_spread(&self, metric: Metric) -> bool {
        let mut rows = self.bd_rates.iter();
        rows.any(|row| row.metric == metric && row.codec != self.anchor && row.spread.is_some())
    }

    /// The points of a codec on a picture, in ladder order.
    pub fn points_of<'a>(
        &'a self,
        codec: &'a str,
        picture: &'a str,
    ) -> impl Iterator<Item = &'a Point> {
        let all = self.points.iter();
        all.filter(move |p| p.codec == codec && p.image == picture)
    }
}

/// Points by codec and picture.
struct Grouped<'a> {
    points: BTreeMap<&'a str, BTreeMap<&'a str, Vec<&'a Point>>>,
}

impl<'a> Grouped<'a> {
    fn new(all: &'a [Point]) -> Self {
        let mut points: BTreeMap<_, BTreeMap<_, Vec<&Point>>> = BTreeMap::new();
        for point in all {
            let of_codec = points.entry(point.codec.as_str()).or_default();
            of_codec
                .entry(point.image.as_str())
                .or_default()
                .push(point);
        }
        Self { points }
    }

    fn of(&self, codec: &str, picture: &str) -> &[&'a Point] {
        let of_codec = self.points.get(codec);
        of_codec
            .and_then(|pictures| pictures.get(picture))
            .map_or(&[], Vec::as_slice)
    }

    fn curve(&self, metric: Metric, codec: &str, picture: &str) -> RdCurve {
        let points = self.of(codec, picture).iter();
        RdCurve::new(
            metric,
            points.filter_map(|p| Some((p.bpp(), p.value(metric)?))),
        )
    }

    fn bd_row(&self, metric: Metric, codec: &str, anchor: &str, pictures: &[PictureInfo]) -> BdRow {
        let pictures: Vec<PictureBd> = pictures
            .iter()
            .filter(|p| !self.of(codec, &p.name).is_empty())
            .map(|p| self.picture_bd(metric, codec, anchor, &p.name))
            .collect();
        let rates: Vec<&BdRate> = pictures.iter().filter_map(|p| p.rate.as_ref()).collect();
        let overlaps = rates.iter().map(|rate| rate.overlap_anchor);
        let changes = pictures
            .iter()
            .filter_map(|p| Some((p.picture.as_str(), p.rate?.change)));
        BdRow {
            codec: codec.to_owned(),
            metric,
            spread: Spread::of(changes),
            mean_overlap: (!rates.is_empty()).then(|| overlaps.sum::<f64>() / rates.len() as f64),
            small_overlap: rates.iter().filter(|rate| rate.small_overlap()).count(),
            non_monotone: pictures.iter().filter(|p| p.non_monotone > 0).count(),
            pictures,
        }
    }

    fn picture_bd(&self, metric: Metric, codec: &str, anchor: &str, picture: &str) -> PictureBd {
        let reference = self.curve(metric, anchor, picture);
        let test = self.curve(metric, codec, picture);
        let result: Result<BdRate, BdRefusal> = bd_rate(&reference, &test);
        PictureBd {
            picture: picture.to_owned(),
            rate: result.ok(),
            refused: result.err().map(|refusal| refusal.to_string()),
            non_monotone: reference.non_monotone + test.non_monotone,
        }
    }

    fn rate_row(&self, metric: Metric, codec: &str, pictures: &[PictureInfo]) -> RateRow {
        let mean_at = |bpp: f64| {
            let values: Vec<f64> = pictures
                .iter()
                .filter_map(|p| interpolated(self.of(codec, &p.name), bpp, |q| q.value(metric)))
                .collect();
            let sum: f64 = values.iter().sum();
            let mean = (!values.is_empty()).then(|| sum / values.len() as f64);
            (mean, values.len())
        };
        RateRow {
            codec: codec.to_owned(),
            metric,
            means: TABLE_RATES.into_iter().map(mean_at).collect(),
        }
    }

    fn speed_row(&self, codec: &CodecInfo, pictures: &[PictureInfo]) -> SpeedRow {
        let speed = |seconds: fn(&Point) -> f64| {
            let (mut pixels, mut total) = (0.0, 0.0);
            for picture in pictures {
                let points = self.of(&codec.name, &picture.name);
                let taken = interpolated(points, SPEED_RATE, |p| Some(seconds(p)));
                if let (Some(taken), Some(first)) = (taken, points.first()) {
                    pixels += first.pixels();
                    total += taken;
                }
            }
            (total > 0.0).then(|| pixels / 1e6 / total)
        };
        SpeedRow {
            codec: codec.name.clone(),
            encode: speed(|p| p.encode.cpu),
            decode: speed(|p| p.decode.cpu),
            single_threaded: codec.single_threaded,
        }
    }

    /// Averages over the pictures; a quality that some picture lacks would bend the curve and is
    /// left out.
    fn mean_curve(&self, metric: Metric, codec: &str) -> MeanCurve {
        let mut sums: BTreeMap<&str, (usize, f64, f64)> = BTreeMap::new();
        let groups = self.points.get(codec).into_iter().flatten();
        for point in groups.flat_map(|(_, points)| points) {
            if let Some(value) = point.value(metric) {
                let sum = sums.entry(&point.quality).or_default();
                *sum = (sum.0 + 1, sum.1 + point.bpp(), sum.2 + value);
            }
        }
        let full = sums.values().map(|(count, ..)| *count).max().unwrap_or(0);
        let mut points: Vec<MeanPoint> = sums
            .into_iter()
            .filter(|(_, (count, ..))| *count == full)
            .map(|(quality, (count, bpp, value))| MeanPoint {
                quality: quality.to_owned(),
                bpp: bpp / count as f64,
                value: value / count as f64,
            })
            .collect();
        points.sort_by(|a, b| a.bpp.total_cmp(&b.bpp));
        MeanCurve {
            codec: codec.to_owned(),
            metric,
            points,
        }
    }
}

/// A quantity at a rate, by monotone interpolation over the log of the rate.
fn interpolated(
    points: &[&Point],
    bpp: f64,
    quantity: impl Fn(&Point) -> Option<f64>,
) -> Option<f64> {
    let mut known: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|p| Some((p.bpp().ln(), quantity(p)?)))
        .collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    known.dedup_by(|later, earlier| later.0 <= earlier.0);
    Pchip::new(&known)?.at(bpp.ln())
}
