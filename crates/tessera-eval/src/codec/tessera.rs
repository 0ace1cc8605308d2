//! Our own codec, with the built-in dictionary or another one.

use super::{Codec, CodecError, Quality, Tuning};
use crate::image8::{Channels, Image8, first_u32};
use crate::timing::Timed;
use std::sync::OnceLock;
use tessera_codec::{Colour, Decoder, Encoder, PreparedDictionary, Samples, Tune};
use tessera_dict::Dictionary;

/// Tessera at its default effort, on one thread.
pub struct Tessera {
    name: String,
    tune: Tune,
    dictionary: Option<PreparedDictionary>,
    /// Hash of a coded test picture, made on first use: loading the dictionary takes a moment.
    probe: OnceLock<String>,
}

impl Tessera {
    /// With the built-in dictionary.
    #[must_use]
    pub fn new() -> Self {
        Self {
            name: "tessera".into(),
            tune: Tune::default(),
            dictionary: None,
            probe: OnceLock::new(),
        }
    }

    /// With the built-in dictionary, tuned for the squared error.
    #[must_use]
    pub fn for_psnr() -> Self {
        Self {
            name: "tessera-psnr".into(),
            tune: Tune::Psnr,
            ..Self::new()
        }
    }

    /// With a dictionary at hand, called `name`.
    #[must_use]
    pub fn with(name: &str, dictionary: Dictionary) -> Self {
        Self {
            name: name.to_owned(),
            tune: Tune::default(),
            dictionary: Some(dictionary.into()),
            probe: OnceLock::new(),
        }
    }

    /// Codes a small fixed picture: a change of encoder or format that keeps the version number
    /// still shows here, and points of the old one are not reused.
    fn probe_coding(&self) -> Result<u32, CodecError> {
        const SIDE: u32 = 64;
        let wave = |i: u32| {
            let (x, y, channel) = (i / 3 % SIDE, i / 3 / SIDE, i % 3);
            ((x * x / 3 + y * (channel + 2) * 5 + x * y / 7) % 256) as u8
        };
        let samples = (0..SIDE * SIDE * 3).map(wave).collect();
        let picture = Image8::new(SIDE, SIDE, Channels::Rgb, samples)?;
        let bytes = self.encode(&picture, &Quality::new("60"))?.value;
        Ok(first_u32(&blake3::hash(&bytes)))
    }
}

impl Codec for Tessera {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> String {
        let probe = self.probe.get_or_init(|| match self.probe_coding() {
            Ok(hash) => format!("{hash:08x}"),
            Err(error) => error.to_string(),
        });
        format!(
            "tessera-codec {} (probe {probe})",
            env!("CARGO_PKG_VERSION")
        )
    }

    fn settings(&self) -> String {
        let own = self.dictionary.as_deref().map(Dictionary::id);
        let id = own.unwrap_or_else(|| Dictionary::builtin().id());
        let tune = match self.tune {
            Tune::Visual => "visual",
            Tune::Psnr => "psnr",
        };
        format!("default effort, tune {tune}, one thread, dictionary {id}")
    }

    fn ladder(&self) -> Vec<Quality> {
        Quality::list("0,15,30,45,60,75,88")
    }

    fn tuning(&self) -> Option<Tuning> {
        Some(Tuning {
            smallest: 0.0,
            largest: 100.0,
            step: 1.0,
        })
    }

    fn encode(&self, picture: &Image8, quality: &Quality) -> Result<Timed<Vec<u8>>, CodecError> {
        let quality = quality.within(0.0, 100.0, "0 to 100")?.round() as u8;
        let (width, height) = (picture.width(), picture.height());
        let samples = picture.samples().to_vec();
        let input = match picture.channels() {
            Channels::Gray => tessera_codec::Picture::gray8(width, height, samples),
            Channels::Rgb => tessera_codec::Picture::rgb8(width, height, samples),
        };
        let mut encoder = Encoder::new().quality(quality).tune(self.tune).threads(1);
        if let Some(dictionary) = &self.dictionary {
            encoder = encoder.dictionary(dictionary);
        }
        let encoded = encoder.encode(&input.map_err(failed)?).map_err(failed)?;
        Ok(encoded.bytes.into())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Timed<Image8>, CodecError> {
        let mut decoder = Decoder::new().threads(1);
        if let Some(dictionary) = &self.dictionary {
            decoder = decoder.dictionary(dictionary);
        }
        let decoded = decoder.decode(bytes).map_err(failed)?;
        let channels = match decoded.format().colour {
            Colour::Gray => Channels::Gray,
            Colour::Rgb => Channels::Rgb,
        };
        let (width, height) = (decoded.width(), decoded.height());
        match decoded.into_samples() {
            Samples::U8(samples) => Ok(Image8::new(width, height, channels, samples)?.into()),
            Samples::U16(_) => Err(CodecError::Failed("8 bits went in, more came out".into())),
        }
    }
}

impl Default for Tessera {
    fn default() -> Self {
        Self::new()
    }
}

fn failed(error: tessera_codec::Error) -> CodecError {
    CodecError::Failed(error.to_string())
}
