#include "CAESGCM.h"

#include <stdlib.h>
#include <string.h>

enum { key_size = 32, nonce_size = 12, tag_size = 16, block_size = 64, digest_size = 32 };

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

// The state of SHA-256 has 112 bytes in BoringSSL; the room leaves some for a later one.
typedef union {
    uint64_t alignment;
    uint8_t bytes[192];
} sha256_state;

int BORING(SHA256_Init)(sha256_state *state) WEAK;
int BORING(SHA256_Update)(sha256_state *state, const void *data, size_t len) WEAK;
int BORING(SHA256_Final)(uint8_t *out, sha256_state *state) WEAK;

struct outpost_mac {
    sha256_state inner, outer;
};

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

int outpost_gcm_tag(
    const outpost_gcm *schedule, void *target, const void *first, size_t first_count, const void *second,
    size_t second_count) {
    static const uint8_t nonce[nonce_size] = {0};
    // The associated data must be in one piece. Moving it costs less than a hash of two pieces would.
    uint8_t data[outpost_gcm_tag_limit];
    size_t written = 0;
    if (first_count > sizeof data || second_count > sizeof data - first_count) return 0;
    memcpy(data, first, first_count);
    memcpy(data + first_count, second, second_count);
    return BORING(EVP_AEAD_CTX_seal)(
               schedule, target, &written, tag_size, nonce, nonce_size, NULL, 0, data, first_count + second_count)
        == 1 && written == tag_size;
}

outpost_mac *outpost_mac_new(const void *key) {
    if (!BORING(SHA256_Init) || !BORING(SHA256_Update) || !BORING(SHA256_Final)) return NULL;
    outpost_mac *mac = calloc(1, sizeof *mac);
    if (!mac) return NULL;
    uint8_t pad[block_size];
    memset(pad, 0x36, sizeof pad);
    for (size_t i = 0; i < key_size; i++) pad[i] ^= ((const uint8_t *)key)[i];
    BORING(SHA256_Init)(&mac->inner);
    BORING(SHA256_Update)(&mac->inner, pad, sizeof pad);
    for (size_t i = 0; i < sizeof pad; i++) pad[i] ^= 0x36 ^ 0x5c;
    BORING(SHA256_Init)(&mac->outer);
    BORING(SHA256_Update)(&mac->outer, pad, sizeof pad);
    for (volatile uint8_t *at = pad; at < pad + sizeof pad; at++) *at = 0;
    return mac;
}

void outpost_mac_free(outpost_mac *mac) {
    if (!mac) return;
    for (volatile uint8_t *at = (uint8_t *)mac; at < (uint8_t *)(mac + 1); at++) *at = 0;
    free(mac);
}

void outpost_mac_code(const outpost_mac *mac, void *target, const void *source, size_t count) {
    uint8_t digest[digest_size];
    sha256_state state = mac->inner;
    BORING(SHA256_Update)(&state, source, count);
    BORING(SHA256_Final)(digest, &state);
    state = mac->outer;
    BORING(SHA256_Update)(&state, digest, sizeof digest);
    BORING(SHA256_Final)(target, &state);
}

#else

int outpost_gcm_tag(
    const outpost_gcm *schedule, void *target, const void *first, size_t first_count, const void *second,
    size_t second_count) {
    return 0;
}
outpost_mac *outpost_mac_new(const void *key) { return NULL; }
void outpost_mac_free(outpost_mac *mac) {}
void outpost_mac_code(const outpost_mac *mac, void *target, const void *source, size_t count) {}
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
