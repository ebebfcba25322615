import ErrorCodes

/// The reason why a device proof does not prove anything.
public enum DeviceProofError: Error, Hashable, Sendable {
    /// The text is no proof.
    case malformed(String)
    /// The signature does not belong to the key in the proof.
    case signature
    /// The proof is for another method.
    case method
    /// The proof is for another URL.
    case url
    /// The proof is for other credentials, or for none.
    case credentials
    /// The proof has no nonce of this server, or an old one. The device repeats the request with a new nonce.
    case nonce
    /// The proof is older than ``ProofCheck/lifetime``, or was made in the future.
    case time
    /// The key is not that of the registration.
    case otherKey
    /// The proof was used before.
    case used
}

extension DeviceProofError: CustomStringConvertible {
    /// The reason and the remedy.
    public var description: String {
        switch self {
        case .malformed(let reason): "The device proof cannot be read: \(reason)."
        case .signature: "The signature of the device proof is invalid."
        case .method: "The device proof is for another method."
        case .url: "The device proof is for another URL."
        case .credentials: "The device proof is for other credentials."
        case .nonce: "The device proof needs the nonce in the field DPoP-Nonce."
        case .time: "The device proof is too old, or the clock of the device is wrong. Use the new nonce."
        case .otherKey: "The device proof is signed with another key than that of the registration."
        case .used: "The device proof was used before."
        }
    }
}

extension DeviceProofError: CodedError {
    /// The code `device-proof.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .malformed: "malformed"
            case .signature: "signature"
            case .method, .url, .credentials: "other-request"
            case .nonce, .time: "nonce"
            case .otherKey: "other-key"
            case .used: "used"
            }
        return ErrorCode(rawValue: "device-proof.\(name)")
    }

    /// Always `FailureKind.credentials`.
    public var failureKind: FailureKind { .credentials }
}
