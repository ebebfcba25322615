import Foundation
import SafeFiles
import Secrets
import Supportability
import ToolLanguage

/// A file that somebody has named in an argument.
enum NamedFile {
    /// Reads it.
    ///
    /// - Parameter advice: the advice for a file that cannot be read.
    /// - Throws: ``Failure`` with the reason of the system; the command was used wrongly.
    static func contents(of path: String, advice: TerminalText? = nil) throws -> [UInt8] {
        func failure(_ code: Int32) -> Failure {
            Failure(
                message: "\(path) cannot be read: \(Outpost.systemReason(code)).", advice: advice, status: .misused
            )
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw failure(EISDIR) }
        do {
            return [UInt8](try file.readToEnd() ?? Data())
        } catch {
            throw Failure(
                message: "\(path) cannot be read: \(error.systemReason).", advice: advice, status: .misused)
        }
    }

    /// Writes it, whole or not at all; a pipe or a device takes the bytes as they come.
    static func write(_ bytes: [UInt8], to path: String) throws {
        do {
            switch FileTarget(path) {
            case .file(let path):
                let (folder, name) = CheckedFolder.place(of: path)
                try CheckedFolder(folder).replace(name, with: bytes, mode: 0o666)
            case .stream(let path):
                try FileHandle(forWritingTo: URL(fileURLWithPath: path)).write(contentsOf: Data(bytes))
            }
        } catch let error as SafeFileError {
            throw Failure(message: "\(path) cannot be written: \(error.explanation).")
        } catch {
            throw Failure(message: "\(path) cannot be written: \(error.systemReason).")
        }
    }

    /// Reads a file that decides on access, and refuses one that others can change.
    static func guarded(_ path: String, limit: Int) throws -> [UInt8] {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            guard status.st_mode & 0o022 == 0 || SecretOptions.allowsExposed else {
                throw Failure(
                    message: "Other users of this machine can change \(path).",
                    advice: "Take that right away: chmod go-w \(path.shellQuoted)", status: .misused)
            }
            guard status.st_size <= off_t(limit) else {
                throw Failure(message: "\(path) is longer than \(limit) bytes.", status: .misused)
            }
        }
        return try contents(of: path)
    }

    /// The most bytes of a file with passwords, tokens or users.
    static let secretLimit = 1 << 20

    /// Reads a file with a secret, and refuses one that others can read or replace.
    ///
    /// - Throws: ``Failure``; `SecretError.exposed(path:problem:)`, unless `--allow-readable-secrets` is given.
    static func secret(of path: String) throws -> [UInt8] {
        do throws(SecretError) {
            return try SecretFile.read(path, limit: secretLimit, allowsExposed: SecretOptions.allowsExposed)
        } catch {
            switch error {
            case .keyFileUnreadable(_, let code):
                throw Failure(message: "\(path) cannot be read: \(Outpost.systemReason(code)).", status: .misused)
            case .keyFileTooLarge(_, let limit):
                throw Failure(message: "\(path) is longer than \(limit) bytes.", status: .misused)
            default: throw error
            }
        }
    }

    /// Refuses a file with a secret that others can read or replace; whether it can be read at all is for its reader to
    /// say.
    static func requireSafe(_ path: String) throws {
        do throws(SecretError) {
            try SecretFile.check(path, allowsExposed: SecretOptions.allowsExposed)
        } catch {
            if case .exposed = error { throw error }
        }
    }

    /// Reads the password in it, without the line end.
    ///
    /// - Throws: ``Failure`` also where it is no text, or empty: an empty password lets everybody in.
    static func password(in path: String) throws -> String {
        guard let text = String(validating: try secret(of: path), as: UTF8.self) else {
            throw Failure(message: "The password file \(path) cannot be read as text.", status: .misused)
        }
        let password = text.trimmingCharacters(in: .newlines)
        guard !password.isEmpty else {
            throw Failure(message: "The password file \(path) is empty.", status: .misused)
        }
        return password
    }
}
