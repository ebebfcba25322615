"""Decodes an encrypted database into a plain one, by the documentation page "The file format" alone.

usage: decode.py DATABASE KEY TARGET

KEY is 64 hexadecimal digits, or "passphrase:" and a passphrase. TARGET and, where there are such files beside
DATABASE, TARGET-wal and TARGET-journal are written.
"""

import hashlib
import hmac
import os
import struct
import sys
import unicodedata

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def hkdf(secret, salt, info):
    return HKDF(algorithm=SHA256(), length=32, salt=salt, info=info).derive(secret)


def open_envelope(envelope, context, key):
    assert envelope[:5] == b"OPKE\x01"
    derivation, exponent, zero, r, p = struct.unpack(">BBBII", envelope[5:16])
    salt, nonce, sealed = envelope[16:32], envelope[32:44], envelope[44:]
    if derivation == 1:
        text = unicodedata.normalize("NFC", key.removeprefix("passphrase:")).encode()
        n = 1 << exponent
        secret = hashlib.scrypt(text, salt=salt, n=n, r=r, p=p, maxmem=256 * n * r, dklen=32)
    else:
        secret = bytes.fromhex(key)
    wrapping = hkdf(secret, salt, b"outpost key envelope 1")
    return AESGCM(wrapping).decrypt(nonce, sealed, envelope[:32] + context)


def read_key_block(block, key):
    assert block[:16] == b"Outpost SQLite\r\n"
    version, page_size, reserved = struct.unpack(">HHB", block[16:21])
    assert version in (1, 2) and (page_size, reserved) == (4096, 28)
    header = block[:512]
    slots = []
    for offset in (1024, 3072):
        slot = block[offset : offset + 512]
        if hashlib.sha256(header + slot[:480]).digest() == slot[480:]:
            sequence, length = struct.unpack(">QH", slot[:10])
            if sequence > 0:
                slots.append((sequence, slot[16 : 16 + length]))
    sequence, envelope = max(slots)
    return block[24:40], open_envelope(envelope, header + struct.pack(">Q", sequence), key), version


class Decoder:
    def __init__(self, identity, data_key, version):
        self.identity, self.version = identity, version

        def key(version, purpose):
            return hkdf(data_key, identity, b"outpost sqlite %d " % version + purpose)

        self.keys = {
            1: AESGCM(key(1, b"main")), 2: AESGCM(key(version, b"wal")), 3: AESGCM(key(version, b"journal"))
        }
        self.mask_key = key(version, b"mask")

    def page(self, sealed, kind, offset, number=0, context=bytes(8), commit=0):
        if kind == 1 or self.version == 1:
            data = self.identity + bytes([kind, 0, 0, 0]) + struct.pack(">IQ", number if kind == 3 else 0, offset)
        else:
            data = self.identity + bytes([kind, 2, 0, 0]) + struct.pack(">IQ8sII", number, offset, context, commit, 0)
        return self.keys[kind].decrypt(sealed[:12], sealed[12:], data) + bytes(28)

    def unmask(self, checksum, words, nonce=bytes(12)):
        text = struct.pack(">4Q", *words) + (b"" if self.version == 1 else nonce)
        mask = hmac.new(self.mask_key, text, hashlib.sha256).digest()
        return bytes(a ^ b for a, b in zip(checksum, mask))

    def database(self, content):
        pages = range(4096, len(content), 4096)
        return b"".join(self.page(content[at : at + 4096], 1, at - 4096) for at in pages)

    def log(self, content):
        salts = content[16:24]
        number_of_salts = struct.unpack(">Q", salts)[0]
        plain = content[:24] + self.unmask(content[24:32], (4 << 56, 0, number_of_salts, 0))
        at = 32
        while at + 24 + 4096 <= len(content):
            header, sealed = content[at : at + 24], content[at + 24 : at + 24 + 4096]
            number, commit = struct.unpack(">II", header[:8])
            words = (2 << 56, at) + struct.unpack(">QQ", header[8:16] + header[:8])
            try:
                page = self.page(sealed, 2, at + 24, number, salts, commit)
            except Exception:
                break  # the end of the log
            plain += header[:16] + self.unmask(header[16:], words, sealed[:12]) + page
            at += 24 + 4096
        return plain

    def journal(self, content):
        plain, at = b"", 0
        while content[at : at + 8] == b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7":
            # A header of SQLite's, with the number of records behind it; each begins at a multiple of 512.
            fields = struct.unpack(">QQ", content[at + 12 : at + 28])
            if any(self.unmask(content[at + 28 : at + 36], (5 << 56, at) + fields)):
                break  # not the header that was written
            plain += content[at : at + 28] + bytes(8) + content[at + 36 : at + 512]
            records = struct.unpack(">I", content[at + 8 : at + 12])[0]
            segment = content[at + 12 : at + 20]
            at += 512
            for _ in range(records):
                number = struct.unpack(">I", content[at : at + 4])[0]
                sealed = content[at + 4 : at + 4 + 4096]
                page = self.page(sealed, 3, at + 4, number, segment)
                sum_at = at + 4 + 4096
                if self.version == 1:
                    first, last = struct.unpack(">QI", sealed[:12])
                    words = (3 << 56, sum_at, first, last << 32)
                else:
                    words = (3 << 56, sum_at, struct.unpack(">Q", segment)[0], number << 32)
                checksum = self.unmask(content[sum_at : sum_at + 4], words, sealed[:12])
                plain += content[at : at + 4] + page + checksum
                at = sum_at + 4
            gap = -at % 512
            plain += content[at : at + gap]
            at += gap
        return plain


def main():
    path, key, target = sys.argv[1:]
    with open(path, "rb") as file:
        content = file.read()
    decoder = Decoder(*read_key_block(content[:4096], key))
    with open(target, "wb") as file:
        file.write(decoder.database(content))
    for suffix, decode in (("-wal", decoder.log), ("-journal", decoder.journal)):
        if os.path.exists(path + suffix) and os.path.getsize(path + suffix) > 512:
            with open(path + suffix, "rb") as source, open(target + suffix, "wb") as file:
                file.write(decode(source.read()))


main()
