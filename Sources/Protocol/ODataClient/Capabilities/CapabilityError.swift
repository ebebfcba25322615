import ErrorCodes
import ODataModel

/// What a client does about requests that the metadata says the service cannot answer.
public enum CapabilityPolicy: Hashable, Sendable {
    /// Sends them all the same.
    case ignore
    /// Says them otherwise where that means the same, and refuses the others before anything is sent.
    case check
}

/// A request that the service's metadata says it cannot answer. Nothing was sent.
public struct CapabilityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What cannot be done, such as `$filter` or `insert`.
    public var feature: String
    /// The entity set, or `nil` for the service as a whole.
    public var set: String?
    /// The property at fault.
    public var property: String?
    /// The annotation that says so.
    public var term: String

    /// Makes an error.
    public init(feature: String, set: String? = nil, property: String? = nil, term: String) {
        self.feature = feature
        self.set = set
        self.property = property
        self.term = term
    }

    /// What cannot be done and who says so.
    public var description: String {
        let place = set.map { " of \($0)" } ?? ""
        let detail = property.map { " with \($0)" } ?? ""
        return "The service does not support \(feature)\(detail)\(place), as its metadata says (\(term))."
    }
}

extension CapabilityError: CodedError {
    /// `request.unsupported-by-service`.
    public var errorCode: ErrorCode { .unsupportedByService }
    /// What cannot be done, with what.
    public var errorArguments: [String: String] {
        ["feature": feature, "set": set ?? "", "property": property ?? "", "term": term]
    }
    /// Not supported.
    public var failureKind: FailureKind { .unsupported }
}
