import ODataModel
import ODataQuery
import ODataService

/// The streams that a query requests for its entities: those that are listed, and those whose bytes are
/// included (`$expand=Photo`, `$expand=$value`; OData Protocol 4.01, 11.2.5.2; JSON Format 4.01, 9 and 10).
struct StreamSelection {
    /// The name of the bytes of a media entity.
    static let media = "$value"

    /// The stream properties in `$select`; `nil` for all.
    private var selected: Set<String>?
    /// The stream properties whose bytes are included; ``media`` stands for the stream of a media entity.
    private(set) var inline: Set<String> = []
    /// The selections of related entities, by navigation property.
    private(set) var related: [String: StreamSelection] = [:]

    /// Creates a selection that lists all streams and includes no bytes.
    init() {}

    /// Moves the stream options out of a query, because its SQL statement does not handle them.
    ///
    /// - Throws: 501 for a stream within a complex value.
    init(taking query: inout BoundQuery) throws {
        for steps in query.expandedStreams {
            switch steps.last {
            case nil: inline.insert(Self.media)
            case .property(let property, _, _) where steps.count == 1: inline.insert(property.name)
            default: throw ODataError.notImplemented("$expand of a stream within a complex value")
            }
        }
        query.expandedStreams = []
        if case .some(let ordinals, _) = query.projection, query.apply.isEmpty {
            let properties = query.resultShape.properties
            selected = Set(ordinals.filter(properties.indices.contains).map { properties[$0].name }).union(inline)
        }
        for index in query.expand.indices where query.expand[index].form == .entities {
            related[query.expand[index].navigation.name] = try StreamSelection(taking: &query.expand[index].query)
        }
    }

    /// Whether the bytes of any stream are included.
    var isInline: Bool { !inline.isEmpty || related.values.contains(where: \.isInline) }

    /// Returns whether a stream property is listed.
    func includes(_ property: String) -> Bool { selected?.contains(property) ?? true }
}

extension StreamStore {
    /// Returns a stream as a JSON value: text as a string, JSON as JSON, other types as bytes (OData JSON
    /// Format 4.01, 9).
    static func value(of bytes: [UInt8], contentType: String, in model: EntityDataModel) -> ODataValue {
        let type = contentType.prefix { $0 != ";" }.lowercased()
        if type.hasPrefix("text/"), let text = String(validating: bytes, as: UTF8.self) { return .string(text) }
        if type == "application/json" || type.hasSuffix("+json"),
            let value = try? ODataValue(json: bytes, type: .untyped("Edm.Untyped"), model: model)
        {
            return value
        }
        return .binary(bytes)
    }
}
