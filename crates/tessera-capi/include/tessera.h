/*
 * Tessera, a still-image codec: encoder and decoder.
 *
 * Made from the Rust sources by `cargo xtask c-header`; changes belong there.
 *
 * Everything lives behind handles. What a function hands out is freed by the function of its type whose name ends in
 * `_free`; freeing NULL is allowed and does nothing. Functions that can fail return a TesseraStatus;
 * tessera_last_error() then says in a sentence what was wrong and what to do.
 *
 * Threads: different handles may be used by different threads at any time. One handle may be used by several threads as
 * long as they only call functions that take it as `const`; functions that change or free a handle need it alone.
 *
 * Pixels are interleaved, row by row: gray, gray and alpha, RGB or RGBA. Samples of 8 bits are uint8_t, those of 10, 12
 * and 16 bits uint16_t in the order of the machine's bytes. Alpha is not premultiplied.
 */

#ifndef TESSERA_H
#define TESSERA_H

#include <stddef.h>
#include <stdint.h>

/**
 * How a call ended.
 */
typedef enum {
  /**
   * As asked for.
   */
  TESSERA_STATUS_OK = 0,
  /**
   * Reading or writing failed.
   */
  TESSERA_STATUS_IO = 1,
  /**
   * The data is damaged, cut short, or no Tessera picture.
   */
  TESSERA_STATUS_FORMAT = 2,
  /**
   * An argument is out of its range, or NULL where that is not allowed.
   */
  TESSERA_STATUS_PARAMETER = 3,
  /**
   * The dictionary is missing, the wrong one, damaged or of another version.
   */
  TESSERA_STATUS_DICTIONARY = 4,
  /**
   * The picture asks for more than the limits of the decoder allow.
   */
  TESSERA_STATUS_LIMITS = 5,
  /**
   * The machine has not enough memory.
   */
  TESSERA_STATUS_MEMORY = 6,
  /**
   * No setting of the encoder gives what was asked for.
   */
  TESSERA_STATUS_TARGET = 7,
  /**
   * Stopped by a TesseraCancel.
   */
  TESSERA_STATUS_CANCELLED = 8,
  /**
   * A fault of this library; please report it.
   */
  TESSERA_STATUS_INTERNAL = 9,
} TesseraStatus;

/**
 * What can be limited.
 */
typedef enum {
  /**
   * Pixels of the whole picture.
   */
  TESSERA_LIMIT_PIXELS = 0,
  /**
   * Pixels of one tile, the unit that is held in memory in working form.
   */
  TESSERA_LIMIT_TILE_PIXELS = 1,
  /**
   * Bytes of memory for the picture and the tiles in work. Unless it is set, short files may use less than long ones.
   */
  TESSERA_LIMIT_MEMORY = 2,
  /**
   * Decode work, in units that grow with samples and coded bytes. Unless it is set, short files may take less than long ones.
   */
  TESSERA_LIMIT_WORK = 3,
  /**
   * Bytes of unpacked metadata.
   */
  TESSERA_LIMIT_METADATA = 4,
  /**
   * Number of metadata chunks.
   */
  TESSERA_LIMIT_CHUNKS = 5,
} TesseraLimit;

/**
 * What bits are spent on.
 */
typedef enum {
  /**
   * For the eye: bits go where errors are seen.
   */
  TESSERA_TUNE_VISUAL = 0,
  /**
   * For the smallest squared error at a size.
   */
  TESSERA_TUNE_PSNR = 1,
} TesseraTune;

/**
 * The kinds of metadata.
 */
typedef enum {
  /**
   * ICC colour profile.
   */
  TESSERA_METADATA_KIND_ICC = 0,
  /**
   * EXIF, as a TIFF stream without the `Exif\0\0` prefix of JPEG.
   */
  TESSERA_METADATA_KIND_EXIF = 1,
  /**
   * XMP packet (XML).
   */
  TESSERA_METADATA_KIND_XMP = 2,
  /**
   * What the colours mean: primaries, transfer, matrix (0) and range (0 or 1) by ITU-T H.273, four bytes.
   */
  TESSERA_METADATA_KIND_CICP = 3,
  /**
   * A gain map: one byte that says how it is turned to lie on the picture (as EXIF numbers it), then a picture file.
   */
  TESSERA_METADATA_KIND_GAIN_MAP = 4,
} TesseraMetadataKind;

/**
 * Bytes that the library made: a file.
 */
typedef struct TesseraBuffer TesseraBuffer;

/**
 * Stops encoders and decoders, from any thread or after a time.
 */
typedef struct TesseraCancel TesseraCancel;

/**
 * A decoder: limits, threads, dictionaries.
 */
typedef struct TesseraDecoder TesseraDecoder;

/**
 * A dictionary that `tessera train` has learned. The built-in one needs no handle.
 */
typedef struct TesseraDictionary TesseraDictionary;

/**
 * An encoder: quality or another target, effort, threads, dictionary.
 */
typedef struct TesseraEncoder TesseraEncoder;

/**
 * A file whose header is read; its pixels wait to be asked for, all of them or some.
 */
typedef struct TesseraFile TesseraFile;

/**
 * A picture in memory: pixels and metadata.
 */
typedef struct TesseraPicture TesseraPicture;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of this library, as in "0.1.0".
 */
const char *tessera_version(void);

/**
 * Where the bytes are; NULL for NULL. Valid until the buffer is freed.
 */
const uint8_t *tessera_buffer_data(const TesseraBuffer *buffer);

/**
 * How many bytes there are.
 */
size_t tessera_buffer_size(const TesseraBuffer *buffer);

/**
 * Frees a buffer.
 */
void tessera_buffer_free(TesseraBuffer *buffer);

/**
 * A token that stops work when tessera_cancel_now() is called.
 */
TesseraCancel *tessera_cancel_new(void);

/**
 * A token that stops work when so many milliseconds have passed from now, or when tessera_cancel_now() is called before.
 */
TesseraCancel *tessera_cancel_after(uint64_t milliseconds);

/**
 * Stops the work of everything that was given this token: it ends with TESSERA_STATUS_CANCELLED before its next tile.
 * May be called from any thread.
 */
void tessera_cancel_now(const TesseraCancel *cancel);

/**
 * Frees a token; encoders and decoders that were given it go on as before.
 */
void tessera_cancel_free(TesseraCancel *cancel);

/**
 * A decoder with limits that let a 400-megapixel photograph through, all cores and the built-in dictionary.
 */
TesseraDecoder *tessera_decoder_new(void);

/**
 * Sets what a file may cost at most: a TesseraLimit and its value.
 */
TesseraStatus tessera_decoder_set_limit(TesseraDecoder *decoder, uint32_t limit, uint64_t value);

/**
 * Sets how many threads decode tiles; 0, as in the beginning, means one per core. Results do not depend on it.
 */
TesseraStatus tessera_decoder_set_threads(TesseraDecoder *decoder,
                                          uint32_t threads);

/**
 * Offers a dictionary beside the built-in one; may be called several times.
 */
TesseraStatus tessera_decoder_add_dictionary(TesseraDecoder *decoder,
                                             const TesseraDictionary *dictionary);

/**
 * Looks for the dictionaries that files name among those of this user: in the folders of TESSERA_DICT_PATH and where
 * `tessera dict install` puts them.
 */
TesseraStatus tessera_decoder_use_store(TesseraDecoder *decoder);

/**
 * Stops decoding when the token says so.
 */
TesseraStatus tessera_decoder_set_cancel(TesseraDecoder *decoder, const TesseraCancel *cancel);

/**
 * Frees a decoder; files it has opened stay open.
 */
void tessera_decoder_free(TesseraDecoder *decoder);

/**
 * Reads a dictionary (the content of a .tsd file).
 *
 * `size` bytes can be read at `data`; they are not needed afterwards.
 */
TesseraStatus tessera_dictionary_from_memory(const uint8_t *data,
                                             size_t size,
                                             TesseraDictionary **dictionary);

/**
 * Reads a dictionary file (.tsd).
 *
 * `file` is a string that ends with a zero.
 */
TesseraStatus tessera_dictionary_from_file(const char *file, TesseraDictionary **dictionary);

/**
 * Finds a dictionary of this user by (the first digits of) its identity: in the folders of TESSERA_DICT_PATH and where
 * `tessera dict install` puts them.
 *
 * `id` is a string that ends with a zero.
 */
TesseraStatus tessera_dictionary_from_store(const char *id,
                                            TesseraDictionary **dictionary);

/**
 * The identity of a dictionary, as tessera_file_dictionary() tells it; NULL for NULL. Valid until the dictionary is
 * freed.
 */
const char *tessera_dictionary_id(const TesseraDictionary *dictionary);

/**
 * Frees a dictionary; encoders and decoders that were given it keep it.
 */
void tessera_dictionary_free(TesseraDictionary *dictionary);

/**
 * An encoder of quality 75, effort 5, all cores and the built-in dictionary.
 */
TesseraEncoder *tessera_encoder_new(void);

/**
 * Aims at a point of the quality scale, from 0 (smallest) to 100 (almost indistinguishable).
 */
TesseraStatus tessera_encoder_set_quality(TesseraEncoder *encoder, uint32_t quality);

/**
 * Aims at the best picture in at most so many bytes, everything included.
 */
TesseraStatus tessera_encoder_set_target_size(TesseraEncoder *encoder, uint64_t bytes);

/**
 * Aims at the smallest file with at least this PSNR, in decibels.
 */
TesseraStatus tessera_encoder_set_target_psnr(TesseraEncoder *encoder, double decibels);

/**
 * Sets how hard to search, from 1 (fast) to 9 (smallest files).
 */
TesseraStatus tessera_encoder_set_effort(TesseraEncoder *encoder, uint32_t effort);

/**
 * Sets what to spend bits on: a TesseraTune.
 */
TesseraStatus tessera_encoder_set_tune(TesseraEncoder *encoder, uint32_t tune);

/**
 * Sets how many threads encode tiles; 0 means one per core. Results do not depend on it.
 */
TesseraStatus tessera_encoder_set_threads(TesseraEncoder *encoder, uint32_t threads);

/**
 * Puts a small picture of about a kilobyte in front of the large one, if `wanted` is not 0.
 */
TesseraStatus tessera_encoder_set_preview(TesseraEncoder *encoder, uint32_t wanted);

/**
 * Uses a learned dictionary; the receiver needs the same one.
 */
TesseraStatus tessera_encoder_set_dictionary(TesseraEncoder *encoder,
                                             const TesseraDictionary *dictionary);

/**
 * Stops encoding when the token says so.
 */
TesseraStatus tessera_encoder_set_cancel(TesseraEncoder *encoder, const TesseraCancel *cancel);

/**
 * Encodes a picture and its metadata. `encoder` may be NULL for the usual settings.
 */
TesseraStatus tessera_encoder_encode(const TesseraEncoder *encoder,
                                     const TesseraPicture *picture,
                                     TesseraBuffer **file);

/**
 * Frees an encoder.
 */
void tessera_encoder_free(TesseraEncoder *encoder);

/**
 * Opens a file that is in memory, and looks at its header. The bytes are copied. `decoder` may be NULL for the usual
 * settings.
 *
 * `size` bytes can be read at `data`.
 */
TesseraStatus tessera_file_from_memory(const TesseraDecoder *decoder,
                                       const uint8_t *data,
                                       size_t size,
                                       TesseraFile **file);

/**
 * Opens a file on disk, and looks at its header; the rest is read when it is needed. `decoder` may be NULL for the usual
 * settings.
 *
 * `name` is a string that ends with a zero.
 */
TesseraStatus tessera_file_open(const TesseraDecoder *decoder,
                                const char *name,
                                TesseraFile **file);

/**
 * Columns of the picture; 0 for NULL.
 */
uint32_t tessera_file_width(const TesseraFile *file);

/**
 * Rows of the picture; 0 for NULL.
 */
uint32_t tessera_file_height(const TesseraFile *file);

/**
 * Samples per pixel: 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA); 0 for NULL.
 */
uint32_t tessera_file_channels(const TesseraFile *file);

/**
 * Bits per sample: 8, 10, 12 or 16; 0 for NULL.
 */
uint32_t tessera_file_bits(const TesseraFile *file);

/**
 * The dictionary that the picture was coded with: its identity, or "builtin" and a number; NULL for NULL. Valid until the
 * file is freed.
 */
const char *tessera_file_dictionary(const TesseraFile *file);

/**
 * Tells where a block of metadata is: a TesseraMetadataKind. NULL and 0 if the file has none. Valid until the file is
 * freed.
 */
TesseraStatus tessera_file_metadata(const TesseraFile *file,
                                    uint32_t kind,
                                    const uint8_t **data,
                                    size_t *size);

/**
 * Compares all checksums without decoding anything.
 */
TesseraStatus tessera_file_check(const TesseraFile *file);

/**
 * Decodes the whole picture.
 */
TesseraStatus tessera_file_decode(const TesseraFile *file, TesseraPicture **picture);

/**
 * Decodes exactly this part, reading only the tiles it needs.
 */
TesseraStatus tessera_file_decode_region(const TesseraFile *file,
                                         uint32_t x,
                                         uint32_t y,
                                         uint32_t width,
                                         uint32_t height,
                                         TesseraPicture **picture);

/**
 * Decodes the picture so that neither side is longer than `max_side` pixels, with a few rows of tiles in memory at a
 * time; it is never scaled up.
 */
TesseraStatus tessera_file_decode_scaled(const TesseraFile *file,
                                         uint32_t max_side,
                                         TesseraPicture **picture);

/**
 * Decodes what is intact of a damaged file, and the rows that are there of a tile that was cut; the rest becomes gray.
 * `damaged_tiles`, unless it is NULL, is told how many tiles are not intact.
 */
TesseraStatus tessera_file_decode_partial(const TesseraFile *file,
                                          size_t *damaged_tiles,
                                          TesseraPicture **picture);

/**
 * Decodes the small picture in front of the large one from the beginning of a file, up to the end of the preview. NULL if
 * the file has none. `decoder` may be NULL for the usual settings.
 *
 * `size` bytes can be read at `data`.
 */
TesseraStatus tessera_preview_from_memory(const TesseraDecoder *decoder,
                                          const uint8_t *data,
                                          size_t size,
                                          TesseraPicture **picture);

/**
 * Frees a file; pictures decoded from it stay.
 */
void tessera_file_free(TesseraFile *file);

/**
 * Makes a picture from pixels of the caller, which are copied.
 *
 * `channels` is 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA); `bits` is 8 (uint8_t), 10, 12 or 16 (uint16_t). `stride`
 * is the number of bytes from one row to the next; 0 if there is nothing between them.
 *
 * At `samples` there are `height` rows, `stride` bytes apart.
 */
TesseraStatus tessera_picture_new(uint32_t width,
                                  uint32_t height,
                                  uint32_t channels,
                                  uint32_t bits,
                                  const void *samples,
                                  size_t stride,
                                  TesseraPicture **picture);

/**
 * Columns; 0 for NULL.
 */
uint32_t tessera_picture_width(const TesseraPicture *picture);

/**
 * Rows; 0 for NULL.
 */
uint32_t tessera_picture_height(const TesseraPicture *picture);

/**
 * Samples per pixel: 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA); 0 for NULL.
 */
uint32_t tessera_picture_channels(const TesseraPicture *picture);

/**
 * Bits per sample: 8, 10, 12 or 16; 0 for NULL.
 */
uint32_t tessera_picture_bits(const TesseraPicture *picture);

/**
 * The samples, rows without gaps: uint8_t for 8 bits, uint16_t for more; NULL for NULL. Valid until the picture is freed.
 */
const void *tessera_picture_samples(const TesseraPicture *picture);

/**
 * Number of bytes of all samples; 0 for NULL.
 */
size_t tessera_picture_size(const TesseraPicture *picture);

/**
 * Writes the pixels as RGBA of 8 bits, whatever they are, in rows of `stride` bytes (0: without gaps).
 *
 * `size` bytes can be written at `pixels`.
 */
TesseraStatus tessera_picture_write_rgba8(const TesseraPicture *picture,
                                          uint8_t *pixels,
                                          size_t stride,
                                          size_t size);

/**
 * Tells where a block of metadata is: a TesseraMetadataKind. NULL and 0 if the picture has none. Valid until the
 * picture is changed or freed.
 */
TesseraStatus tessera_picture_metadata(const TesseraPicture *picture,
                                       uint32_t kind,
                                       const uint8_t **data,
                                       size_t *size);

/**
 * Gives a picture a block of metadata (a TesseraMetadataKind), which is copied; NULL takes it away.
 *
 * `size` bytes can be read at `data`.
 */
TesseraStatus tessera_picture_set_metadata(TesseraPicture *picture,
                                           uint32_t kind,
                                           const uint8_t *data,
                                           size_t size);

/**
 * Frees a picture.
 */
void tessera_picture_free(TesseraPicture *picture);

/**
 * What was wrong in the last call of this thread that failed: a sentence in UTF-8, empty if none has failed. It stays
 * valid until another call of this thread fails.
 */
const char *tessera_last_error(void);

/**
 * The name of a status, for logs.
 */
const char *tessera_status_name(uint32_t status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TESSERA_H */
