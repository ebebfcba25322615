#include "CAESGCM.h"

enum { key_size = 32, nonce_size = 12, tag_size = 16 };

#ifdef __ELF__

// As <openssl/aead.h> of BoringSSL declares them; swift-crypto puts its prefix before every name.
#define BORING(name) CCryptoBoringSSL_##name
#define WEAK __attribute__((weak))

const void *BORING(EVP_aead_aes_256_gcm)(void) WEAK;
void *BORING(EVP_AEAD_CTX_new)(const void *aead, const uint8_t *key, size_t key_len, size_t tag_len) WEAK;
void BORING(EVP_AEAD_CTX_free)(void *ctx) WEAK;
int BORING(EVP_AEAD_CTX_seal)(
    const void *ctx, uint8_t *out, size_t *out_len, size_t max_out_len, const uint8_t *nonce, size_t nonce_len,
    const uint8_t *in, size_t in_len, const uint8_t *ad, size_t ad_len) WEAK;
int BORING(EVP_AEAD_CTX_open)(
    const void *ctx, uint8_t *out, size_t *out_len, size_t max_out_len, const uint8_t *nonce, size_t nonce_len,
    const uint8_t *in, size_t in_len, const uint8_t *ad, size_t ad_len) WEAK;

outpost_gcm *outpost_gcm_new(const void *key) {
    if (!BORING(EVP_aead_aes_256_gcm) || !BORING(EVP_AEAD_CTX_new) || !BORING(EVP_AEAD_CTX_free)
        || !BORING(EVP_AEAD_CTX_seal) || !BORING(EVP_AEAD_CTX_open)) {
        return NULL;
    }
    return BORING(EVP_AEAD_CTX_new)(BORING(EVP_aead_aes_256_gcm)(), key, key_size, tag_size);
}

void outpost_gcm_free(outpost_gcm *schedule) {
    if (schedule) BORING(EVP_AEAD_CTX_free)(schedule);
}

int outpost_gcm_seal(
    const outpost_gcm *schedule, void *target, const void *nonce, const void *source, size_t count,
    const void *data, size_t data_count) {
    size_t written = 0;
    return BORING(EVP_AEAD_CTX_seal)(
               schedule, target, &written, count + tag_size, nonce, nonce_size, source, count, data, data_count)
        == 1 && written == count + tag_size;
}

int outpost_gcm_open(
    const outpost_gcm *schedule, void *target, const void *nonce, const void *source, size_t count,
    const void *data, size_t data_count) {
    size_t written = 0;
    return BORING(EVP_AEAD_CTX_open)(
               schedule, target, &written, count, nonce, nonce_size, source, count + tag_size, data, data_count)
        == 1 && written == count;
}

#else

outpost_gcm *outpost_gcm_new(const void *key) { return NULL; }
void outpost_gcm_free(outpost_gcm *schedule) {}
int outpost_gcm_seal(
    const outpost_gcm *schedule, void *target, const void *nonce, const void *source, size_t count,
    const void *data, size_t data_count) {
    return 0;
}
int outpost_gcm_open(
    const outpost_gcm *schedule, void *target, const void *nonce, const void *source, size_t count,
    const void *data, size_t data_count) {
    return 0;
}

#endif
