import ODataModel

/// The formats of OData bodies, each with its version.
public enum PayloadFormat: Hashable, Sendable {
    /// The JSON of V4 and the light JSON of V3.
    case json(ODataVersion, metadata: MetadataLevel = .minimal, isIEEE754Compatible: Bool = false)
    /// The verbose JSON of V1 to V3.
    case verboseJSON(ODataVersion)
    /// Atom, AtomPub and related XML documents.
    case atom(ODataVersion)

    /// Creates the format of a body from its media type and protocol version.
    ///
    /// - Parameters:
    ///   - contentType: the `Content-Type` header.
    ///   - version: the version in `OData-Version` or `DataServiceVersion`, or else the version of the service's
    ///     model. In V1
    ///     and V2, `application/json` without parameters is verbose JSON.
    /// - Returns: `nil` if the media type is not a format of OData.
    public init?(contentType: String, version: ODataVersion) {
        let parts = contentType.split(separator: ";").map { String($0).trimmingXMLSpace().lowercased() }
        guard let type = parts.first else { return nil }
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { String($0).trimmingXMLSpace() }
            guard pair.count == 2 else { continue }
            parameters[pair[0]] = pair[1].filter { $0 != "\"" }
        }
        switch type {
        case "application/json", "text/json":
            let metadata = parameters["odata.metadata"] ?? parameters["metadata"] ?? parameters["odata"] ?? ""
            if metadata == "verbose" || (version < .v3 && !metadata.hasSuffix("metadata")) {
                self = .verboseJSON(min(version, .v3))
                return
            }
            let level: MetadataLevel =
                metadata.hasPrefix("full") ? .full : metadata.hasPrefix("no") ? .none : .minimal
            let isCompatible = parameters["ieee754compatible"] == "true"
            self = .json(max(version, .v3), metadata: level, isIEEE754Compatible: isCompatible)
        case "application/atom+xml", "application/atomsvc+xml", "application/xml", "text/xml",
            "application/opensearchdescription+xml":
            self = .atom(version)
        default: return nil
        }
    }

    /// The protocol version.
    public var version: ODataVersion {
        switch self {
        case .json(let version, _, _), .verboseJSON(let version), .atom(let version): version
        }
    }

    /// The kinds of body that media types distinguish.
    public enum Content: Hashable, Sendable {
        /// An entity.
        case entry
        /// A collection of entities.
        case feed
        /// A service document.
        case serviceDocument
        /// Any other body, such as values, references and errors.
        case other
    }

    /// Returns the media type of a body in this format.
    public func contentType(_ content: Content = .other) -> String {
        switch (self, content) {
        case (.json(let version, let metadata, let isCompatible), _):
            let compatible = isCompatible && version >= .v4 ? ";IEEE754Compatible=true" : ""
            return switch version {
            case .v401: "application/json;metadata=\(metadata.rawValue)\(compatible)"
            case .v4: "application/json;odata.metadata=\(metadata.rawValue)\(compatible)"
            default: "application/json;odata=\(metadata == .none ? "no" : metadata.rawValue)metadata"
            }
        case (.verboseJSON(let version), _):
            return version < .v3 ? "application/json" : "application/json;odata=verbose"
        case (.atom, .entry): return "application/atom+xml;type=entry"
        case (.atom, .feed): return "application/atom+xml;type=feed"
        case (.atom, .serviceDocument): return "application/atomsvc+xml"
        case (.atom, .other): return "application/xml"
        }
    }
}
