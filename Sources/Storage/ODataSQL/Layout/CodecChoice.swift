import ODataModel

/// The choice of the codec for a property in the offline layout.
enum CodecChoice {
    /// Returns the codec for a primitive, enumeration or collection type; `nil` if the layout cannot store the
    /// type.
    ///
    /// A decimal is a scaled integer only if the metadata declare its precision and scale, and both are small
    /// enough. Without a declaration, values may exceed any assumed limit.
    static func codec(for property: Property) -> ColumnCodec? {
        switch property.type {
        case .collection, .complex, .untyped: .json
        case .enumeration: .integer
        case .entity: nil
        case .primitive(let type), .typeDefinition(_, let type): codec(for: type, facets: property.facets)
        }
    }

    private static func codec(for type: PrimitiveType, facets: Facets) -> ColumnCodec? {
        switch type {
        case .byte, .sbyte, .int16, .int32, .int64: .integer
        case .boolean: .boolean
        case .double: .double
        case .single: .single
        case .string: .string
        case .binary: .binary
        case .guid: .guid
        case .date: .date
        case .timeOfDay: .timeOfDay
        case .dateTime: .dateTime
        case .dateTimeOffset: .dateTimeOffset
        case .duration, .time: .duration
        case .decimal: decimal(facets)
        case .stream: nil
        default: .json
        }
    }

    private static func decimal(_ facets: Facets) -> ColumnCodec {
        guard let precision = facets.precision, case .fixed(let scale) = facets.scale,
            (1...18).contains(precision), (0...precision).contains(scale)
        else { return .decimalBytes }
        return .scaledDecimal(scale: scale)
    }

    /// Returns the declared type of a column in a STRICT table.
    static func declaredType(_ codec: ColumnCodec) -> String {
        switch codec {
        case .integer, .boolean, .date, .timeOfDay, .scaledDecimal, .unixTime: "INTEGER"
        // NaN is stored as a BLOB, which a STRICT table accepts only in columns of type ANY.
        case .double, .single, .numericDecimal, .anyText: "ANY"
        case .string, .json, .dateText, .timeText, .dateTimeText, .guidText: "TEXT"
        case .binary, .guid, .dateTime, .dateTimeOffset, .duration, .decimalBytes: "BLOB"
        }
    }
}
