import Crypto
import Foundation
import Secrets
import Testing

@testable import EncryptedSQLite

/// The vectors of `Format.md`, computed by another implementation (Python's `cryptography`).
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

    @Test(
        "The key block of known key, data key, identity, salt and nonce, in both versions",
        arguments: [
            (
                FormatVersion.one, "902fa6cd2ed1061514ed0112d206b516",
                "a7b496859a9e163e575bb3311b9d7ff09c3a2212f6c0b7cc07b342fc015861e9"
            ),
            (
                .two, "a6dbd4c50b8bc666db994357c13815ae",
                "928e97526826e0945bdf9b2341fdcc708de6d742e53630ce9c3690b83e1e85cf"
            ),
        ])
    func keyBlock(version: FormatVersion, tag: String, expected: String) throws {
        let key = try EncryptionKey(bytes: [UInt8](repeating: 0x11, count: 32))
        var block = KeyBlock(fileIdentity: identity, version: version)
        let envelope = try KeyEnvelope.seal(
            try dataKey(), with: .key(key), context: block.context(sequence: 1), derivation: .standard,
            deriver: .shared, salt: [UInt8](repeating: 0x33, count: 16), nonce: [UInt8](repeating: 0x44, count: 12))
        #expect(
            hexadecimal(envelope.bytes)
                == "4f504b4501000000000000000000000033333333333333333333333333333333444444444444444444444444"
                + "632ce8367b1601d0c690ae779a031e1fbf5da06f94d21c069741064d4f11d951" + tag)
        #expect(block.place(.init(sequence: 1, envelope: envelope)) == 0)
        #expect(digest(block.bytes) == expected)
        let read = try KeyBlock(bytes: block.bytes)
        #expect(read.version == version)
        #expect(try read.dataKey(with: .key(key)) == dataKey())
    }

    @Test(
        "A sealed page of each kind in the first version",
        arguments: [
            (PageKind.main, 8192, 0, "acb217b02897fc16cc1dfb071b11b63f7450fd3979918cd3a9640c308115333f"),
            (.log, 56, 0, "8d51bb9a424b17f681fcfd7f80928dbc6d6128bbb5efe49e143de3839911cda9"),
            (.journal, 516, 7, "3d4f6c0a7d0d17469675c46263a585a84814aaf61b4b60e8efed5bd93d9d8a94"),
        ])
    func sealedPageOfFirstVersion(kind: PageKind, offset: Int64, number: UInt32, expected: String) throws {
        let place = PageCipher.Place(kind: kind, offset: offset, version: .one, page: number)
        let cipher = try cipher()
        let sealed = cipher.sealed(page, at: place, nonce: [UInt8](repeating: 0x44, count: 12))
        #expect(digest(sealed) == expected)
        #expect(cipher.opened(sealed, at: place) == page)
    }

    /// Returns the place of the vectors in a log or a journal.
    private func place(_ kind: PageKind, _ offset: Int64) -> PageCipher.Place {
        kind == .main
            ? .main(offset)
            : PageCipher.Place(
                kind: kind, offset: offset, page: 7, context: 0x0102_0304_0506_0708, commit: kind == .log ? 9 : 0)
    }

    /// Returns the nonce source of a database whose random bytes are all 44.
    private func nonces(keepsSchedule: Bool = true, epoch: LockEpoch = LockEpoch()) throws -> NonceSource {
        let dataKey = try dataKey()
        func derive(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: dataKey.symmetricKey, salt: identity, info: Array("outpost sqlite 2 \(purpose)".utf8),
                outputByteCount: 32)
        }
        return NonceSource(
            hashKey: derive("nonce hash"), key: derive("nonce"), epoch: epoch, keepsSchedule: keepsSchedule,
            fetch: { for index in $0.indices { $0[index] = 0x44 } })
    }

    /// Returns the next nonce for a page.
    private func nonce(
        _ source: NonceSource, for content: [UInt8], at place: PageCipher.Place
    ) throws -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: 12)
        let cipher = try cipher()
        let isDone = nonce.withUnsafeMutableBytes { target in
            content.withUnsafeBytes { content in
                cipher.withAssociatedData(of: place) { data in
                    guard let content = content.baseAddress, let target = target.baseAddress else { return false }
                    return source.write(for: content, authenticating: data, to: target)
                }
            }
        }
        #expect(isDone)
        return nonce
    }

    @Test(
        "A sealed page of each kind, with its nonce",
        arguments: [
            (
                PageKind.main, 8192, "39c1599e34491e7eb2be5853",
                "9f6231672c30d7f65d0899424b6eeecd0382f878c42416cbfba6300abdd8a2e3"
            ),
            (
                .log, 56, "7a71da0e1d9810ffa4ed9195",
                "2e50a10cb40e6eb49b525296046d5c09cdb22c60cbe038dff896d8f0fcbbc351"
            ),
            (
                .journal, 516, "d510b55b716e6bfdc1111f6f",
                "68253f6f2069e032f51eef6384bec1a2db2d584b9f4f7c7947428f95d5eeb857"
            ),
        ])
    func sealedPage(kind: PageKind, offset: Int64, expectedNonce: String, expected: String) throws {
        let place = place(kind, offset)
        let cipher = try cipher()
        for keepsSchedule in [true, false] {
            let nonce = try nonce(nonces(keepsSchedule: keepsSchedule), for: page, at: place)
            #expect(hexadecimal(nonce) == expectedNonce)
            let sealed = cipher.sealed(page, at: place, nonce: nonce)
            #expect(sealed.count == 4096)
            #expect(digest(sealed) == expected)
            #expect(cipher.opened(sealed, at: place) == page)
            // The page does not open at any other place.
            var others = PageKind.allCases.filter { $0 != kind }.map { self.place($0, offset) }
            others.append(self.place(kind, offset + 1))
            if kind != .main {
                for change: (inout PageCipher.Place) -> Void in [
                    { $0.page = 8 }, { $0.context ^= 1 }, { $0.commit ^= 1 }, { $0.version = .one },
                ] {
                    var other = place
                    change(&other)
                    others.append(other)
                }
            }
            for other in others { #expect(cipher.opened(sealed, at: other) == nil) }
        }
    }

    @Test("Pages have the same nonce again only after a machine snapshot was restored")
    func restoredMemory() throws {
        let place = place(.log, 56)
        let first = try nonce(nonces(), for: page, at: place)
        #expect(try nonce(nonces(), for: page, at: place) == first)
        var other = page
        other[FileFormat.contentSize - 1] = 0
        #expect(try hexadecimal(nonce(nonces(), for: other, at: place)).hasPrefix("83e3dd8e"))
        var elsewhere = place
        elsewhere.page = 8
        #expect(try hexadecimal(nonce(nonces(), for: page, at: elsewhere)).hasPrefix("ad2b6e1f"))
    }

    @Test("Random bytes are drawn again when locks change, and every page has its own nonce")
    func freshRandomBytes() throws {
        let epoch = LockEpoch()
        nonisolated(unsafe) var fetches = 0
        let key = SymmetricKey(size: .bits256)
        let source = NonceSource(hashKey: key, key: key, epoch: epoch) {
            fetches += 1
            for index in $0.indices { $0[index] = UInt8(fetches) }
        }
        var seen: Set<[UInt8]> = []
        for round in 1...3 {
            for _ in 0..<5 { seen.insert(try nonce(source, for: page, at: place(.log, 56))) }
            #expect(fetches == round)
            for _ in 0..<NonceSource.maximumAge { epoch.advance() }
        }
        #expect(seen.count == 15)
    }

    @Test("A sealer with a cached key schedule makes the same bytes as one without")
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

    @Test("Both makers of keyed codes make the same bytes")
    func keyedCodes() {
        let key = SymmetricKey(size: .bits256)
        for count in [0, 1, 36, 44, 63, 64, 200] {
            let input = (0..<count).map { UInt8($0) }
            let codes = [true, false].map { keepsState in
                input.withUnsafeBytes { KeyedCode(key: key, keepsState: keepsState).code(of: $0) { Array($0) } }
            }
            #expect(codes[0] == codes[1])
            #expect(codes[0] == Array(HMAC<SHA256>.authenticationCode(for: input, using: key)))
        }
    }

    @Test("The masks of the three checksums in the first version")
    func masksOfFirstVersion() throws {
        let salts: UInt64 = 0x0102_0304_0506_0708
        let masks = try cipher().masks(.one)
        let nonce = [UInt8](repeating: 0x44, count: 12).withUnsafeBytes {
            $0.baseAddress.map { Nonce(of: $0) } ?? Nonce()
        }
        #expect(masks.logHeader(salts: salts) == 0x8576_ff71_54d0_fa12)
        #expect(masks.frame(at: 32, fields: 7 << 32 | 9, salts: salts, nonce: nonce) == 0xce56_c562_a0e0_e25e)
        #expect(masks.journalRecord(at: 4612, segment: salts, page: 7, nonce: nonce) == 0xc7e5_90c7)
        let fields: (UInt64, UInt64) = (0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f)
        #expect(masks.journalHeader(at: 512, fields: fields) == 0x61b2_fdd5_d077_a78f)
    }

    @Test("The masks of the three checksums, which the nonce of the page changes")
    func masks() throws {
        let salts: UInt64 = 0x0102_0304_0506_0708
        let masks = try cipher().masks(.two)
        var nonce = Nonce()
        (nonce.first, nonce.last) = (0x7a71_da0e_1d98_10ff, 0xa4ed_9195)
        #expect(masks.logHeader(salts: salts) == 0xa117_08d8_728b_1b40)
        #expect(masks.frame(at: 32, fields: 7 << 32 | 9, salts: salts, nonce: nonce) == 0xc9c8_85ef_71d1_5737)
        #expect(masks.frame(at: 32, fields: 7 << 32 | 9, salts: salts, nonce: Nonce()) != 0xc9c8_85ef_71d1_5737)
        (nonce.first, nonce.last) = (0xd510_b55b_716e_6bfd, 0xc111_1f6f)
        #expect(masks.journalRecord(at: 4612, segment: salts, page: 7, nonce: nonce) == 0x84dd_8b4e)
        let fields: (UInt64, UInt64) = (0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f)
        #expect(masks.journalHeader(at: 512, fields: fields) == 0x1c0c_bdff_6dd6_f3f5)
    }

    @Test("The documentation contains the test vectors")
    func documented() throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/Keys/EncryptedSQLite/Documentation.docc/Format.md")
        let text = try String(contentsOf: source, encoding: .utf8)
        for vector in [
            "a7b496859a9e163e575bb3311b9d7ff09c3a2212f6c0b7cc07b342fc015861e9",
            "acb217b02897fc16cc1dfb071b11b63f7450fd3979918cd3a9640c308115333f",
            "8d51bb9a424b17f681fcfd7f80928dbc6d6128bbb5efe49e143de3839911cda9",
            "3d4f6c0a7d0d17469675c46263a585a84814aaf61b4b60e8efed5bd93d9d8a94",
            "8576ff7154d0fa12", "ce56c562a0e0e25e", "c7e590c7", "61b2fdd5d077a78f",
            "928e97526826e0945bdf9b2341fdcc708de6d742e53630ce9c3690b83e1e85cf", "a6dbd4c50b8bc666db994357c13815ae",
            "9f6231672c30d7f65d0899424b6eeecd0382f878c42416cbfba6300abdd8a2e3", "39c1599e34491e7eb2be5853",
            "2e50a10cb40e6eb49b525296046d5c09cdb22c60cbe038dff896d8f0fcbbc351", "7a71da0e1d9810ffa4ed9195",
            "68253f6f2069e032f51eef6384bec1a2db2d584b9f4f7c7947428f95d5eeb857", "d510b55b716e6bfdc1111f6f",
            "1afb0c23eba01aeee9dfac41e0cdb880", "a11708d8728b1b40", "c9c885ef71d15737", "84dd8b4e", "1c0cbdff6dd6f3f5",
        ] {
            #expect(text.contains(vector))
        }
    }
}
