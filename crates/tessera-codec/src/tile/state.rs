//! State both sides keep in step while a tile is coded, and the coding of one leaf.

use crate::prepared::PreparedDictionary;
use crate::simd::{kernel, transpose};
use crate::tile::canvas::{Canvas, CellInfo, PlaneBuffer};
use crate::tile::entropy::coder::BinaryCoder;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::graphics::GraphicsLayer;
use crate::tile::intra::neural::{NeuralContext, NeuralIntra};
use crate::tile::intra::{Border, LumaTaps, PLANAR, Predictor, predict_from_luma};
use crate::tile::loop_filter::network::restored;
use crate::tile::loop_filter::{FilterFlags, filtered};
use crate::tile::pool::Pool;
use crate::tile::quantiser_map::QuantiserMap;
use crate::tile::reference::{CHROMA_FROM_REFERENCE, ReferenceContexts, ReferenceUse, References};
use crate::tile::syntax::patch_context::{Expected, PatchContext, activity_class, gradient_class};
use crate::tile::syntax::{
    self, AtomUse, Block, Coefficients, FROM_LUMA, FROM_LUMA_TAPS, Leaf, ModeContexts,
};
use crate::tile::transform::quantiser::{MAX_INDEX, Step};
use crate::tile::transform::weights::FrequencyWeights;
use crate::tile::transform::{BasisOrientation, synthesise, synthesise_atom};
use crate::tile::{PlaneLayout, TileConfig};
use std::cell::RefCell;
use tessera_dict::atoms::AtomSet;
use tessera_dict::{Basis, BasisSet, FilterSet};
use tessera_patch::shape::SUPERBLOCK;
use tessera_patch::{Plane, Shape};

/// Where a patch lies and which component it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) kind: PlaneKind,
    pub(crate) component: usize,
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) shape: Shape,
}

/// What is seen around a patch before it is coded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    /// Neighbours' activity, 8 fractional bits.
    activity: u32,
    /// Border gradient in steps, 8 fractional bits.
    gradient: u32,
    /// Whether the patches to the left and above carry coefficients (2 = no such patch).
    pub(crate) neighbours: [u32; 2],
}

/// Canvases, steps and the dictionary of one tile.
#[derive(Debug)]
pub(crate) struct TileState<'a> {
    pub(crate) dictionary: &'a PreparedDictionary,
    pub(crate) luma: Canvas,
    pub(crate) chroma: Option<Canvas>,
    /// Of luma, Cb and Cr.
    quantisers: [u8; 3],
    /// Kept here so that not every patch needs fresh memory.
    expected: RefCell<Expected>,
    /// Quantiser offsets of blocks, if they have any.
    pub(crate) offsets: Option<QuantiserMap>,
    /// Frequency weights of luma and of chroma.
    pub(crate) weights: [FrequencyWeights; 2],
    /// Column and row of the tile in its picture.
    origin: (u32, u32),
    /// The references, if they are in use.
    pub(crate) references: Option<References<'a>>,
    /// The blocks that were drawn before all others.
    pub(crate) graphics: Option<GraphicsLayer>,
    /// Buffers for patches.
    pub(crate) samples: Pool<i32>,
}

impl<'a> TileState<'a> {
    pub(crate) fn new(config: &TileConfig, dictionary: &'a PreparedDictionary) -> Self {
        let (width, height) = (config.width as usize, config.height as usize);
        let luma = Canvas::new(width, height, 1);
        Self {
            dictionary,
            expected: RefCell::default(),
            offsets: config.adaptive.then(|| QuantiserMap::new(&luma)),
            luma,
            chroma: (config.layout == PlaneLayout::Ycbcr444).then(|| Canvas::new(width, height, 2)),
            quantisers: config.quantisers(),
            weights: config.weights.map(FrequencyWeights::new),
            origin: config.origin,
            references: References::new(config, dictionary),
            graphics: None,
            samples: Pool::default(),
        }
    }

    /// Codes whether a payload uses the references it could use.
    pub(crate) fn code_references_in_use<C: BinaryCoder>(&mut self, coder: &mut C, in_use: bool) {
        if self.references.is_some() && !coder.raw(PlaneKind::Luma, in_use) {
            self.references = None;
        }
    }

    /// To be called after all kinds of a superblock are coded.
    pub(crate) fn finish_superblock(&mut self) {
        if let Some(references) = &mut self.references {
            references.finish_superblock();
        }
    }

    /// The decoded planes without padding.
    pub(crate) fn into_planes(self, config: &TileConfig) -> Vec<Plane> {
        let (width, height) = (config.width as usize, config.height as usize);
        let canvases = std::iter::once(self.luma).chain(self.chroma);
        let crop = |samples: PlaneBuffer| {
            let mut data = samples.data;
            for y in 1..height {
                let start = y * samples.stride;
                data.copy_within(start..start + width, y * width);
            }
            data.truncate(width * height);
            Plane {
                width,
                height,
                data,
            }
        };
        canvases
            .flat_map(|canvas| canvas.components)
            .map(crop)
            .collect()
    }

    pub(crate) fn canvas(&self, kind: PlaneKind) -> &Canvas {
        match kind {
            PlaneKind::Luma => &self.luma,
            PlaneKind::Chroma => self
                .chroma
                .as_ref()
                .expect("chroma sites exist in colour tiles only"),
        }
    }

    pub(crate) fn canvas_mut(&mut self, kind: PlaneKind) -> &mut Canvas {
        match kind {
            PlaneKind::Luma => &mut self.luma,
            PlaneKind::Chroma => self
                .chroma
                .as_mut()
                .expect("chroma sites exist in colour tiles only"),
        }
    }

    /// Quantiser index of a component of a plane kind, wherever there are no offsets.
    pub(crate) fn quantiser(&self, kind: PlaneKind, component: usize) -> u8 {
        self.quantisers[kind as usize + component]
    }

    /// Quantiser index of a component on an area.
    pub(crate) fn quantiser_on(
        &self,
        (kind, component): (PlaneKind, usize),
        (x, y): (usize, usize),
        (width, height): (usize, usize),
    ) -> u8 {
        let index = self.quantiser(kind, component);
        match &self.offsets {
            None => index,
            Some(offsets) => {
                let index = i32::from(index) + offsets.offset(x, y, width, height);
                index.clamp(0, i32::from(MAX_INDEX)) as u8
            }
        }
    }

    /// Step of a patch.
    pub(crate) fn step(&self, site: &Site) -> Step {
        let size = (site.shape.width(), site.shape.height());
        Step::from_index(self.quantiser_on((site.kind, site.component), (site.x, site.y), size))
    }

    /// The largest step of any frequency of a component in the superblock of a block.
    #[cfg(feature = "encoder")]
    pub(crate) fn coarsest_step(&self, kind: PlaneKind, component: usize, block: Block) -> f32 {
        let corner = (
            block.x / SUPERBLOCK * SUPERBLOCK,
            block.y / SUPERBLOCK * SUPERBLOCK,
        );
        let highest = self
            .offsets
            .as_ref()
            .map_or(0, |offsets| offsets.highest(corner));
        let index = i32::from(self.quantiser(kind, component)) + highest;
        let step = Step::from_index(index.clamp(0, i32::from(MAX_INDEX)) as u8);
        step.value() * self.weights[kind as usize].largest()
    }

    /// Codes the quantiser offsets of a superblock, if blocks have any.
    pub(crate) fn code_offsets<C: BinaryCoder>(&mut self, coder: &mut C, superblock: Block) {
        let Some(offsets) = &mut self.offsets else {
            return;
        };
        if self.luma.is_left_out(superblock) {
            offsets.clear(superblock);
        } else {
            offsets.code(coder, superblock);
        }
    }

    pub(crate) fn bases(&self, kind: PlaneKind) -> &'a BasisSet {
        match kind {
            PlaneKind::Luma => self.dictionary.luma(),
            PlaneKind::Chroma => self.dictionary.chroma(),
        }
    }

    /// Filters the components of a plane kind.
    pub(crate) fn filter(&mut self, kind: PlaneKind, flags: &FilterFlags) {
        let planes = std::mem::take(&mut self.canvas_mut(kind).components);
        self.canvas_mut(kind).components = self.filtered(kind, planes, flags);
    }

    /// Filtered components of a plane kind, from the unfiltered ones.
    pub(crate) fn filtered(
        &self,
        kind: PlaneKind,
        planes: Vec<PlaneBuffer>,
        flags: &FilterFlags,
    ) -> Vec<PlaneBuffer> {
        let filters = match kind {
            PlaneKind::Luma => self.dictionary.luma_filter(),
            PlaneKind::Chroma => self.dictionary.chroma_filter(),
        };
        let canvas = self.canvas(kind);
        let component = |(component, plane): (usize, PlaneBuffer)| {
            let quantiser = self.quantiser(kind, component);
            let band = &filters.bands[FilterSet::band(quantiser)];
            let steps = self.filter_steps(kind, component);
            let net = &self.dictionary.nets()[kind as usize];
            let mut plane = if let Some(net) = net {
                let whole = filtered(canvas, plane.clone(), &steps, band, &flags.everywhere());
                restored([&plane, &whole], quantiser, self.origin, net, flags)
            } else {
                filtered(canvas, plane, &steps, band, flags)
            };
            if let Some(graphics) = &self.graphics {
                graphics.put(kind, component, &mut plane);
            }
            plane
        };
        planes.into_iter().enumerate().map(component).collect()
    }

    /// Steps the filter goes by: those of superblocks, in raster order.
    pub(crate) fn filter_steps(&self, kind: PlaneKind, component: usize) -> Vec<Step> {
        let Canvas { width, height, .. } = *self.canvas(kind);
        let rows = (0..height).step_by(SUPERBLOCK);
        let places = rows.flat_map(|y| (0..width).step_by(SUPERBLOCK).map(move |x| (x, y)));
        let size = (SUPERBLOCK, SUPERBLOCK);
        places
            .map(|place| Step::from_index(self.quantiser_on((kind, component), place, size)))
            .collect()
    }

    /// What cells know of their levels is in the steps of the whole picture; here in those of a patch.
    fn activity_in_steps(&self, site: &Site, activity: u32) -> u32 {
        if self.offsets.is_none() {
            return activity;
        }
        let whole = Step::from_index(self.quantiser(site.kind, site.component));
        let scaled = u64::from(activity) * u64::from(whole.fixed());
        (scaled / u64::from(self.step(site).fixed())).min(u64::from(u16::MAX)) as u32
    }

    /// The other way, for what a leaf leaves in its cells.
    pub(crate) fn to_whole_steps(&self, place: &Site, info: &mut CellInfo) {
        if self.offsets.is_none() {
            return;
        }
        for component in 0..self.canvas(place.kind).components.len() {
            let site = Site {
                component,
                ..*place
            };
            let whole = Step::from_index(self.quantiser(site.kind, component));
            let scaled = u64::from(info.activity[component]) * u64::from(self.step(&site).fixed());
            let activity = scaled / u64::from(whole.fixed());
            info.activity[component] = activity.min(u64::from(u16::MAX)) as u16;
        }
    }

    /// The luma canvas if `kind` is chroma.
    pub(crate) fn guide(&self, kind: PlaneKind) -> Option<&Canvas> {
        (kind == PlaneKind::Chroma).then_some(&self.luma)
    }

    /// What is seen around a patch.
    pub(crate) fn surroundings(&self, site: &Site, border: &Border) -> Surroundings {
        let canvas = self.canvas(site.kind);
        let (w, h) = (site.shape.width(), site.shape.height());
        Surroundings {
            activity: self
                .activity_in_steps(site, canvas.activity(site.component, site.x, site.y, w, h)),
            gradient: self.border_gradient(site, border),
            neighbours: canvas.coded_neighbours(site),
        }
    }

    /// Contexts of a patch when coded with the first basis.
    pub(crate) fn patch_context(
        &self,
        site: &Site,
        orientation: BasisOrientation,
        surroundings: &Surroundings,
        cb_coded: bool,
    ) -> PatchContext<'a> {
        let shape = orientation.apply(site.shape);
        let Surroundings {
            activity, gradient, ..
        } = *surroundings;
        let class = match site.kind {
            PlaneKind::Luma => orientation.class as u32,
            PlaneKind::Chroma => 2 * site.component as u32 + u32::from(cb_coded),
        };
        PatchContext {
            kind: site.kind,
            basis: &self.bases(site.kind).group(shape, orientation.class)[0],
            shape: shape.index() as u32,
            size_group: shape.size_group() as u32,
            class,
            activity,
            activity_class: activity_class(activity),
            gradient,
            gradient_class: gradient_class(gradient),
        }
    }

    /// Gradient along a border, in steps with 8 fractional bits.
    pub(crate) fn border_gradient(&self, site: &Site, border: &Border) -> u32 {
        let length = site.shape.width() + site.shape.height();
        let scale = length as u64 * u64::from(self.step(site).fixed());
        ((u64::from(border.gradient(site.shape)) << 16) / scale).min(u64::from(u16::MAX)) as u32
    }

    /// Codes the leaf at `place` and draws it on the canvas.
    pub(crate) fn code_leaf<C: BinaryCoder>(
        &mut self,
        coder: &mut C,
        place: &Site,
        leaf: &mut Leaf,
    ) {
        let Site {
            kind, x, y, shape, ..
        } = *place;
        leaf.reference = self.code_reference(coder, place, leaf.reference);
        let luma_mode = self.code_mode(coder, place, leaf);
        let mut info = CellInfo::of(shape, leaf.mode, leaf.reference);
        for component in 0..self.canvas(kind).components.len() {
            let site = Site {
                component,
                ..*place
            };
            let (mut samples, surroundings) = self.prediction(&site, leaf, luma_mode);
            let patch = &mut leaf.patches[component];
            let orientation = BasisOrientation::new(kind, leaf.mode, shape);
            self.code_patch(
                coder,
                &site,
                orientation,
                &surroundings,
                info.coded[0],
                patch,
            );
            if patch.coded() {
                info.carry(component, patch.amplitudes(), shape);
                self.add_residual(&site, orientation, patch, &mut samples);
            }
            self.canvas_mut(kind).components[component].store(x, y, shape.width(), &samples);
            self.samples.give(samples);
        }
        self.to_whole_steps(place, &mut info);
        self.canvas_mut(kind)
            .mark(x, y, shape.width(), shape.height(), info);
    }

    /// As [`Self::code_leaf`] for a leaf without reference whose samples are on the canvas and whose traces are known.
    #[cfg(feature = "encoder")]
    pub(crate) fn code_drawn_leaf<C: BinaryCoder>(
        &mut self,
        coder: &mut C,
        place: &Site,
        leaf: &mut Leaf,
        info: CellInfo,
    ) {
        let Site {
            kind, x, y, shape, ..
        } = *place;
        self.code_reference(coder, place, None);
        self.code_mode(coder, place, leaf);
        for component in 0..self.canvas(kind).components.len() {
            let site = Site {
                component,
                ..*place
            };
            let border = self.canvas(kind).border(component, x, y, shape);
            let surroundings = self.surroundings(&site, &border);
            let patch = &mut leaf.patches[component];
            let orientation = BasisOrientation::new(kind, leaf.mode, shape);
            self.code_patch(
                coder,
                &site,
                orientation,
                &surroundings,
                info.coded[0],
                patch,
            );
        }
        self.canvas_mut(kind)
            .mark(x, y, shape.width(), shape.height(), info);
    }

    /// Codes the reference of a leaf, if references are in use.
    fn code_reference<C: BinaryCoder>(
        &mut self,
        coder: &mut C,
        place: &Site,
        used: Option<ReferenceUse>,
    ) -> Option<ReferenceUse> {
        self.references.as_ref()?;
        let canvas = self.canvas(place.kind);
        let border = canvas.border(0, place.x, place.y, place.shape);
        let contexts = ReferenceContexts::new(self, *place, &border)?;
        if place.kind == PlaneKind::Chroma {
            return contexts.code_chroma(coder, used);
        }
        let used = contexts.code_luma(coder, used)?;
        if let Some(references) = &mut self.references {
            references.used(used.shift);
        }
        Some(used)
    }

    /// Codes the mode of a leaf unless its reference implies it; returns the luma mode beneath a chroma leaf.
    fn code_mode<C: BinaryCoder>(&self, coder: &mut C, place: &Site, leaf: &mut Leaf) -> usize {
        let Site {
            kind, x, y, shape, ..
        } = *place;
        let from_reference = leaf.reference.is_some();
        match kind {
            PlaneKind::Luma if from_reference => leaf.mode = PLANAR,
            PlaneKind::Luma => {
                let contexts = ModeContexts::new(&self.luma, x, y, shape);
                leaf.mode = syntax::code_luma_mode(coder, &contexts, leaf.mode);
            }
            PlaneKind::Chroma if from_reference => leaf.mode = CHROMA_FROM_REFERENCE,
            PlaneKind::Chroma => {
                let (luma_mode, canvas) = (self.luma.mode_beneath(x, y, shape), self.canvas(kind));
                leaf.mode =
                    syntax::code_chroma_mode(coder, canvas, x, y, shape, luma_mode, leaf.mode);
                return luma_mode;
            }
        }
        leaf.mode
    }

    /// Prediction of a patch, and what its coefficients see around them.
    pub(crate) fn prediction(
        &self,
        site: &Site,
        leaf: &Leaf,
        luma_mode: usize,
    ) -> (Vec<i32>, Surroundings) {
        if let (Some(references), Some(used)) = (&self.references, leaf.reference) {
            let canvas = self.canvas(site.kind);
            let border = canvas.border(site.component, site.x, site.y, site.shape);
            let prediction = references.predict(canvas, site, &border, used);
            let surroundings = self.surroundings(site, &prediction.border);
            return (prediction.samples, surroundings);
        }
        let predictor = self.predictor(site);
        let mut samples = self.samples.take(site.shape.area());
        self.predict(site, &predictor, leaf.mode, luma_mode, &mut samples);
        (samples, self.surroundings(site, &predictor.raw))
    }

    /// Predicts a patch from what is decoded.
    #[inline]
    pub(crate) fn predictor(&self, site: &Site) -> Predictor<'_> {
        let canvas = self.canvas(site.kind);
        let border = canvas.border(site.component, site.x, site.y, site.shape);
        let decoded = &canvas.components[site.component];
        let networks = self.neural_intra(site, &decoded.data, decoded.stride);
        Predictor::with_networks(border, site.shape, networks)
    }

    /// The networks for luma patches, if the dictionary has some, looking at `samples`.
    pub(crate) fn neural_intra<'s>(
        &'s self,
        site: &Site,
        samples: &'s [u16],
        stride: usize,
    ) -> Option<NeuralIntra<'s>> {
        let nets = self.dictionary.patch_nets()?;
        let packed = self.dictionary.packed_nets();
        (site.kind == PlaneKind::Luma)
            .then(|| NeuralIntra::new(nets, packed, self.neural_context(site, samples, stride)))
    }

    /// The surroundings of a luma patch in `samples`.
    pub(crate) fn neural_context<'s>(
        &self,
        site: &Site,
        samples: &'s [u16],
        stride: usize,
    ) -> NeuralContext<'s> {
        NeuralContext {
            samples,
            stride,
            at: (site.x, site.y),
            origin: self.origin,
            quantiser: self.quantiser(PlaneKind::Luma, 0),
        }
    }

    /// What luma tells about both components of a chroma patch.
    pub(crate) fn luma_taps<'s>(&'s self, site: &'s Site) -> LumaTaps<'s> {
        LumaTaps::new(&self.luma.components[0], site)
    }

    /// Prediction of a patch by its coded mode.
    pub(crate) fn predict(
        &self,
        site: &Site,
        predictor: &Predictor<'_>,
        mode: usize,
        luma_mode: usize,
        out: &mut [i32],
    ) {
        match site.kind {
            PlaneKind::Luma => predictor.predict(mode, out),
            PlaneKind::Chroma if mode == FROM_LUMA => {
                let (luma, chroma) = (&self.luma.components[0], self.canvas(site.kind));
                predict_from_luma(luma, chroma, site, &predictor.raw, out);
            }
            PlaneKind::Chroma if mode == FROM_LUMA_TAPS => {
                let chroma = &self.canvas(site.kind).components[site.component];
                self.luma_taps(site).predict(chroma, out);
            }
            PlaneKind::Chroma => predictor.predict(syntax::chroma_base_mode(mode, luma_mode), out),
        }
    }

    fn code_patch<C: BinaryCoder>(
        &self,
        coder: &mut C,
        site: &Site,
        orientation: BasisOrientation,
        surroundings: &Surroundings,
        cb_coded: bool,
        patch: &mut Coefficients,
    ) {
        let shape = orientation.apply(site.shape);
        let cb_coded = cb_coded && site.component == 1;
        code_coefficients(CodePatch {
            coder,
            context: self.patch_context(site, orientation, surroundings, cb_coded),
            neighbours: surroundings.neighbours,
            group: self.bases(site.kind).group(shape, orientation.class),
            atoms: self.bases(site.kind).atoms().get(shape),
            limit: shape.coded(),
            patch,
            expected: &mut self.expected.borrow_mut(),
        });
    }

    /// Adds what is coded of a leaf to the predictions of its components.
    #[cfg(feature = "encoder")]
    pub(crate) fn add_residuals(&self, site: &Site, leaf: &Leaf, predictions: &mut [Vec<i32>]) {
        let orientation = BasisOrientation::new(site.kind, leaf.mode, site.shape);
        for (component, samples) in predictions.iter_mut().enumerate() {
            let patch = &leaf.patches[component];
            if patch.coded() {
                let site = Site { component, ..*site };
                self.add_residual(&site, orientation, patch, samples);
            }
        }
    }

    /// Adds the patch that levels or an atom stand for to `samples`.
    pub(crate) fn add_residual(
        &self,
        site: &Site,
        orientation: BasisOrientation,
        patch: &Coefficients,
        samples: &mut [i32],
    ) {
        let shape = orientation.apply(site.shape);
        let mut residual = self.samples.take(shape.area());
        match patch.atom {
            Some(atom) => self.draw_atom(site, shape, atom, &mut residual),
            None => self.draw_levels(site, (shape, orientation.class), patch, &mut residual),
        }
        if orientation.transposed {
            add_transposed(samples, &residual, shape);
        } else {
            add(samples, &residual);
        }
        self.samples.give(residual);
    }

    /// The residual that an atom stands for.
    fn draw_atom(&self, site: &Site, shape: Shape, atom: AtomUse, residual: &mut [i32]) {
        let set = self.bases(site.kind).atoms().get(shape);
        let set = set.expect("only shapes with atoms use one");
        let value = self.step(site).dequantise(atom.level, &[0; 3]);
        let weights = self.weights[site.kind as usize].of(shape);
        synthesise_atom(set.atoms, atom.index.into(), weights, value, residual);
    }

    /// The residual that levels stand for.
    fn draw_levels(
        &self,
        site: &Site,
        (shape, class): (Shape, usize),
        patch: &Coefficients,
        residual: &mut [i32],
    ) {
        let basis = &self.bases(site.kind).group(shape, class)[patch.choice as usize];
        let step = self.step(site);
        let points = &self.dictionary.shrinkage()[site.kind as usize];
        let mut values = self.samples.take(patch.levels.len());
        for (value, &level) in values.iter_mut().zip(&patch.levels) {
            *value = match level {
                0 => 0,
                _ => step.dequantise(level, points),
            };
        }
        let weights = self.weights[site.kind as usize].of(shape);
        synthesise(shape, basis, weights, &values, residual);
        self.samples.give(values);
    }
}

kernel! {
    /// Adds the residual of a patch to its prediction.
    fn add(samples: &mut [i32], residual: &[i32]) {
        for (sample, residual) in samples.iter_mut().zip(residual) {
            *sample += residual;
        }
    }
}

/// [`add`] for a residual of rows that are the columns of the patch.
fn add_transposed(samples: &mut [i32], residual: &[i32], shape: Shape) {
    match (shape.width(), shape.height()) {
        (4, 4) => add_columns::<4, 4>(samples, residual),
        (4, _) => add_columns::<4, 8>(samples, residual),
        (8, 4) => add_columns::<8, 4>(samples, residual),
        (8, 8) => add_columns::<8, 8>(samples, residual),
        (8, _) => add_columns::<8, 16>(samples, residual),
        (16, 8) => add_columns::<16, 8>(samples, residual),
        (16, 16) => add_columns::<16, 16>(samples, residual),
        (16, _) => add_columns::<16, 32>(samples, residual),
        (32, 16) => add_columns::<32, 16>(samples, residual),
        (32, 32) => add_columns::<32, 32>(samples, residual),
        (32, _) => add_columns::<32, 64>(samples, residual),
        (64, 32) => add_columns::<64, 32>(samples, residual),
        _ => add_columns::<64, 64>(samples, residual),
    }
}

kernel! {
    /// [`add_transposed`] for a residual of `H` rows of `W`.
    fn add_columns<const W: usize, const H: usize>(samples: &mut [i32], residual: &[i32]) {
        let rows: &mut [[i32; H]; W] = (samples.as_chunks_mut().0)
            .first_chunk_mut()
            .expect("there is a sample for every residual");
        let columns: &[[i32; W]; H] = (residual.as_chunks().0)
            .first_chunk()
            .expect("there is a residual for every sample");
        transpose(columns, |x, y, value| rows[y][x] += value);
    }
}

/// One patch and what its coefficients are coded by.
struct CodePatch<'a, 'd, C> {
    coder: &'a mut C,
    /// Contexts with the first basis of the group.
    context: PatchContext<'d>,
    neighbours: [u32; 2],
    group: &'d [Basis],
    /// Free atoms of the shape.
    atoms: Option<AtomSet<'d>>,
    /// Number of positions that can carry a level.
    limit: usize,
    patch: &'a mut Coefficients,
    expected: &'a mut Expected,
}

kernel! {
    /// Codes the coefficients of one patch.
    fn code_coefficients<C: BinaryCoder>(job: CodePatch<'_, '_, C>) {
        let CodePatch {
            coder,
            mut context,
            neighbours,
            group,
            atoms,
            limit,
            patch,
            expected,
        } = job;
        if !syntax::code_coded(coder, &context, neighbours, patch.coded()) {
            patch.clear();
            return;
        }
        if let Some(atoms) = atoms {
            patch.atom = syntax::code_atom(coder, &context, atoms, patch.atom);
            if patch.atom.is_some() {
                return;
            }
        }
        patch.choice = syntax::code_basis(coder, &context, group.len(), patch.choice);
        context.basis = &group[patch.choice as usize];
        let last = patch.levels.len().saturating_sub(1);
        let last = syntax::code_last(coder, &context, limit, last);
        patch.levels.resize(last + 1, 0);
        syntax::code_levels(coder, &context, expected, &mut patch.levels);
    }
}
