import ErrorCodes
import Foundation
import Secrets
import ServerState

/// Reads the values that secret references name.
public struct SecretResolver: Sendable {
    private let state: (any ServerState)?
    private let folder: String
    private let environment: [String: String]

    /// The maximum size of a secret in a file, in bytes.
    public static let maximumByteCount = 65_536

    /// Creates a resolver.
    ///
    /// - Parameters:
    ///   - state: The state with the set `Secrets`; `nil` before it is open.
    ///   - folder: The folder of relative paths.
    ///   - environment: The environment variables.
    public init(
        state: (any ServerState)?, folder: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.state = state
        self.folder = folder
        self.environment = environment
    }

    /// Returns the value of a reference without a final line end.
    ///
    /// - Throws: ``SecretResolverError``.
    public func value(of reference: SecretReference) async throws(SecretResolverError) -> Secret<String> {
        switch reference {
        case .file(let path):
            let whole = path.hasPrefix("/") ? path : folder + "/" + path
            do {
                let bytes = try SecretFile.read(whole, limit: Self.maximumByteCount)
                return try Self.text(bytes, reference)
            } catch let error as SecretError {
                throw .unreadable(reference: reference.description, reason: "\(error)")
            } catch {
                throw .notText(reference: reference.description)
            }
        case .environment(let name):
            guard let value = environment[name], !value.isEmpty else {
                throw .missing(reference: reference.description)
            }
            return Secret(value)
        case .stored(let name):
            let value: Secret<[UInt8]>?
            do {
                value = try await state?.operators.secret(name)
            } catch {
                throw .unreadable(reference: reference.description, reason: "\(error)")
            }
            guard let value else { throw .missing(reference: reference.description) }
            return try Self.text(value.reveal(), reference)
        }
    }

    private static func text(
        _ bytes: [UInt8], _ reference: SecretReference
    ) throws(SecretResolverError) -> Secret<String> {
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw .notText(reference: reference.description)
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        guard !text.isEmpty else { throw .missing(reference: reference.description) }
        return Secret(text)
    }
}

/// The reason why a secret reference has no value. No case contains a secret.
public enum SecretResolverError: Error, Hashable, Sendable {
    /// The variable or the stored secret does not exist, or is empty.
    case missing(reference: String)
    /// The file or the state cannot be read.
    case unreadable(reference: String, reason: String)
    /// The value is no text.
    case notText(reference: String)
}

extension SecretResolverError: CustomStringConvertible {
    /// A description of the problem.
    public var description: String {
        switch self {
        case .missing(let reference): "The secret \(reference) has no value."
        case .unreadable(let reference, let reason): "The secret \(reference) cannot be read: \(reason)"
        case .notText(let reference): "The secret \(reference) is no text."
        }
    }
}

extension SecretResolverError: CodedError {
    /// The code `secret.reference`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "secret.reference") }
    /// Always `FailureKind.request`: the configuration must be changed.
    public var failureKind: FailureKind { .request }
}
