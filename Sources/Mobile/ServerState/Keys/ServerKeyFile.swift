import ErrorCodes
import Foundation
import SafeFiles
import Secrets

/// The file `keys` of a data folder: the keys of the server, each wrapped by the master key.
///
/// ```
/// outpost server keys 1
/// files T1BLRQE…
/// records T1BLRQE…
/// ```
///
/// The master key is in another place: a file, a variable or a mounted secret. A backup holds this file and never the
/// master key.
public struct ServerKeyFile: Sendable {
    /// The name of the file in the data folder.
    public static let name = "keys"
    private static let header = "outpost server keys 1"
    private static let sizeLimit = 65_536

    private let envelopes: [ServerKeyPurpose: KeyEnvelope]

    /// Wraps keys with a master key.
    ///
    /// - Throws: ``ServerKeyError/secret(_:)``.
    public init(_ keys: ServerKeys, master: KeySource) throws(ServerKeyError) {
        var envelopes: [ServerKeyPurpose: KeyEnvelope] = [:]
        for purpose in ServerKeyPurpose.allCases {
            do {
                envelopes[purpose] = try KeyEnvelope.seal(
                    keys.key(purpose), with: master, context: Self.context(purpose))
            } catch {
                throw .secret(error)
            }
        }
        self.envelopes = envelopes
    }

    /// Reads the content of a file.
    ///
    /// - Throws: ``ServerKeyError/malformed(line:)``.
    public init(content: [UInt8]) throws(ServerKeyError) {
        guard let text = String(validating: content, as: UTF8.self) else { throw .malformed(line: 1) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        guard lines.first.map(String.init) == Self.header else { throw .malformed(line: 1) }
        var envelopes: [ServerKeyPurpose: KeyEnvelope] = [:]
        for (index, line) in lines.enumerated().dropFirst() {
            let words = line.split(separator: " ")
            guard words.count == 2, let bytes = Data(base64Encoded: String(words[1])),
                let envelope = try? KeyEnvelope(bytes: Array(bytes))
            else { throw .malformed(line: index + 1) }
            // A key of a later build stays unknown to this one.
            if let purpose = ServerKeyPurpose(rawValue: String(words[0])) { envelopes[purpose] = envelope }
        }
        for purpose in ServerKeyPurpose.allCases where envelopes[purpose] == nil {
            throw .missing(purpose: purpose.rawValue)
        }
        self.envelopes = envelopes
    }

    /// Reads the file of a data folder.
    ///
    /// - Throws: ``ServerKeyError``; `notFound` if the folder has none.
    public init(folder: String) throws(ServerKeyError) {
        let content: [UInt8]?
        do {
            content = try CheckedFolder(folder).read(Self.name, limit: Self.sizeLimit)
        } catch {
            throw .unreadable(path: folder + "/" + Self.name, reason: "\(error)")
        }
        guard let content else { throw .notFound(path: folder + "/" + Self.name) }
        try self.init(content: content)
    }

    /// The content of the file, which contains no plain key.
    public var content: [UInt8] {
        var lines = [Self.header]
        for purpose in ServerKeyPurpose.allCases {
            guard let envelope = envelopes[purpose] else { continue }
            lines.append("\(purpose.rawValue) \(Data(envelope.bytes).base64EncodedString())")
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// Writes the file of a data folder atomically.
    ///
    /// - Throws: ``ServerKeyError/unreadable(path:reason:)``.
    public func write(folder: String) throws(ServerKeyError) {
        do {
            try CheckedFolder(folder).replace(Self.name, with: content)
        } catch {
            throw .unreadable(path: folder + "/" + Self.name, reason: "\(error)")
        }
    }

    /// Unwraps the keys.
    ///
    /// - Throws: ``ServerKeyError/secret(_:)`` with another master key.
    public func keys(master: KeySource) throws(ServerKeyError) -> ServerKeys {
        var keys: [ServerKeyPurpose: EncryptionKey] = [:]
        for (purpose, envelope) in envelopes {
            do {
                keys[purpose] = try envelope.open(with: master, context: Self.context(purpose))
            } catch {
                throw .secret(error)
            }
        }
        return ServerKeys(keys)
    }

    private static func context(_ purpose: ServerKeyPurpose) -> [UInt8] {
        Array("outpost server key \(purpose.rawValue)".utf8)
    }
}

/// An error of the file with the keys of a server. No case contains a part of a key.
public enum ServerKeyError: Error, Hashable, Sendable {
    /// The folder has no such file.
    case notFound(path: String)
    /// The file cannot be read or written.
    case unreadable(path: String, reason: String)
    /// A line cannot be read.
    case malformed(line: Int)
    /// A key is not there.
    case missing(purpose: String)
    /// The master key cannot be used, or it is another one.
    case secret(SecretError)
}

extension ServerKeyError: CustomStringConvertible {
    /// A description of the problem.
    public var description: String {
        switch self {
        case .notFound(let path): "There is no file \(path)."
        case .unreadable(let path, let reason): "\(path) cannot be used: \(reason)"
        case .malformed(let line): "Line \(line) of the file with the keys cannot be read."
        case .missing(let purpose): "The file with the keys has no key '\(purpose)'."
        case .secret(let error): "The master key does not open the keys of the server: \(error)"
        }
    }
}

extension ServerKeyError: CodedError {
    /// The code `state.keys`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "state.keys") }
    /// The kind of remedy: another key, or a repair.
    public var failureKind: FailureKind {
        switch self {
        case .secret: .credentials
        case .notFound: .missing
        case .unreadable: .device
        case .malformed, .missing: .damaged
        }
    }
}
