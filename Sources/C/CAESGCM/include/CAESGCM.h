/// AES-256-GCM and HMAC-SHA256 with the key kept ready, by the BoringSSL that swift-crypto brings along.
///
/// swift-crypto's own functions make the schedule anew for each call and copy what they are given three times, which
/// costs three times what sealing a page of a database does. These call what they call. They are looked up when the
/// program is linked, and only if they are there: `outpost_gcm_new` gives NULL where they are not (on Apple's
/// platforms, and should a later swift-crypto name them otherwise), and swift-crypto's own functions serve.
#ifndef OUTPOST_CAESGCM_H
#define OUTPOST_CAESGCM_H

#include <stddef.h>
#include <stdint.h>

/// A key schedule. It may be used by several threads at once, and is overwritten when it is freed.
typedef struct outpost_gcm outpost_gcm;

/// The schedule of a key of 32 bytes, or NULL.
outpost_gcm *outpost_gcm_new(const void *key);

/// Frees a schedule; NULL is allowed.
void outpost_gcm_free(outpost_gcm *schedule);

/// Encrypts `count` bytes, with a nonce of 12, into `target`, which gets a tag of 16 bytes behind them. 1 if it was done.
int outpost_gcm_seal(
    const outpost_gcm *schedule, void *target, const void *nonce, const void *source, size_t count,
    const void *data, size_t data_count);

/// Decrypts `count` bytes and the tag of 16 bytes behind them into `target`. 1 if the tag fits; else `target` is zeros.
int outpost_gcm_open(
    const outpost_gcm *schedule, void *target, const void *nonce, const void *source, size_t count,
    const void *data, size_t data_count);

/// The most that `outpost_gcm_tag` takes, in bytes.
enum { outpost_gcm_tag_limit = 4160 };

/// Writes the tag, 16 bytes, of no text and of two pieces of associated data, under a nonce of zeros. 1 if it was done.
///
/// Under a key that has no other use, the tag is a universal hash of the two pieces: it must be kept secret.
int outpost_gcm_tag(
    const outpost_gcm *schedule, void *target, const void *first, size_t first_count, const void *second,
    size_t second_count);

/// HMAC-SHA256 that has taken in its key.
typedef struct outpost_mac outpost_mac;

/// HMAC-SHA256 under a key of 32 bytes, or NULL. It may be used by several threads at once.
outpost_mac *outpost_mac_new(const void *key);

/// Overwrites and frees it; NULL is allowed.
void outpost_mac_free(outpost_mac *mac);

/// Writes the code, 32 bytes, of `count` bytes.
void outpost_mac_code(const outpost_mac *mac, void *target, const void *source, size_t count);

#endif
