import SafeFiles

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Functions for files with secrets that a person names: keys, passwords, tokens, private keys for TLS.
///
/// Such a file may be a link, as those of Let's Encrypt and mounted secrets are, or a pipe. A regular file is
/// refused if another user than this one and the administrator can write it, can replace files in a folder above
/// it (or above a link to it), or can read it. On a file system that is mounted for reading alone, any
/// permissions are accepted. A file of the administrator may be readable for a group when another user reads it.
public enum SecretFile {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The maximum size of the file in bytes.
    ///   - allowsExposed: Whether to accept a file that other users can read or replace.
    /// - Returns: All bytes.
    /// - Throws: ``SecretError/exposed(path:problem:)``, ``SecretError/keyFileUnreadable(path:code:)``,
    ///   ``SecretError/keyFileTooLarge(path:limit:)``.
    public static func read(_ path: String, limit: Int, allowsExposed: Bool = false) throws(SecretError) -> [UInt8] {
        let file = try opened(path, allowsExposed)
        defer { close(file) }
        do throws(SafeFileError) {
            return try SafeFiles.read(file, path: path, limit: limit)
        } catch {
            if case .tooLong(let limit) = error.reason { throw .keyFileTooLarge(path: path, limit: limit) }
            throw .keyFileUnreadable(path: path, code: error.code)
        }
    }

    /// Checks the permissions of a file that another library reads.
    ///
    /// - Throws: ``SecretError/exposed(path:problem:)``, ``SecretError/keyFileUnreadable(path:code:)``.
    public static func check(_ path: String, allowsExposed: Bool = false) throws(SecretError) {
        close(try opened(path, allowsExposed))
    }

    private static func opened(_ path: String, _ allowsExposed: Bool) throws(SecretError) -> Int32 {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { throw .keyFileUnreadable(path: path, code: errno) }
        guard !allowsExposed, let problem = SecretFileCheck.problem(of: path, file) else { return file }
        close(file)
        throw .exposed(path: path, problem: SecretError.Exposure(problem))
    }
}

extension SecretError {
    /// The way in which other users can access a secret.
    public enum Exposure: Hashable, Sendable {
        /// Other users can read the file; `mode` is its permissions.
        case readable(mode: UInt32)
        /// Other users can write the file; `mode` is its permissions.
        case writable(mode: UInt32)
        /// The file, or a link to it, belongs to another user.
        case foreign(owner: UInt32)
        /// Other users can replace files in the folder of the file or of a link to it.
        case openFolder(path: String, mode: UInt32)
        /// The folder of the file or of a link to it belongs to another user.
        case foreignFolder(path: String, owner: UInt32)
        /// Nobody knows whether they can replace this file or folder: the system did not tell; `code` is its `errno`.
        case unchecked(path: String, code: Int32)

        init(_ problem: SecretFileCheck.Problem) {
            self =
                switch problem {
                case .readable(let mode): .readable(mode: mode)
                case .writable(let mode): .writable(mode: mode)
                case .foreign(let owner): .foreign(owner: owner)
                case .openFolder(let path, let mode): .openFolder(path: path, mode: mode)
                case .foreignFolder(let path, let owner): .foreignFolder(path: path, owner: owner)
                case .unchecked(let path, let code): .unchecked(path: path, code: code)
                }
        }
    }
}

extension SecretError.Exposure: CustomStringConvertible {
    /// A description of the problem, as the end of a sentence.
    public var description: String {
        switch self {
        case .readable(let mode): "other users can read it (mode \(String(mode, radix: 8)))"
        case .writable(let mode): "other users can write it (mode \(String(mode, radix: 8)))"
        case .foreign(let owner): "it belongs to another user (number \(owner))"
        case .openFolder(let path, let mode):
            "other users can replace files in \(path) (mode \(String(mode, radix: 8)))"
        case .foreignFolder(let path, let owner): "\(path) belongs to another user (number \(owner))"
        case .unchecked(let path, let code):
            "the permissions of \(path) cannot be looked up: \(String(cString: strerror(code)))"
        }
    }
}
