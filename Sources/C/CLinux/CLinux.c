#include "CLinux.h"

#ifdef __linux__

#include <features.h>
#include <linux/keyctl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel's numbers; libkeyutils, which has names for these calls, is not installed everywhere.
static long keyctl(long operation, long a, long b, long c, long d) {
    return syscall(SYS_keyctl, operation, a, b, c, d);
}

outpost_key_serial outpost_user_keyring(void) {
    // The session keyring of a process that was started without a login has no link to the user's keyring,
    // and without one a key there is not "possessed" and so cannot be read. A link does no harm elsewhere.
    long user = keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1, 0, 0);
    if (user >= 0) keyctl(KEYCTL_LINK, user, KEY_SPEC_PROCESS_KEYRING, 0, 0);
    return (outpost_key_serial)user;
}

outpost_key_serial outpost_keyring(outpost_key_serial parent, const char *name) {
    long found = keyctl(KEYCTL_SEARCH, parent, (long)"keyring", (long)name, 0);
    if (found >= 0) return (outpost_key_serial)found;
    return (outpost_key_serial)syscall(SYS_add_key, "keyring", name, NULL, 0, parent);
}

outpost_key_serial outpost_key_set(
    outpost_key_serial keyring, const char *name, const void *bytes, size_t count) {
    return (outpost_key_serial)syscall(SYS_add_key, "user", name, bytes, count, keyring);
}

outpost_key_serial outpost_key_find(outpost_key_serial keyring, const char *name) {
    return (outpost_key_serial)keyctl(KEYCTL_SEARCH, keyring, (long)"user", (long)name, 0);
}

long outpost_key_read(outpost_key_serial key, void *bytes, size_t capacity) {
    return keyctl(KEYCTL_READ, key, (long)bytes, (long)capacity, 0);
}

long outpost_key_unlink(outpost_key_serial key, outpost_key_serial keyring) {
    return keyctl(KEYCTL_UNLINK, key, keyring, 0, 0);
}

long outpost_key_describe(outpost_key_serial key, char *text, size_t capacity) {
    return keyctl(KEYCTL_DESCRIBE, key, (long)text, (long)capacity, 0);
}

int outpost_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void outpost_return_memory(void) {
    // musl gives back what it can by itself.
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

#else

// An empty translation unit is not C.
typedef int outpost_clinux_is_for_linux;

#endif
