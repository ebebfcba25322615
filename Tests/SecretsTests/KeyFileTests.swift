import Foundation
import Secrets
import Testing

@Suite("Rule 32: what a key file holds")
struct KeyFileTests {
    @Test("32 bytes are the key, even when they are text")
    func rawKey() throws {
        let content = Array("a passphrase of just 32 letters!".utf8)
        guard case .key(let key) = try KeyFile.interpret(content, path: "k") else {
            Issue.record("not a key")
            return
        }
        #expect(try key == EncryptionKey(bytes: content))
    }

    @Test("64 hexadecimal digits are the key, with or without a line end", arguments: ["", "\n", "\r\n"])
    func hexadecimalKey(lineEnd: String) throws {
        let digits = String(repeating: "aB", count: 32)
        guard case .key(let key) = try KeyFile.interpret(Array((digits + lineEnd).utf8), path: "k") else {
            Issue.record("not a key")
            return
        }
        #expect(key.hexadecimal.reveal() == digits.lowercased())
    }

    @Test(
        "Anything else is a passphrase without its last line end",
        arguments: [
            ("pass", "pass"), ("pass\n", "pass"), ("pass\r\n", "pass"), ("two\nlines\n", "two\nlines"),
            (String(repeating: "aB", count: 31), String(repeating: "aB", count: 31)),
            (String(repeating: "aB", count: 32) + "\n\n", String(repeating: "aB", count: 32) + "\n"),
        ])
    func passphrase(content: String, expected: String) throws {
        guard case .passphrase(let passphrase) = try KeyFile.interpret(Array(content.utf8), path: "k") else {
            Issue.record("not a passphrase")
            return
        }
        #expect(passphrase.reveal() == expected)
    }

    @Test("A damaged binary key is refused, not taken as a passphrase")
    func binary() {
        #expect(throws: SecretError.keyFileNotText(path: "k")) {
            try KeyFile.interpret([UInt8](repeating: 0xFF, count: 33), path: "k")
        }
    }

    @Test("An empty file is refused", arguments: ["", "\n"])
    func empty(content: String) {
        #expect(throws: SecretError.emptyPassphrase) { try KeyFile.interpret(Array(content.utf8), path: "k") }
    }

    @Test("A file is read, a missing one and one over the limit are refused with its path")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keyfile-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("key")
        try Data("hello\n".utf8).write(to: file)
        #expect(try KeySource(keyFile: file.path).kind == .passphrase)
        try Data(repeating: 0x61, count: KeyFile.maximumByteCount).write(to: file)
        #expect(try KeySource(keyFile: file.path).kind == .passphrase)
        try Data(repeating: 0x61, count: KeyFile.maximumByteCount + 1).write(to: file)
        #expect(throws: SecretError.keyFileTooLarge(path: file.path, limit: KeyFile.maximumByteCount)) {
            try KeySource(keyFile: file.path)
        }
        let missing = folder.appendingPathComponent("missing").path
        #expect(throws: SecretError.keyFileUnreadable(path: missing, code: 2)) { try KeySource(keyFile: missing) }
    }
}
