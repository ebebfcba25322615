import ODataModel

/// A column with the value of a property.
///
/// This type contains only the data needed for each row. The names, types and codecs of ``ResultPlan/Slot`` would
/// cost a reference count each, for every row.
struct DirectColumn: Sendable {
    /// The conversions of a value with the expected storage class.
    enum Kind: Sendable {
        case integer, enumeration, boolean, double, single, string
        case date, timeOfDay, instant, guid
        /// An integer with the given number of digits after the decimal point.
        case scaledDecimal(Int32)
        case decimalBytes
        /// A value that is decoded according to its slot.
        case other
    }

    /// The column of the statement.
    var column: Int32
    /// The ordinal of the property.
    var ordinal: Int32
    /// The position of the field in the plan.
    var field: Int32
    var kind: Kind

    /// Returns the fields of a plan as columns, in the order of the shape's properties.
    ///
    /// - Returns: `nil` if rows differ in their type or properties, or if a field is not a plain value of the
    ///   shape.
    static func columns(of plan: ResultPlan) -> [DirectColumn]? {
        guard plan.discriminator == nil, plan.variant == nil, plan.dynamic == nil else { return nil }
        var columns: [DirectColumn] = []
        columns.reserveCapacity(plan.fields.count)
        for (position, field) in plan.fields.enumerated() {
            guard case .value(let name, let ordinal?, let slot) = field, !slot.isDynamic,
                plan.shape.properties.indices.contains(ordinal), plan.shape.properties[ordinal].name == name
            else { return nil }
            columns.append(
                DirectColumn(
                    column: Int32(slot.index), ordinal: Int32(ordinal), field: Int32(position), kind: kind(slot.storage)
                ))
        }
        columns.sort { $0.ordinal < $1.ordinal }
        // A property that occurs twice has no unique position.
        guard zip(columns, columns.dropFirst()).allSatisfy({ $0.ordinal < $1.ordinal }) else { return nil }
        return columns
    }

    private static func kind(_ storage: ColumnStorage) -> Kind {
        switch storage.codec {
        case .integer:
            if case .enumeration = storage.type { .enumeration } else { .integer }
        case .boolean: .boolean
        case .double: .double
        case .single: .single
        case .string: .string
        case .date: .date
        case .timeOfDay: .timeOfDay
        case .dateTimeOffset: .instant
        case .guid: .guid
        case .scaledDecimal(let scale): Int32(exactly: scale).map { Kind.scaledDecimal($0) } ?? .other
        case .decimalBytes: .decimalBytes
        default: .other
        }
    }
}
