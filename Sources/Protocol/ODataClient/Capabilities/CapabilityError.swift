import ErrorCodes
import ODataModel

/// The treatment of requests that the service cannot answer according to its metadata.
///
/// ```swift
/// var configuration = ODataClient.Configuration()
/// configuration.capabilities = .check  // requests that the metadata rule out are refused before they are sent
/// ```
public enum CapabilityPolicy: Hashable, Sendable {
    /// Sends all requests unchanged.
    case ignore
    /// Rewrites a request if an equivalent form is supported; otherwise refuses it before it is sent.
    case check
}

/// A request that the service does not support according to its metadata. It was not sent.
public struct CapabilityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The unsupported feature, such as `$filter` or `insert`.
    public var feature: String
    /// The entity set, or `nil` for the whole service.
    public var set: String?
    /// The property that is not supported.
    public var property: String?
    /// The annotation that states the restriction.
    public var term: String

    /// Creates an error about an unsupported feature.
    public init(feature: String, set: String? = nil, property: String? = nil, term: String) {
        self.feature = feature
        self.set = set
        self.property = property
        self.term = term
    }

    /// A sentence that names the feature and the annotation.
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
