#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The rule by which a file is a key or a passphrase (`rules.md` 32).
///
/// | content | meaning |
/// |---|---|
/// | exactly 32 bytes | the key |
/// | 64 hexadecimal digits, then at most one line end | the key |
/// | anything else that is UTF-8 | a passphrase, without one line end at its end |
///
/// The line end is dropped because editors and `echo` add one that nobody types at a prompt.
public enum KeyFile {
    /// The longest key file, in bytes.
    public static let maximumByteCount = 65_536

    /// Reads a key file.
    ///
    /// - Parameter path: The file; it may be a pipe, so it is read to its end and not measured first.
    /// - Returns: The key or the passphrase that it holds.
    /// - Throws: ``SecretError/keyFileUnreadable(path:code:)``, ``SecretError/keyFileTooLarge(path:limit:)``,
    ///   ``SecretError/keyFileNotText(path:)`` or ``SecretError/emptyPassphrase``.
    public static func read(path: String) throws(SecretError) -> KeySource {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SecretError.keyFileUnreadable(path: path, code: errno) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = chunk.withUnsafeMutableBytes { buffer in
                #if canImport(Darwin)
                    Darwin.read(descriptor, buffer.baseAddress, buffer.count)
                #elseif canImport(Musl)
                    Musl.read(descriptor, buffer.baseAddress, buffer.count)
                #else
                    Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                #endif
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw SecretError.keyFileUnreadable(path: path, code: errno)
            }
            if count == 0 { break }
            content.append(contentsOf: chunk[..<count])
            guard content.count <= maximumByteCount else {
                throw SecretError.keyFileTooLarge(path: path, limit: maximumByteCount)
            }
        }
        return try interpret(content, path: path)
    }

    /// Decides what the bytes of a key file mean.
    ///
    /// - Parameters:
    ///   - content: All bytes of the file.
    ///   - path: Where they came from, for the error.
    /// - Returns: The key or the passphrase.
    /// - Throws: ``SecretError/keyFileNotText(path:)`` or ``SecretError/emptyPassphrase``.
    public static func interpret(_ content: [UInt8], path: String) throws(SecretError) -> KeySource {
        if content.count == EncryptionKey.byteCount {
            return .key(try EncryptionKey(bytes: content))
        }
        let line = withoutLineEnd(content)
        guard let text = String(validating: line, as: UTF8.self) else {
            throw SecretError.keyFileNotText(path: path)
        }
        if let key = try? EncryptionKey(hexadecimal: text) { return .key(key) }
        guard !text.isEmpty else { throw SecretError.emptyPassphrase }
        return .passphrase(Secret(text))
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
