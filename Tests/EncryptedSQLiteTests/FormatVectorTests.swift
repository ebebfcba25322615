import Crypto
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

/// The vectors of `Format.md`, which were computed by another implementation (Python's `cryptography`).
@Suite("The file format is the documented one, byte by byte")
struct FormatVectorTests {
    private let identity = [UInt8](0..<16)
    private let page = (0..<FileFormat.contentSize).map { UInt8($0 % 251) }

    private func dataKey() throws -> EncryptionKey { try EncryptionKey(bytes: [UInt8](repeating: 0x22, count: 32)) }
    private func cipher() throws -> PageCipher { PageCipher(dataKey: try dataKey(), fileIdentity: identity) }

    private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func digest(_ bytes: some Sequence<UInt8>) -> String { hexadecimal(SHA256.hash(data: Array(bytes))) }

    @Test("The key block of known key, data key, identity, salt and nonce")
    func keyBlock() throws {
        let key = try EncryptionKey(bytes: [UInt8](repeating: 0x11, count: 32))
        var block = KeyBlock(fileIdentity: identity)
        let envelope = try KeyEnvelope.seal(
            try dataKey(), with: .key(key), context: block.context(sequence: 1), derivation: .standard,
            deriver: .shared, salt: [UInt8](repeating: 0x33, count: 16), nonce: [UInt8](repeating: 0x44, count: 12))
        #expect(
            hexadecimal(envelope.bytes)
                == "4f504b4501000000000000000000000033333333333333333333333333333333444444444444444444444444"
                + "632ce8367b1601d0c690ae779a031e1fbf5da06f94d21c069741064d4f11d951902fa6cd2ed1061514ed0112d206b516")
        #expect(block.place(.init(sequence: 1, envelope: envelope)) == 0)
        #expect(digest(block.bytes) == "a7b496859a9e163e575bb3311b9d7ff09c3a2212f6c0b7cc07b342fc015861e9")
        let read = try KeyBlock(bytes: block.bytes)
        #expect(try read.dataKey(with: .key(key)) == dataKey())
    }

    @Test(
        "A sealed page of each kind",
        arguments: [
            (PageKind.main, 8192, 0, "acb217b02897fc16cc1dfb071b11b63f7450fd3979918cd3a9640c308115333f"),
            (.log, 56, 0, "8d51bb9a424b17f681fcfd7f80928dbc6d6128bbb5efe49e143de3839911cda9"),
            (.journal, 516, 7, "3d4f6c0a7d0d17469675c46263a585a84814aaf61b4b60e8efed5bd93d9d8a94"),
        ])
    func sealedPage(kind: PageKind, offset: Int64, number: UInt32, expected: String) throws {
        let place = PageCipher.Place(kind: kind, offset: offset, journalPage: number)
        let nonce = [UInt8](repeating: 0x44, count: 12)
        let cipher = try cipher()
        let sealed = cipher.sealed(page, at: place, nonce: nonce)
        #expect(sealed.count == 4096)
        #expect(digest(sealed) == expected)
        #expect(cipher.opened(sealed, at: place) == page)
        for other in PageKind.allCases where other != kind {
            #expect(cipher.opened(sealed, at: .init(kind: other, offset: offset, journalPage: number)) == nil)
        }
        #expect(cipher.opened(sealed, at: .init(kind: kind, offset: offset + 1, journalPage: number)) == nil)
        #expect(cipher.opened(sealed, at: .init(kind: kind, offset: offset, journalPage: number + 1)) == nil)
    }

    @Test("A sealer that keeps its key schedule makes and opens the same bytes as one that does not")
    func bothSealers() throws {
        let key = SymmetricKey(size: .bits256)
        let sealers = [PageSealer(key: key), PageSealer(key: key, keepsSchedule: false)]
        #if os(Linux)
            #expect(sealers.map(\.hasSchedule) == [true, false])
        #endif
        let data = [UInt8](0..<32)
        for sealer in sealers {
            var sealed = [UInt8](repeating: 7, count: 12) + [UInt8](repeating: 0, count: 4084)
            let isSealed = sealed.withUnsafeMutableBytes { target in
                page.withUnsafeBytes { content in
                    data.withUnsafeBytes { data in
                        guard let target = target.baseAddress, let content = content.baseAddress else { return false }
                        return sealer.seal(content, nonce: target, authenticating: data, to: target + 12)
                    }
                }
            }
            #expect(isSealed)
            for other in sealers {
                #expect(other.opened(sealed, authenticating: data) == page)
                var altered = sealed
                altered[4095] ^= 1
                #expect(other.opened(altered, authenticating: data) == nil)
                #expect(other.opened(sealed, authenticating: data.reversed()) == nil)
            }
        }
    }

    @Test("The masks of the three checksums")
    func masks() throws {
        let salts: UInt64 = 0x0102_0304_0506_0708
        let cipher = try cipher()
        #expect(cipher.logMask(isHeader: true, offset: 0, salts: salts, pageAndCommit: 0) == 0x8576_ff71_54d0_fa12)
        #expect(
            cipher.logMask(isHeader: false, offset: 32, salts: salts, pageAndCommit: 7 << 32 | 9)
                == 0xce56_c562_a0e0_e25e)
        #expect(cipher.journalMask(offset: 4612, nonce: (0x4444_4444_4444_4444, 0x4444_4444)) == 0xc7e5_90c7)
        let code = cipher.journalHeaderCode(offset: 512, fields: (0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f))
        #expect(hexadecimal(withUnsafeBytes(of: code.bigEndian) { Array($0) }) == "61b2fdd5d077a78f")
    }

    @Test("The vectors stand in the documentation")
    func documented() throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/EncryptedSQLite/Documentation.docc/Format.md")
        let text = try String(contentsOf: source, encoding: .utf8)
        for vector in [
            "a7b496859a9e163e575bb3311b9d7ff09c3a2212f6c0b7cc07b342fc015861e9",
            "acb217b02897fc16cc1dfb071b11b63f7450fd3979918cd3a9640c308115333f",
            "8d51bb9a424b17f681fcfd7f80928dbc6d6128bbb5efe49e143de3839911cda9",
            "3d4f6c0a7d0d17469675c46263a585a84814aaf61b4b60e8efed5bd93d9d8a94",
            "8576ff7154d0fa12", "ce56c562a0e0e25e", "c7e590c7", "61b2fdd5d077a78f",
        ] {
            #expect(text.contains(vector))
        }
    }

    @Test("Nonces do not repeat, within a batch or across batches")
    func nonces() {
        var source = NonceSource()
        var seen: Set<[UInt8]> = []
        for _ in 0..<1000 {
            var nonce = [UInt8](repeating: 0, count: 12)
            nonce.withUnsafeMutableBytes { bytes in
                if let address = bytes.baseAddress { source.next(into: address) }
            }
            seen.insert(nonce)
        }
        #expect(seen.count == 1000)
    }
}
