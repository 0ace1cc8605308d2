/* What a careless caller does, from two threads at once. Run under valgrind: nothing may leak or be read that is not there. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, tessera_last_error()); \
            exit(1); \
        } \
    } while (0)

enum { WIDTH = 20, HEIGHT = 9, GAP = 6, STRIDE = WIDTH * 2 * 2 + GAP };

/* Gray and alpha of 10 bits, with gaps between the rows, the last of which has none behind it. */
static TesseraPicture *wide_picture(void) {
    unsigned char *rows = malloc(STRIDE * (HEIGHT - 1) + WIDTH * 2 * 2);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH * 2; x++) {
            uint16_t sample = (uint16_t)(x % 2 ? 1000 - y : 20 * x + y);
            memcpy(rows + y * STRIDE + 2 * x, &sample, 2);
        }
    TesseraPicture *picture = NULL;
    CHECK(tessera_picture_new(WIDTH, HEIGHT, 2, 10, rows, STRIDE, &picture) == TESSERA_STATUS_OK);
    free(rows);
    return picture;
}

static void nothing_is_refused(void) {
    TesseraPicture *picture = (TesseraPicture *)1;
    TesseraFile *file = NULL;
    uint8_t pixel[4];
    CHECK(tessera_picture_new(1, 1, 1, 8, NULL, 0, &picture) == TESSERA_STATUS_PARAMETER && picture == NULL);
    CHECK(strstr(tessera_last_error(), "NULL"));
    CHECK(tessera_picture_new(1, 1, 5, 8, pixel, 0, &picture) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_picture_new(1, 1, 1, 9, pixel, 0, &picture) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_picture_new(2, 2, 1, 8, pixel, 1, &picture) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_picture_new(2, 70000, 1, 8, pixel, (size_t)-1, &picture) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_picture_new(1, 1, 1, 8, pixel, 0, NULL) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_file_from_memory(NULL, NULL, 0, &file) == TESSERA_STATUS_FORMAT && !file);
    CHECK(tessera_file_from_memory(NULL, NULL, 9, &file) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_file_open(NULL, NULL, &file) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_file_open(NULL, "/no/such/file.tsr", &file) == TESSERA_STATUS_IO);
    CHECK(strstr(tessera_last_error(), "/no/such/file.tsr"));
    CHECK(tessera_file_decode(NULL, &picture) == TESSERA_STATUS_PARAMETER && !picture);
    CHECK(tessera_file_width(NULL) == 0 && tessera_file_dictionary(NULL) == NULL);
    CHECK(tessera_encoder_set_quality(NULL, 50) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_picture_samples(NULL) == NULL && tessera_buffer_size(NULL) == 0);
    CHECK(!strcmp(tessera_status_name(TESSERA_STATUS_LIMITS), "limits") && !strcmp(tessera_status_name(99), "unknown"));
    tessera_picture_free(NULL);
    tessera_file_free(NULL);
    tessera_encoder_free(NULL);
    tessera_decoder_free(NULL);
    tessera_dictionary_free(NULL);
    tessera_buffer_free(NULL);
    tessera_cancel_free(NULL);
}

static void settings_are_checked(void) {
    TesseraEncoder *encoder = tessera_encoder_new();
    TesseraDecoder *decoder = tessera_decoder_new();
    TesseraDictionary *dictionary = NULL;
    CHECK(tessera_encoder_set_quality(encoder, 101) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_encoder_set_effort(encoder, 256 + 5) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_encoder_set_tune(encoder, 2) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_encoder_set_dictionary(encoder, NULL) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_decoder_set_limit(decoder, 6, 1) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_dictionary_from_memory((const uint8_t *)"TSD?", 4, &dictionary) == TESSERA_STATUS_DICTIONARY);
    CHECK(tessera_dictionary_from_store("", &dictionary) == TESSERA_STATUS_DICTIONARY && !dictionary);
    tessera_encoder_free(encoder);
    tessera_decoder_free(decoder);
}

static TesseraBuffer *encoded(TesseraPicture *picture) {
    TesseraBuffer *coded = NULL;
    TesseraEncoder *encoder = tessera_encoder_new();
    CHECK(tessera_picture_set_metadata(picture, TESSERA_METADATA_KIND_XMP, (const uint8_t *)"<x/>", 4) == 0);
    CHECK(tessera_picture_set_metadata(picture, 7, NULL, 0) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_encoder_set_effort(encoder, 1) == 0 && tessera_encoder_set_threads(encoder, 1) == 0);
    TesseraCancel *cancel = tessera_cancel_new();
    CHECK(tessera_encoder_set_cancel(encoder, cancel) == 0);
    CHECK(tessera_encoder_encode(encoder, picture, &coded) == TESSERA_STATUS_OK);
    tessera_buffer_free(coded);
    tessera_cancel_now(cancel);
    tessera_cancel_free(cancel);
    CHECK(tessera_encoder_encode(encoder, picture, &coded) == TESSERA_STATUS_CANCELLED && !coded);
    tessera_encoder_free(encoder);
    CHECK(tessera_encoder_encode(NULL, picture, &coded) == TESSERA_STATUS_OK);
    return coded;
}

static void files_are_read(const uint8_t *data, size_t size) {
    TesseraDecoder *decoder = tessera_decoder_new();
    TesseraFile *file = NULL;
    TesseraPicture *picture = NULL;
    const uint8_t *block = NULL;
    size_t length = 0, damaged = 9;
    uint8_t pixels[HEIGHT][WIDTH + 1][4];
    CHECK(tessera_decoder_set_threads(decoder, 1) == 0 && tessera_decoder_use_store(decoder) == 0);
    CHECK(tessera_decoder_set_limit(decoder, TESSERA_LIMIT_PIXELS, WIDTH * HEIGHT - 1) == 0);
    CHECK(tessera_file_from_memory(decoder, data, size, &file) == TESSERA_STATUS_LIMITS && !file);
    CHECK(tessera_decoder_set_limit(decoder, TESSERA_LIMIT_PIXELS, WIDTH * HEIGHT) == 0);
    CHECK(tessera_file_from_memory(decoder, data, size, &file) == 0);
    tessera_decoder_free(decoder);
    CHECK(tessera_file_width(file) == WIDTH && tessera_file_height(file) == HEIGHT);
    CHECK(tessera_file_channels(file) == 2 && tessera_file_bits(file) == 10 && tessera_file_dictionary(file));
    CHECK(tessera_file_metadata(file, TESSERA_METADATA_KIND_XMP, &block, &length) == 0);
    CHECK(length == 4 && !memcmp(block, "<x/>", 4));
    CHECK(tessera_file_metadata(file, TESSERA_METADATA_KIND_ICC, &block, &length) == 0 && !block && !length);
    CHECK(tessera_file_metadata(file, 5, &block, &length) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_file_check(file) == 0);
    CHECK(tessera_file_decode_region(file, WIDTH - 1, 0, 2, 1, &picture) == TESSERA_STATUS_PARAMETER && !picture);
    CHECK(tessera_file_decode_scaled(file, 0, &picture) == TESSERA_STATUS_PARAMETER);
    CHECK(tessera_file_decode_scaled(file, 10, &picture) == 0 && tessera_picture_width(picture) == 10);
    tessera_picture_free(picture);
    CHECK(tessera_file_decode_partial(file, &damaged, &picture) == 0 && damaged == 0);
    CHECK(tessera_picture_size(picture) == WIDTH * HEIGHT * 2 * 2 && tessera_picture_samples(picture));
    CHECK(tessera_picture_write_rgba8(picture, pixels[0][0], sizeof pixels[0], sizeof pixels - 5) ==
          TESSERA_STATUS_PARAMETER);
    CHECK(tessera_picture_write_rgba8(picture, pixels[0][0], sizeof pixels[0], sizeof pixels) == 0);
    CHECK(abs(pixels[0][0][3] - 249) < 4 && pixels[8][19][0] == pixels[8][19][2]);
    tessera_picture_free(picture);
    tessera_file_free(file);
}

static void *everything(void *unused) {
    nothing_is_refused();
    settings_are_checked();
    TesseraPicture *picture = wide_picture();
    TesseraBuffer *coded = encoded(picture);
    tessera_picture_free(picture);
    const uint8_t *data = tessera_buffer_data(coded);
    size_t size = tessera_buffer_size(coded);
    files_are_read(data, size);
    for (size_t cut = 0; cut < size; cut++) {
        TesseraFile *file = NULL;
        TesseraStatus status = tessera_file_from_memory(NULL, data, cut, &file);
        if (status == TESSERA_STATUS_OK)
            status = tessera_file_decode(file, &picture);
        CHECK(status == TESSERA_STATUS_FORMAT);
        tessera_file_free(file);
    }
    tessera_buffer_free(coded);
    return unused;
}

int main(void) {
    pthread_t other;
    CHECK(pthread_create(&other, NULL, everything, NULL) == 0);
    everything(NULL);
    CHECK(pthread_join(other, NULL) == 0);
    puts("all is well");
    return 0;
}
