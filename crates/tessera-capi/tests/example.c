/* Encodes a picture and decodes a part of it again: cc example.c $(pkg-config --cflags --libs tessera) */
#include <stdio.h>
#include <tessera.h>

static int failed(TesseraStatus status) {
    if (status != TESSERA_STATUS_OK)
        fprintf(stderr, "%s: %s\n", tessera_status_name(status), tessera_last_error());
    return status != TESSERA_STATUS_OK;
}

int main(void) {
    static uint8_t pixels[48 * 64 * 3];
    for (int i = 0; i < 48 * 64 * 3; i++)
        pixels[i] = (uint8_t)(i / 40);
    TesseraEncoder *encoder = tessera_encoder_new();
    TesseraPicture *picture = NULL, *part = NULL;
    TesseraBuffer *coded = NULL;
    TesseraFile *file = NULL;
    int wrong = failed(tessera_encoder_set_quality(encoder, 80)) ||
                failed(tessera_picture_new(64, 48, 3, 8, pixels, 0, &picture)) ||
                failed(tessera_encoder_encode(encoder, picture, &coded)) ||
                failed(tessera_file_from_memory(NULL, tessera_buffer_data(coded), tessera_buffer_size(coded), &file)) ||
                failed(tessera_file_decode_region(file, 8, 8, 16, 12, &part));
    if (!wrong)
        printf("%u x %u pixels in %zu bytes, a part of %u x %u\n", tessera_file_width(file), tessera_file_height(file),
               tessera_buffer_size(coded), tessera_picture_width(part), tessera_picture_height(part));
    tessera_picture_free(part);
    tessera_file_free(file);
    tessera_buffer_free(coded);
    tessera_picture_free(picture);
    tessera_encoder_free(encoder);
    return wrong;
}
