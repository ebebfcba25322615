import HTTPTypes
import ODataModel
import ODataService

/// How the messages to one service are written: which version of OData it speaks, in which format entities go to
/// and fro, and how methods are named (OData Protocol 4.01, 5; MS-ODATA, 2.2.5).
///
/// ```swift
/// var dialect = MessageDialect(version: model.version)
/// dialect.updateMethod = .merge
/// let encoder = RequestEncoder(serviceRoot: root, model: model, dialect: dialect)
/// ```
public struct MessageDialect: Hashable, Sendable {
    /// The formats that entities can be asked for and sent in.
    public enum EntityFormat: Hashable, Sendable {
        /// JSON: the light one of V4, the verbose one of V1 to V3.
        case json
        /// Atom; services of V1 to V3 only, as those of V4 need not have it.
        case atom
    }

    /// What a change of some properties is called on the wire.
    public enum UpdateMethod: Hashable, Sendable {
        /// PATCH for services of V3 and later, MERGE for older ones, which do not know PATCH.
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

    /// The version that the service speaks: what its metadata says.
    public var version: ODataVersion
    /// What entities are asked for and sent in.
    public var entityFormat: EntityFormat
    /// How the requests of a batch are written, in V4.
    public var batchFormat: BatchFormat
    /// What a change of some properties is called.
    public var updateMethod: UpdateMethod
    /// Whether a POST stands for every change, with the method in `X-HTTP-Method`: for what lies between and lets
    /// nothing but GET and POST through (MS-ODATA, 2.2.5.8).
    public var tunnelsMethods: Bool
    /// Whether 64-bit integers and decimals are asked for as strings, so that what stands between cannot round them
    /// (OData JSON Format 4.01, 3.2). The reader of this package takes both forms.
    public var isIEEE754Compatible: Bool

    /// Makes a dialect.
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

    /// The method of a message, and the field that names it where a POST stands for it.
    func method(_ name: String) -> (HTTPRequest.Method, override: String?) {
        guard tunnelsMethods, name != "GET", name != "POST" else {
            return (HTTPRequest.Method(rawValue: name) ?? .get, nil)
        }
        return (.post, name)
    }

    /// The method of a request by name.
    func methodName(_ method: ODataRequest.Method) -> String {
        method == .update ? updateMethod.name(in: version) : method.rawValue
    }
}
