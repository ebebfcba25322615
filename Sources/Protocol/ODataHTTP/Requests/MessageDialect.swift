import HTTPTypes
import ODataModel
import ODataService

/// The notation of messages to one service: the OData version, the format of entities, and the names of methods
/// (OData Protocol 4.01, 5; MS-ODATA, 2.2.5).
///
/// ```swift
/// var dialect = MessageDialect(version: model.version)
/// dialect.updateMethod = .merge
/// let encoder = RequestEncoder(serviceRoot: root, model: model, dialect: dialect)
/// ```
public struct MessageDialect: Hashable, Sendable {
    /// The formats of entities.
    public enum EntityFormat: Hashable, Sendable {
        /// JSON: the format of V4, or the verbose format of V1 to V3.
        case json
        /// Atom, only for services of V1 to V3, since V4 does not require it.
        case atom
    }

    /// The HTTP method of partial updates.
    public enum UpdateMethod: Hashable, Sendable {
        /// PATCH for services from V3 on, MERGE for older ones, which do not support PATCH.
        case automatic
        /// PATCH (RFC 5789).
        case patch
        /// MERGE (MS-ODATA, 2.2.4.1).
        case merge

        func name(in version: ODataVersion) -> String {
            switch self {
            case .automatic: version < .v3 ? "MERGE" : "PATCH"
            case .patch: "PATCH"
            case .merge: "MERGE"
            }
        }
    }

    /// The OData version of the service, as in its metadata.
    public var version: ODataVersion
    /// The format of entities in requests and responses.
    public var entityFormat: EntityFormat
    /// The format of batch requests, in V4.
    public var batchFormat: BatchFormat
    /// The HTTP method of partial updates.
    public var updateMethod: UpdateMethod
    /// Whether every change is sent as a POST with the method in `X-HTTP-Method`, for intermediaries that allow
    /// only GET and POST (MS-ODATA, 2.2.5.8).
    public var tunnelsMethods: Bool
    /// Whether 64-bit integers and decimals are requested as strings, so that intermediaries cannot round them
    /// (OData JSON Format 4.01, 3.2). The decoder accepts both forms.
    public var isIEEE754Compatible: Bool

    /// Creates a dialect.
    public init(
        version: ODataVersion = .v401, entityFormat: EntityFormat = .json, batchFormat: BatchFormat = .multipart,
        updateMethod: UpdateMethod = .automatic, tunnelsMethods: Bool = false, isIEEE754Compatible: Bool = false
    ) {
        self.version = version
        self.entityFormat = entityFormat
        self.batchFormat = batchFormat
        self.updateMethod = updateMethod
        self.tunnelsMethods = tunnelsMethods
        self.isIEEE754Compatible = isIEEE754Compatible
    }

    /// Returns the method of a message, and the value of `X-HTTP-Method` if the method is tunnelled.
    func method(_ name: String) -> (HTTPRequest.Method, override: String?) {
        guard tunnelsMethods, name != "GET", name != "POST" else {
            return (HTTPRequest.Method(rawValue: name) ?? .get, nil)
        }
        return (.post, name)
    }

    /// Returns the name of a request's method.
    func methodName(_ method: ODataRequest.Method) -> String {
        method == .update ? updateMethod.name(in: version) : method.rawValue
    }
}
