/// Functions of Linux that Swift cannot call: those that take a variable number of arguments, and those of headers that
/// its module map leaves out.
#ifndef OUTPOST_CLINUX_H
#define OUTPOST_CLINUX_H

#include <stddef.h>
#include <stdint.h>

/// Key serial numbers are positive; a negative result is an error, whose number is in `errno`.
typedef int32_t outpost_key_serial;

#ifdef __linux__

/// The keyring of the user: shared by all sessions of one user, gone at the latest with the system.
outpost_key_serial outpost_user_keyring(void);

/// Finds the keyring of that name in another keyring, or makes it.
outpost_key_serial outpost_keyring(outpost_key_serial parent, const char *name);

/// Adds a key of type "user", or replaces its content.
outpost_key_serial outpost_key_set(
    outpost_key_serial keyring, const char *name, const void *bytes, size_t count);

/// Finds a key of type "user" by its name.
outpost_key_serial outpost_key_find(outpost_key_serial keyring, const char *name);

/// Copies a key's content, or as much of it as fits, and returns its whole length.
long outpost_key_read(outpost_key_serial key, void *bytes, size_t capacity);

/// Takes a key out of a keyring.
long outpost_key_unlink(outpost_key_serial key, outpost_key_serial keyring);

/// The name of a key, with a zero at its end, as much of it as fits; returns its whole length.
long outpost_key_describe(outpost_key_serial key, char *text, size_t capacity);

/// Gives memory that was freed back to the system, as far as the C library can.
void outpost_return_memory(void);

/// Says that no other process of the user may read this process's memory, and that it leaves no core dump.
int outpost_forbid_dumps(void);

#endif
#endif
