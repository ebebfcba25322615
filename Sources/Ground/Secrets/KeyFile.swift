import SafeFiles

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file with a key or a passphrase. The use of the file determines which of the two it contains (`rules.md`
/// 32).
///
/// A file created by Outpost (``content(for:)``, `outpost keys new`) has two lines: a header and the key.
///
/// ```
/// outpost key 1
/// 3f0a…  (64 hexadecimal digits)
/// ```
///
/// | content | to seal new data | to open data sealed with a key | to open data sealed with a passphrase |
/// | --- | --- | --- | --- |
/// | header and 64 digits | the key | the key | refused |
/// | exactly 32 bytes | a passphrase | the key | a passphrase |
/// | 64 digits | a passphrase | the key | a passphrase |
/// | other text | a passphrase | refused | a passphrase |
/// | other bytes | refused | refused | refused |
///
/// The passphrase is the text without one final line end, because editors and `echo` add a line end that nobody
/// types at a prompt. The authenticated envelope of the sealed data determines which of the last two columns
/// applies. Key files without a header therefore still open older data, and a text of 31 characters and a line
/// end is never the key of new data.
///
/// ```swift
/// let file = try KeyFile(path: path)
/// let protection = StoreProtection.encrypted(.file(file))
/// ```
public struct KeyFile: Sendable {
    /// The maximum size of a key file, in bytes.
    public static let maximumByteCount = 65_536
    /// The first line of a key file created by Outpost, without its line end.
    public static let header = "outpost key 1"
    /// The common prefix of all versions of the header.
    private static let headerStart = Array("outpost key ".utf8)

    /// The path, for error messages.
    public let path: String
    private let content: Secret<[UInt8]>
    /// The key of a file with a header.
    private let markedKey: EncryptionKey?

    /// Reads a key file.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which may contain links. The file may be a pipe, so it is read to its
    ///     end without measuring it first.
    ///   - allowsExposed: Whether to accept a file that other users can read or replace.
    /// - Throws: ``SecretError/exposed(path:problem:)``, ``SecretError/keyFileUnreadable(path:code:)``,
    ///   ``SecretError/keyFileTooLarge(path:limit:)``, and the errors of ``init(content:path:)``.
    public init(path: String, allowsExposed: Bool = false) throws(SecretError) {
        var bytes = try SecretFile.read(path, limit: Self.maximumByteCount, allowsExposed: allowsExposed)
        defer { wipe(&bytes) }
        try self.init(content: bytes, path: path)
    }

    /// Creates a key file from its bytes.
    ///
    /// - Parameters:
    ///   - content: All bytes of the file.
    ///   - path: The path of the file, for error messages.
    /// - Throws: ``SecretError/keyFileMalformed(path:expected:)`` if no key follows the header,
    ///   ``SecretError/keyFileNotText(path:)`` or ``SecretError/emptyPassphrase``.
    public init(content: [UInt8], path: String) throws(SecretError) {
        self.path = path
        self.content = Secret(content)
        markedKey = content.starts(with: Self.headerStart) ? try Self.key(behindHeaderOf: content, path) : nil
        guard markedKey == nil, content.count != EncryptionKey.byteCount else { return }
        guard let text = String(validating: Self.withoutLineEnd(content), as: UTF8.self) else {
            throw SecretError.keyFileNotText(path: path)
        }
        guard !text.isEmpty else { throw SecretError.emptyPassphrase }
    }

    /// Returns the content of a key file with a header.
    ///
    /// - Parameter key: The key.
    /// - Returns: Two lines.
    public static func content(for key: EncryptionKey) -> Secret<[UInt8]> {
        Secret(Array("\(header)\n".utf8) + Array(key.hexadecimal.reveal().utf8) + [UInt8(ascii: "\n")])
    }

    /// Whether the file has a header and can therefore seal new data with its key.
    public var hasHeader: Bool { markedKey != nil }

    /// The key in the file if a key is expected; `nil` if the file can only be a passphrase.
    public var key: EncryptionKey? {
        if let markedKey { return markedKey }
        let bytes = content.reveal()
        if bytes.count == EncryptionKey.byteCount { return try? EncryptionKey(bytes: bytes) }
        return text.flatMap { try? EncryptionKey(hexadecimal: $0) }
    }

    /// The passphrase in the file if a passphrase is expected; `nil` for a file with a header and for a file
    /// that is not text.
    public var passphrase: Secret<String>? { markedKey == nil ? text.map { Secret($0) } : nil }

    private var text: String? {
        String(validating: Self.withoutLineEnd(content.reveal()), as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func key(behindHeaderOf content: [UInt8], _ path: String) throws(SecretError) -> EncryptionKey {
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0
        }
        guard lines[0].elementsEqual(header.utf8) else {
            throw .keyFileMalformed(path: path, expected: "'\(header)' in line 1")
        }
        guard lines.count == 2 || lines.count == 3 && lines[2].isEmpty,
            let text = String(validating: lines[1], as: UTF8.self), let key = try? EncryptionKey(hexadecimal: text)
        else { throw .keyFileMalformed(path: path, expected: "64 hexadecimal digits in line 2, and no other lines") }
        return key
    }

    private static func withoutLineEnd(_ content: [UInt8]) -> ArraySlice<UInt8> {
        var line = content[...]
        if line.last == UInt8(ascii: "\n") {
            line = line.dropLast()
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        }
        return line
    }
}

extension KeyFile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `‹redacted›`.
    public var description: String { redactedText }

    /// Always `‹redacted›`.
    public var debugDescription: String { redactedText }

    /// A mirror that contains only `‹redacted›`.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [redactedText], displayStyle: .struct) }
}
