import Foundation
import Secrets
import Testing

private let cheap = try? ScryptParameters(costExponent: 10, blockSize: 8, parallelization: 1)

@Suite("Rule 32: the content of a key file")
struct KeyFileTests {
    private let dataKey = EncryptionKey.generate()
    private let context = Array("context".utf8)

    private func file(_ text: String) throws -> KeyFile { try KeyFile(content: Array(text.utf8), path: "k") }

    /// The kind of an envelope that is sealed with a file: whether a key is derived.
    private func isDerived(_ file: KeyFile) throws -> Bool {
        try KeyEnvelope.seal(
            dataKey, with: .file(file), context: context, derivation: #require(cheap), deriver: PassphraseDeriver()
        ).derivation != nil
    }

    @Test("A file made by Outpost has a header and is a key for new envelopes", arguments: ["\n", "\r\n", ""])
    func header(lineEnd: String) throws {
        let key = EncryptionKey.generate()
        let content = String(decoding: KeyFile.content(for: key).reveal(), as: UTF8.self)
        #expect(content == "outpost key 1\n\(key.hexadecimal.reveal())\n")
        let lines = content.split(separator: "\n")
        let file = try file(lines.joined(separator: lineEnd.isEmpty ? "\n" : lineEnd) + lineEnd)
        #expect(file.hasHeader && file.key == key && file.passphrase == nil)
        let envelope = try KeyEnvelope.seal(dataKey, with: .file(file), context: context)
        #expect(envelope.derivation == nil)
        #expect(try envelope.open(with: .file(file), context: context) == dataKey)
        #expect(try envelope.open(with: .key(key), context: context) == dataKey)
    }

    @Test(
        "A file with the header and no key is damaged and never a passphrase",
        arguments: [
            "outpost key 1", "outpost key 1\n", "outpost key 1\nabc\n", "outpost key 2\n",
            "outpost key 1\n" + String(repeating: "0", count: 63),
            "outpost key 1 \n" + String(repeating: "0", count: 64),
            "outpost key 1\n" + String(repeating: "0", count: 64) + "\n\n",
            "outpost key 1\n" + String(repeating: "0", count: 64) + "\nmore",
        ])
    func damagedHeader(content: String) throws {
        #expect {
            try file(content)
        } throws: { error in
            if case SecretError.keyFileMalformed("k", _) = error { true } else { false }
        }
    }

    @Test(
        "Without the header, any content is a passphrase for new envelopes",
        arguments: [
            String(repeating: "aB", count: 32), String(repeating: "aB", count: 32) + "\n",
            "a passphrase of just 32 letters!", "correct horse battery staple 12\n",
            "correct horse battery staples 12\n",
        ])
    func passphrases(content: String) throws {
        let file = try file(content)
        #expect(try isDerived(file))
        let line = content.hasSuffix("\n") ? String(content.dropLast()) : content
        #expect(file.passphrase?.reveal() == line)
    }

    @Test(
        "A file without the header still opens envelopes that were sealed with its bytes as a key",
        arguments: ["a passphrase of just 32 letters!", "correct horse battery staple 12\n"])
    func rawKey(content: String) throws {
        // Until there was a header, a file of exactly 32 bytes was a key.
        let sealed = try KeyEnvelope.seal(
            dataKey, with: .key(EncryptionKey(bytes: Array(content.utf8))), context: context)
        #expect(try sealed.open(with: .file(file(content)), context: context) == dataKey)
    }

    @Test("64 hexadecimal digits without the header still open their older envelopes", arguments: ["", "\n", "\r\n"])
    func hexadecimalKey(lineEnd: String) throws {
        let digits = String(repeating: "aB", count: 32)
        let sealed = try KeyEnvelope.seal(dataKey, with: .key(EncryptionKey(hexadecimal: digits)), context: context)
        #expect(try sealed.open(with: .file(file(digits + lineEnd)), context: context) == dataKey)
    }

    @Test(
        "A file of 32 characters and a line end opens envelopes of its passphrase",
        arguments: ["correct horse battery staples 12\n", "aa long passphrase of many letters\r\n", "12345678\n"])
    func passphraseFile(content: String) throws {
        let deriver = PassphraseDeriver()
        let text = content.trimmingCharacters(in: .newlines)
        let sealed = try KeyEnvelope.seal(
            dataKey, with: .passphrase(Secret(text)), context: context, derivation: #require(cheap), deriver: deriver)
        #expect(try sealed.open(with: .file(file(content)), context: context, deriver: deriver) == dataKey)
        #expect(deriver.derivationCount == 1)
    }

    @Test("A file that does not fit the envelope costs no derivation")
    func otherKind() throws {
        let deriver = PassphraseDeriver()
        let derived = try KeyEnvelope.seal(
            dataKey, with: .passphrase(Secret("correct horse")), context: context, derivation: #require(cheap),
            deriver: PassphraseDeriver())
        let made = try KeyFile(content: KeyFile.content(for: .generate()).reveal(), path: "k")
        #expect(throws: SecretError.wrongKindOfKey(expected: .passphrase)) {
            try derived.open(with: .file(made), context: context, deriver: deriver)
        }
        let plain = try KeyEnvelope.seal(dataKey, with: .key(.generate()), context: context)
        #expect(throws: SecretError.wrongKindOfKey(expected: .key)) {
            try plain.open(with: .file(file("correct horse")), context: context, deriver: deriver)
        }
        #expect(deriver.derivationCount == 0)
    }

    @Test("Binary bytes are no key for new envelopes, and 32 of them still open older ones")
    func binary() throws {
        let bytes = [UInt8](repeating: 0xFF, count: 32)
        let file = try KeyFile(content: bytes, path: "k")
        #expect(throws: SecretError.keyFileWithoutHeader(path: "k")) { try isDerived(file) }
        let sealed = try KeyEnvelope.seal(dataKey, with: .key(EncryptionKey(bytes: bytes)), context: context)
        #expect(try sealed.open(with: .file(file), context: context) == dataKey)
        #expect(throws: SecretError.keyFileNotText(path: "k")) {
            try KeyFile(content: [UInt8](repeating: 0xFF, count: 33), path: "k")
        }
    }

    @Test("An empty file is refused", arguments: ["", "\n"])
    func empty(content: String) {
        #expect(throws: SecretError.emptyPassphrase) { try file(content) }
    }

    @Test("Missing, large and exposed files are refused with their path")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keyfile-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("key").path
        func write(_ count: Int, mode: Int = 0o600) throws {
            try Data(repeating: 0x61, count: count).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        try write(KeyFile.maximumByteCount)
        #expect(try KeyFile(path: path).passphrase?.reveal().count == KeyFile.maximumByteCount)
        try write(KeyFile.maximumByteCount + 1)
        #expect(throws: SecretError.keyFileTooLarge(path: path, limit: KeyFile.maximumByteCount)) {
            try KeyFile(path: path)
        }
        try write(20, mode: 0o644)
        #expect(throws: SecretError.exposed(path: path, problem: .readable(mode: 0o644))) {
            try KeySource(keyFile: path)
        }
        _ = try KeySource(keyFile: path, allowsExposed: true)
        let missing = folder.appendingPathComponent("missing").path
        #expect(throws: SecretError.keyFileUnreadable(path: missing, code: 2)) { try KeySource(keyFile: missing) }
    }
}
