import Foundation
import Secrets
import Testing

@testable import DataVault

@Suite("The bytes of a vault")
struct VaultFileTests {
    private func sample() throws -> (file: VaultFile, deviceKey: Secret<[UInt8]>) {
        let deviceKey = Secret([UInt8](repeating: 5, count: 32))
        var content = VaultContent(passwordSetAt: 1)
        content.values["a"] = .init(type: .string, bytes: Array("one".utf8))
        content.values["b"] = .init(type: .binary, bytes: [1, 2, 3])
        content.policy = PasswordPolicy()
        let header = VaultFile.Header(
            identity: randomBytes(16), epoch: 7, credentials: .new, derivation: try VaultFixture.cheap())
        return (try VaultFile(header: header, content: content, credentials: .new, deviceKey: deviceKey), deviceKey)
    }

    @Test("Written content is read back")
    func roundTrip() throws {
        let (file, deviceKey) = try sample()
        let again = try VaultFile(bytes: file.bytes, path: "v")
        #expect(again.header == file.header)
        let dataKey = try #require(try again.dataKey(.new, deviceKey: deviceKey))
        let content = try again.content(with: dataKey, path: "v")
        #expect(content.values["a"]?.bytes == Array("one".utf8))
        #expect(content.values["b"]?.type == .binary)
        #expect(content.bytes.count == content.byteCount)
    }

    @Test("Every flipped bit is found")
    func flippedBits() throws {
        let (file, deviceKey) = try sample()
        let bytes = file.bytes
        for bit in 0..<(bytes.count * 8) {
            var altered = bytes
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
            // Higher scrypt costs would only make this test slower.
            if (33..<44).contains(bit / 8), (try? VaultFile(bytes: altered, path: "v")) != nil, bit / 8 != 33 {
                continue
            }
            do throws(DataVaultError) {
                let read = try VaultFile(bytes: altered, path: "v")
                if bit / 8 == 33, read.header.derivation.costExponent > 12 { continue }
                guard let dataKey = try read.dataKey(.new, deviceKey: deviceKey) else { continue }
                _ = try read.content(with: dataKey, path: "v")
                Issue.record("bit \(bit) was not missed")
            } catch {}
        }
    }

    @Test("Any bytes are refused with the wrong place, without a crash")
    func randomBytesAreRefused() throws {
        let (file, _) = try sample()
        var generator = SystemRandomNumberGenerator()
        for round in 0..<20_000 {
            var bytes = round % 2 == 0 ? randomBytes(Int.random(in: 0...400)) : file.bytes
            if round % 2 == 1 {
                for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count)] = .random(in: 0...255, using: &generator) }
                bytes.removeLast(Int.random(in: 0..<bytes.count))
            }
            _ = try? VaultFile(bytes: bytes, path: "v")
            _ = VaultContent(bytes: bytes)
            _ = TriesRecord(bytes: bytes)
        }
        let first = #expect(throws: DataVaultError.self) { try VaultFile(bytes: [1, 2, 3], path: "v") }
        #expect(first == .damaged(path: "v", offset: 0, expected: "OPVAULT"))
        var later = file.bytes
        later[7] = 2
        #expect(throws: DataVaultError.unsupportedFormat(path: "v", version: 2)) {
            try VaultFile(bytes: later, path: "v")
        }
        var dear = file.bytes
        dear[33] = 63
        #expect(
            throws: DataVaultError.damaged(path: "v", offset: 33, expected: "parameters of scrypt within their ranges")
        ) {
            try VaultFile(bytes: dear, path: "v")
        }
    }

    @Test("A record of attempts is read back, and other bytes are refused")
    func record() {
        var record = TriesRecord()
        record.failures = 3
        record.limit = 20
        record.epoch = 9
        record.latestTime = 1.5e9
        record.isDestroyed = true
        #expect(TriesRecord(bytes: record.bytes) == record)
        #expect(TriesRecord(bytes: []) == nil)
        #expect(TriesRecord(bytes: record.bytes + [0]) == nil)
    }
}
