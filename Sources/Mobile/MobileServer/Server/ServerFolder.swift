import ErrorCodes
import Foundation
import SafeFiles
import Secrets
import ServerState

/// The data folder of a server: configuration, keys and the files of the state.
///
/// | file | content |
/// | --- | --- |
/// | `outpost-server.yaml` | the configuration |
/// | `master.key` | the master key, unless the configuration names another place |
/// | `keys` | the keys of the server, wrapped by the master key |
/// | `state.db`, `feeds.db`, `intake.db` | the state, encrypted |
/// | `nonce` | a number that is also in both databases |
/// | `client-authorities.pem` | the authorities of client certificates, written at each start with TLS |
///
/// ```swift
/// let folder = ServerFolder(path: path)
/// try folder.create()
/// let state = try await folder.open(configuration)
/// ```
public struct ServerFolder: Sendable {
    /// The path of the folder.
    public let path: String

    /// The name of the configuration file.
    public static let configurationName = "outpost-server.yaml"
    /// The name of the file with the master key, if the configuration names no other place.
    public static let masterKeyName = "master.key"

    /// Names a folder, which need not exist.
    public init(path: String) { self.path = path }

    /// The default folder: `$XDG_DATA_HOME/outpost-server`, or on macOS
    /// `~/Library/Application Support/outpost-server`; `nil` if the user has no home folder.
    public static func standardPath(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        #if canImport(Darwin)
            let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
            return folders.first.map { $0.path + "/outpost-server" }
        #else
            if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/outpost-server" }
            guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
            return home + "/.local/share/outpost-server"
        #endif
    }

    /// The path of a file in the folder.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Whether the folder is missing or has no files.
    public var isEmpty: Bool {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).isEmpty
    }

    /// Whether the folder has the keys of a server.
    public var isInitialised: Bool { FileManager.default.fileExists(atPath: file(ServerKeyFile.name)) }

    // MARK: Creating

    /// Creates the folder with mode 0700, the master key and the wrapped keys.
    ///
    /// - Parameter master: The place of the master key. A file that does not exist is made.
    /// - Throws: ``ServerFolderError``, ``SecretResolverError``.
    public func create(master: SecretReference = .file(masterKeyName)) async throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ServerFolderError.unusable(path: path, reason: error.localizedDescription)
        }
        if case .file(let name) = master {
            let whole = name.hasPrefix("/") ? name : file(name)
            if !FileManager.default.fileExists(atPath: whole) { try Self.write(.generate(), to: whole) }
        }
        guard !isInitialised else { return }
        try ServerKeyFile(.generate(), master: await masterKey(master)).write(folder: path)
    }

    /// Writes a key to a new file that only its owner can read.
    ///
    /// - Throws: ``ServerFolderError/unusable(path:reason:)`` if the file exists.
    public static func write(_ key: EncryptionKey, to path: String) throws(ServerFolderError) {
        do {
            let (folder, name) = CheckedFolder.place(of: path)
            try CheckedFolder(folder).create(name, KeyFile.content(for: key).reveal())
        } catch {
            throw .unusable(path: path, reason: "\(error)")
        }
    }

    // MARK: Opening

    /// Returns the master key: a key file, or a passphrase or 64 hexadecimal digits in a variable.
    ///
    /// - Throws: `SecretError`, ``SecretResolverError``.
    public func masterKey(_ reference: SecretReference) async throws -> KeySource {
        if case .file(let name) = reference {
            return try KeySource(keyFile: name.hasPrefix("/") ? name : file(name))
        }
        let text = try await SecretResolver(state: nil, folder: path).value(of: reference)
        if let key = try? EncryptionKey(hexadecimal: text.reveal()) { return .key(key) }
        return .passphrase(text)
    }

    /// Returns the keys of the server.
    ///
    /// - Throws: ``ServerKeyError``, `SecretError`, ``SecretResolverError``.
    public func keys(_ configuration: ServerConfiguration) async throws -> ServerKeys {
        let file = try ServerKeyFile(folder: path)
        return try file.keys(master: await masterKey(configuration.masterKey))
    }

    /// Opens the state with its keys. The tables may be older; see `ServerState.migrate(dryRun:)`.
    ///
    /// - Throws: ``ServerKeyError``, `ServerStateError`, `SecretError`, ``SecretResolverError``.
    public func open(
        _ configuration: ServerConfiguration, build: String = ""
    ) async throws -> (state: SQLiteServerState, keys: ServerKeys) {
        let keys = try await keys(configuration)
        return (try SQLiteServerState.open(folder: path, keys: keys, build: build), keys)
    }

    /// Wraps all keys with a new master key. Stored values stay as they are.
    ///
    /// - Parameters:
    ///   - old: The present master key.
    ///   - new: The new one.
    /// - Throws: ``ServerKeyError``.
    public func rekey(from old: KeySource, to new: KeySource) throws(ServerKeyError) {
        let keys = try ServerKeyFile(folder: path).keys(master: old)
        try ServerKeyFile(keys, master: new).write(folder: path)
        CrashPoint.pass("rekey-written")
    }
}

/// An error of a data folder.
public enum ServerFolderError: Error, Hashable, Sendable {
    /// The folder or a file in it cannot be made, read or written.
    case unusable(path: String, reason: String)
    /// The folder has files already.
    case notEmpty(path: String)
    /// The file is no backup, or a part of it is missing or was changed.
    case badBackup(path: String, reason: String)
}

extension ServerFolderError: CustomStringConvertible {
    /// A description of the problem.
    public var description: String {
        switch self {
        case .unusable(let path, let reason): "\(path) cannot be used: \(reason)"
        case .notEmpty(let path): "The folder \(path) is not empty."
        case .badBackup(let path, let reason): "\(path) cannot be restored: \(reason)"
        }
    }
}

extension ServerFolderError: CodedError {
    /// An error code of the form `server.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unusable: "folder"
            case .notEmpty: "folder-not-empty"
            case .badBackup: "bad-backup"
            }
        return ErrorCode(rawValue: "server.\(name)")
    }
    /// The kind of remedy.
    public var failureKind: FailureKind {
        switch self {
        case .unusable: .device
        case .notEmpty: .request
        case .badBackup: .damaged
        }
    }
}
