//! Why training fails.

/// Why a dictionary could not be learned.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// There is nothing to learn from.
    #[error("there are no readable pictures in what was given; name folders that hold some")]
    NoPictures,
    /// One picture cannot both be learned from and held out.
    #[error(
        "learning takes at least two pictures: some to learn from, others to check the gain on"
    )]
    OnePicture,
    /// A checkpoint does not belong to what is being trained.
    #[error(
        "the checkpoint was made from other pictures, another start or another seed; start from it instead of resuming it"
    )]
    OtherRun,
    /// No dictionary is that small.
    #[error("a dictionary cannot be smaller than {least} bytes, {limit} were asked for")]
    TooLarge {
        /// What was asked for.
        limit: usize,
        /// What is possible.
        least: usize,
    },
    /// The observer asked to stop before there was a dictionary.
    #[error("stopped before there was anything to keep")]
    Stopped,
    /// A picture that was readable before no longer is.
    #[error("{0}: {1}")]
    Picture(String, String),
    /// What was given as pictures could not be listed.
    #[error("looking for pictures")]
    Open(#[source] std::io::Error),
    /// A file could not be read.
    #[error("a picture could not be read")]
    Io(#[from] std::io::Error),
    /// Work that was given to others was not done.
    #[error("the workers did not do their part: {0}")]
    Workers(String),
    /// The worker threads could not be started.
    #[error("cannot start the worker threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The learning itself failed.
    #[error("learning the bases failed")]
    Learning(#[from] batchsvd::Error),
    /// A reference picture of the dictionary does not decode.
    #[error(transparent)]
    Reference(#[from] tessera_codec::DictionaryError),
    /// What was learned leaves the limits of the format.
    #[error("what was learned makes no dictionary")]
    Dictionary(#[from] tessera_dict::Error),
}
