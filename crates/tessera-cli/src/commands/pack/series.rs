//! Series: pictures that are alike are predicted from one of them.

use super::budget::{Batch, Coded};
use super::gather::Found;
use super::likeness::{Look, keys};
use anyhow::{Error, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tessera_codec::{CodedPicture, Decoder, Limits, PreparedDictionary, Target};
use tessera_pack::predicting_dictionary;

/// A prediction is taken if it leaves at most this part of the bytes: at the same quality it has a little more error.
const WORTH: f64 = 0.97;

/// Pictures on their way into a pack.
pub(super) struct Coding {
    /// Each by itself.
    pub(super) alone: Vec<Result<Coded>>,
    /// Those that are predicted instead.
    pub(super) predicted: Vec<Option<Predicted>>,
}

/// A picture as it is predicted from another one.
pub(super) struct Predicted {
    /// The number of that other picture.
    pub(super) key: usize,
    pub(super) coded: Coded,
    pub(super) dictionary: PreparedDictionary,
}

/// What became of pictures that are like one of them.
#[derive(Default)]
struct Series {
    /// The key, if it is coded anew.
    anew: Option<Coded>,
    members: Vec<(usize, Predicted)>,
}

impl Coding {
    /// All pictures as they go into the pack.
    pub(super) fn coded(&self) -> impl Iterator<Item = &Coded> {
        let pairs = self.alone.iter().zip(&self.predicted);
        pairs.filter_map(|(alone, predicted)| match predicted {
            Some(predicted) => Some(&predicted.coded),
            None => alone.as_ref().ok(),
        })
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> usize {
        self.coded().map(|coded| coded.file.len()).sum()
    }
}

impl Batch<'_> {
    /// Predicts those pictures that are like others and become smaller by it. `target` tells what one that is coded by itself
    /// was coded for.
    pub(super) fn with_series(
        &self,
        pictures: &[Found],
        mut alone: Vec<Result<Coded>>,
        target: &(dyn Fn(&Coded) -> Target + Sync),
    ) -> Coding {
        let mut predicted: Vec<Option<Predicted>> = pictures.iter().map(|_| None).collect();
        if !self.series {
            return Coding { alone, predicted };
        }
        let looks: Vec<Option<Look>> = alone.par_iter().map(|coded| self.look(coded)).collect();
        let mut series: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, key) in keys(&looks).into_iter().enumerate() {
            if let Some(key) = key {
                series.entry(key).or_default().push(at);
            }
        }
        let found: Vec<(usize, Series)> = series
            .into_par_iter()
            .map(|(key, members)| {
                let series = self.predict_from(key, &members, pictures, &alone, target);
                // What cannot be predicted is there by itself.
                (key, series.unwrap_or_default())
            })
            .collect();
        for (key, series) in found {
            if let Some(anew) = series.anew {
                alone[key] = Ok(anew);
            }
            for (at, member) in series.members {
                predicted[at] = Some(member);
            }
        }
        Coding { alone, predicted }
    }

    /// What a coded picture says of itself.
    pub(super) fn parse<'c>(&self, coded: &'c Coded) -> Result<CodedPicture<'c>> {
        let mut decoder = Decoder::new().limits(Limits::none()).threads(1);
        if let Some(own) = &self.dictionary {
            decoder = decoder.dictionary(own.clone());
        }
        Ok(decoder.parse(&coded.file[..])?)
    }

    fn look(&self, coded: &Result<Coded>) -> Option<Look> {
        let coded = coded.as_ref().ok().filter(|coded| !coded.lossless)?;
        let picture = self.parse(coded).ok()?;
        let sides = (picture.header().width, picture.header().height);
        let small = picture.decode_scaled(Look::SCALE).ok()?;
        Some(Look::new(sides, &small))
    }

    /// The members of a series that are smaller if they are predicted, unless they save less than what their key takes more.
    fn predict_from(
        &self,
        key: usize,
        members: &[usize],
        pictures: &[Found],
        alone: &[Result<Coded>],
        target: &(dyn Fn(&Coded) -> Target + Sync),
    ) -> Result<Series> {
        let coded = |at: usize| {
            alone[at]
                .as_ref()
                .map_err(|error| Error::msg(error.to_string()))
        };
        let anew = self.recoded_key(&pictures[key], coded(key)?, target)?;
        let file = &anew.as_ref().unwrap_or(coded(key)?).file;
        let own = self.dictionary.as_ref().map(|own| own.dictionary());
        let dictionary = predicting_dictionary(own, file)?;
        let predict = |&at: &usize| {
            let alone = coded(at).ok()?;
            let coded = self.encode_lossy(&pictures[at], &dictionary, target(alone));
            let coded = coded.ok()?;
            let pays = coded.file.len() as f64 <= WORTH * alone.file.len() as f64;
            let saved = alone.file.len().saturating_sub(coded.file.len());
            let dictionary = dictionary.clone();
            let predicted = Predicted {
                key,
                coded,
                dictionary,
            };
            pays.then_some((saved, (at, predicted)))
        };
        let (saved, members): (Vec<usize>, Vec<_>) = members.par_iter().filter_map(predict).unzip();
        let more = file.len().saturating_sub(coded(key)?.file.len());
        match saved.iter().sum::<usize>() > more {
            true => Ok(Series { anew, members }),
            false => Ok(Series::default()),
        }
    }

    /// Keys are coded with the built-in dictionary; nothing if they are so already.
    fn recoded_key(
        &self,
        picture: &Found,
        alone: &Coded,
        target: &(dyn Fn(&Coded) -> Target + Sync),
    ) -> Result<Option<Coded>> {
        if self.dictionary.is_none() {
            return Ok(None);
        }
        let builtin = PreparedDictionary::builtin();
        self.encode_lossy(picture, builtin, target(alone)).map(Some)
    }

    fn encode_lossy(
        &self,
        picture: &Found,
        dictionary: &PreparedDictionary,
        target: Target,
    ) -> Result<Coded> {
        let encoder = self.encoder.clone().lossless_if_smaller(false);
        let encoder = encoder.dictionary(dictionary.clone()).target(target);
        let encoded = picture.encode(|source| encoder.encode_rows(source))?;
        Ok(encoded.into())
    }
}
