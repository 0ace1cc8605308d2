//! The shared dictionary of the Tessera codec: atoms, predictors, priors, file format and store.

pub mod atoms;
pub mod basis;
mod dictionary;
pub mod difference;
mod error;
pub mod filter;
pub mod format;
mod identity;
pub mod layout;
pub mod lossless_net;
pub mod net;
mod pack;
pub mod patch_net;
pub mod prior;
pub mod range;
pub mod reference;
pub mod store;
pub mod transfer;

pub use atoms::Atoms;
pub use basis::{Basis, BasisSet, PlaneKind};
pub use dictionary::{Dictionary, DictionaryBuilder};
pub use error::Error;
pub use filter::FilterSet;
pub use identity::DictId;
pub use lossless_net::{LosslessNet, LosslessNets};
pub use net::Net;
pub use patch_net::{PatchNet, PatchNets};
pub use prior::Prior;
pub use reference::Reference;
